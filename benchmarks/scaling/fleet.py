"""Replicas behind nginx under requests that arrive at random: the whole fleet, simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import simpy
from numpy.typing import NDArray

from scaling.popularity import Popularity
from scaling.replica import Cache, Costs, Replica, Steps
from scaling.ring import Ring, hashes_of
from scaling.times import STAGES, Stage

#: ``random``: any replica; ``homes``: the one that the program hashes to; ``bounded``: the first on
#: the ring from there with fewer than ``max_conns`` requests in progress, as nginx is configured;
#: ``balanced``: the first with fewer than twice the mean of all replicas, as HAProxy and Envoy can.
Routing: TypeAlias = Literal["random", "homes", "bounded", "balanced"]
#: What ``balanced`` allows a replica, as a multiple of the mean.
_BALANCE = 2.0


@dataclass(frozen=True)
class Fleet:
    """Replicas, what their caches hold, and how requests find them."""

    stages: Mapping[str, Stage]
    replicas: int
    #: Bytes of a replica's cache for executables, and those of a program there.
    cache_bytes: int
    kept_bytes: tuple[int, int]
    routing: Routing = "bounded"
    cores: int = 2
    max_conns: int = 8

    @property
    def capacity(self) -> int:
        """Executables that a replica's cache holds."""
        return self.cache_bytes // self.kept_bytes[1]


class Outcome(NamedTuple):
    """What became of the requests, in the order of their arrival."""

    arrivals: NDArray[np.float64]
    latencies: NDArray[np.float64]
    #: Whether the program had run on the replica twice before, and was still compiled.
    hits: NDArray[np.bool_]
    #: Share of the time that each replica's event loop is busy, and that its cores are.
    loops: NDArray[np.float64]
    cores: NDArray[np.float64]

    def quantile(self, share: float) -> float:
        """The latency that this share of the requests does not exceed."""
        return float(np.quantile(self.latencies, share))

    @property
    def hit_rate(self) -> float:
        return float(self.hits.mean())


class Simulation:
    """A fleet under requests for programs chosen by their popularity."""

    def __init__(self, fleet: Fleet, popularity: Popularity, rate: float, seed: int = 0) -> None:
        self._fleet = fleet
        self._popularity = popularity
        self._rate = rate
        self._random = np.random.default_rng(seed)
        self._env = simpy.Environment()
        self._in_progress = 0
        costs = Costs(fleet.stages, self._random)
        self.replicas = [
            Replica(self._env, fleet.cores, costs, Cache(fleet.cache_bytes, fleet.kept_bytes))
            for _ in range(fleet.replicas)
        ]
        self.keep(range(fleet.replicas))

    def keep(self, alive: range) -> None:
        """Only these replicas take requests from now on."""
        self._alive = list(alive)
        self._ring = Ring([f"10.0.{n >> 8}.{n & 255}:8000" for n in self._alive])

    def warm(self, requests: int) -> None:
        """Fill the caches, without taking time."""
        programs = self._popularity.draw(requests, self._random)
        if self._fleet.routing == "random":
            homes = self._random.integers(len(self._alive), size=requests)
        else:
            homes = self._ring.homes(hashes_of(programs))
        for program, home in zip(programs.tolist(), homes.tolist(), strict=True):
            self.replicas[self._alive[home]].cache.use(program)

    def run(self, seconds: float) -> Outcome:
        """Let requests arrive for so long, and answer them all."""
        env, rate = self._env, self._rate
        count = self._random.poisson(rate * seconds)
        arrivals = np.sort(self._random.random(count)) * seconds + env.now
        programs = self._popularity.draw(count, self._random)
        points = self._ring.first(hashes_of(programs))
        latencies, hits = np.empty(count), np.empty(count, np.bool_)
        before = self._spent()
        choose = self._chooser()

        def arrive() -> Steps:
            asked = zip(arrivals.tolist(), programs.tolist(), points.tolist(), strict=True)
            for number, (at, program, point) in enumerate(asked):
                if at > env.now:
                    yield env.timeout(at - env.now)
                env.process(answer(number, program, choose(point)))

        def answer(number: int, program: int, replica: Replica) -> Steps:
            start = env.now
            replica.in_progress += 1
            self._in_progress += 1
            stage = replica.cache.use(program)
            hits[number] = stage == len(STAGES) - 1
            yield from replica.serve(stage)
            replica.in_progress -= 1
            self._in_progress -= 1
            latencies[number] = env.now - start

        env.process(arrive())
        env.run()
        loops, cores = (self._spent() - before) / seconds
        return Outcome(arrivals, latencies, hits, loops, cores / self._fleet.cores)

    def _spent(self) -> NDArray[np.float64]:
        return np.array([(one.loop_seconds, one.busy_seconds) for one in self.replicas]).T

    def _chooser(self) -> Callable[[int], Replica]:
        """How a request that finds this point on the ring gets its replica."""
        replicas = [self.replicas[index] for index in self._alive]
        servers: list[int] = self._ring.servers.tolist()

        def at_random(_: int) -> Replica:
            return replicas[self._random.integers(len(replicas))]

        def at_home(point: int) -> Replica:
            return replicas[servers[point]]

        def below(most: float, point: int) -> Replica:
            home = replicas[servers[point]]
            if home.in_progress < most:
                return home
            for server in self._ring.walk(point):
                if replicas[server].in_progress < most:
                    return replicas[server]
            return min(replicas, key=attrgetter("in_progress"))

        def balanced(point: int) -> Replica:
            mean = (self._in_progress + 1) / len(replicas)
            return below(max(math.ceil(_BALANCE * mean), 2), point)

        bounded = partial(below, self._fleet.max_conns)
        choices: dict[Routing, Callable[[int], Replica]] = {
            "random": at_random,
            "homes": at_home,
            "bounded": bounded,
            "balanced": balanced,
        }
        return choices[self._fleet.routing]
