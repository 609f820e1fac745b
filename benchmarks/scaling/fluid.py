"""The fluid approximation of a fleet: flows, Che's caches and single queues, for any rate.

It replaces the requests of a fleet by their rates. Each cache is Che's, each event loop an M/G/1
queue, the cores of each replica an M/G/c queue beneath it. Bounded homes spread a popular program
over replicas until all are equally busy, so what counts is the mean replica; strict homes leave its
requests to one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scaling.fleet import Fleet
from scaling.popularity import Popularity
from scaling.ring import Ring, hashes_of
from scaling.theory import che_seconds, erlang_c, mg1_wait_quantile
from scaling.times import STAGES, Stage

Floats = NDArray[np.float64]
#: Programs whose homes are looked up; those of all others are spread evenly over the ring.
_POPULAR = 1_000


@dataclass(frozen=True)
class Flow:
    """The requests of a fleet, as rates."""

    fleet: Fleet
    popularity: Popularity
    rate: float

    @cached_property
    def kept_chances(self) -> Floats:
        """The probability, for each class of programs, that its cache has the program."""
        popularity, replicas = self.popularity, self.fleet.replicas
        rates, counts = popularity.chances * self.rate, popularity.counts
        if self.fleet.routing == "random":
            rates = rates / replicas
        else:  # a program is on one replica, which has its share of the programs
            counts = counts / replicas
        size, each = self.fleet.cache_bytes, self.fleet.kept_bytes
        kept = -np.expm1(-rates * che_seconds(rates, counts, size, each))
        found: Floats = np.where(np.isnan(kept), 1.0, kept)
        return found

    @property
    def hit_rate(self) -> float:
        """The share of the requests whose program had run on the replica twice before."""
        return float(self.stage_chances[-1])

    @cached_property
    def stage_chances(self) -> Floats:
        """The share of the requests at each stage: a second one is kept, and was not before."""
        kept = self.kept_chances
        by_stage = np.array([1 - kept, kept * (1 - kept), kept * kept])
        shares: Floats = by_stage @ (self.popularity.chances * self.popularity.counts)
        return shares

    def moments(self, times: Mapping[str, Floats]) -> tuple[float, float]:
        """Mean and second moment of a request's time, from what was measured at each stage."""
        first, second = (
            sum(
                float(share * (times[name] ** power).mean())
                for name, share in zip(STAGES, self.stage_chances, strict=True)
            )
            for power in (1, 2)
        )
        return first, second

    @property
    def peak(self) -> float:
        """The requests of the busiest replica, as a multiple of the mean."""
        if self.fleet.routing != "homes":
            return 1.0
        popularity, count = self.popularity, self.fleet.replicas
        ring = Ring([f"10.0.{n >> 8}.{n & 255}:8000" for n in range(count)])
        ranks = np.arange(1, min(_POPULAR, int(popularity.size)) + 1)
        chances = popularity.chances[: len(ranks)]
        own = np.bincount(ring.homes(hashes_of(ranks)), chances, count)
        return float((own + (1 - chances.sum()) * ring.shares(count)).max() * count)

    def latency_quantile(self, quantile: float) -> float:
        """The latency that this share of the busiest replica's requests does not exceed, nearly.

        The sum of the quantiles of the two waits and of the work itself, so rather too long.
        """
        stages, cores = self.fleet.stages, self.fleet.cores
        rate = self.rate / self.fleet.replicas * self.peak
        front, front_square = self.moments({name: stages[name].front for name in STAGES})
        workers, workers_square = self.moments({name: stages[name].workers for name in STAGES})
        load = rate * (front + workers)
        if load >= cores or rate * front >= 1:
            return math.inf
        waits = mg1_wait_quantile(quantile, rate, front, front_square)
        if workers > 0:  # an M/M/c queue's tail, by the variance of the work (Allen and Cunneen)
            waiting, shape = erlang_c(cores, load), 0.5 * workers_square / workers**2
            mean = shape * workers / ((cores - load) * (1 - rate * front / cores))
            waits += max(mean * math.log(max(waiting / (1 - quantile), 1.0)), 0.0)
        return waits + self._work_quantile(stages, quantile)

    def _work_quantile(self, stages: Mapping[str, Stage], quantile: float) -> float:
        times = [stages[name].front + stages[name].workers for name in STAGES]
        chances = [
            np.full(len(one), share / len(one))
            for one, share in zip(times, self.stage_chances, strict=True)
        ]
        every, weights = np.concatenate(times), np.concatenate(chances)
        order = np.argsort(every)
        return float(every[order][np.searchsorted(np.cumsum(weights[order]), quantile)])


def replicas_needed(flow: Flow, seconds: float, quantile: float = 0.99) -> Flow:
    """The smallest fleet whose requests take at most ``seconds``, but for a share of them."""

    def enough(count: int) -> bool:
        return sized(flow, count).latency_quantile(quantile) <= seconds

    most = 1
    while not enough(most):
        most *= 2
        if most > 1 << 16:
            return sized(flow, 0)
    least = most // 2
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return sized(flow, most)


def sized(flow: Flow, replicas: int) -> Flow:
    """The same requests to so many replicas."""
    return replace(flow, fleet=replace(flow.fleet, replicas=replicas))
