"""Two replicas behind nginx on this machine beside their simulation: ``python -m scaling.real``."""

from __future__ import annotations

import re
import selectors
import time
import urllib.request
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from servers import GRADWIRE, Connection, Server, running

from scaling.fleet import Simulation
from scaling.popularity import zipf
from scaling.scenarios import fleet, markdown, ms
from scaling.started import nginx
from scaling.times import load
from scaling.workloads import SMALL, WORKLOADS

#: Few bytes for the caches, so that programs are evicted within the minute.
_CACHE_BYTES = 8 << 20
_SETTINGS = {
    "GRADWIRE_CACHE_BYTES": f"{_CACHE_BYTES}",
    "GRADWIRE_CORES": "1",
    "GRADWIRE_PROCESSES": "3",
}
_SIZE, _EXPONENT, _RATE = 10_000, 1.0, 100.0
_FILLING, _COUNT = 2_000, 4_000
_QUANTILES = (0.1, 0.5, 0.9)
_OUTCOMES = re.compile(r'^gradwire_executable_cache_total{outcome="(\w+)"} (\S+)$', re.MULTILINE)


class Counts(NamedTuple):
    """What all replicas have counted, and their CPU time."""

    hits: float
    misses: float
    seconds: float

    @classmethod
    def of(cls, replicas: Sequence[Server]) -> Counts:
        """What they have counted so far."""
        outcomes = {"hit": 0.0, "miss": 0.0}
        for replica in replicas:
            with urllib.request.urlopen(f"http://127.0.0.1:{replica.port}/metrics") as answer:
                for outcome, count in _OUTCOMES.findall(answer.read().decode()):
                    outcomes[outcome] += float(count)
        seconds = sum(replica.cpu_seconds() for replica in replicas)
        return cls(outcomes["hit"], outcomes["miss"], seconds)


def arriving(port: int, requests: Iterator[bytes], arrivals: Sequence[float]) -> list[float]:
    """Send requests at these times, whatever became of those before; returns their latencies."""
    latencies: list[float] = []
    idle, began = list[Connection](), dict[Connection, float]()
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        start, due = time.perf_counter(), deque(arrivals)
        while due or began:
            while due and due[0] <= time.perf_counter() - start:
                if idle:
                    connection = idle.pop()
                else:
                    connection = stack.enter_context(closing(Connection(port)))
                    selector.register(connection.socket, selectors.EVENT_READ, connection)
                began[connection] = due.popleft()
                connection.send(next(requests))
            pause = max(due[0] - (time.perf_counter() - start), 0.0) if due else 1.0
            for key, _ in selector.select(pause):
                connection = key.data
                if connection not in began:  # nginx closes connections that are idle for long
                    selector.unregister(key.fileobj)
                    idle.remove(connection)
                elif connection.receive_some() is not None:
                    latencies.append(time.perf_counter() - start - began.pop(connection))
                    idle.append(connection)
    return latencies


def report() -> list[str]:
    """Share of hits, CPU time and latencies, measured and simulated."""
    random = np.random.default_rng(0)
    popularity, workload = zipf(_SIZE, _EXPONENT), WORKLOADS[SMALL]
    requests = map(workload.request, popularity.draw(_FILLING + _COUNT, random).tolist())
    with TemporaryDirectory() as folder, ExitStack() as stack:
        replicas = [stack.enter_context(running(GRADWIRE, environment=_SETTINGS)) for _ in range(2)]
        ports = [replica.port for replica in replicas]
        server, _ = stack.enter_context(nginx(Path(folder), ports))
        arriving(server.port, requests, arrivals(_FILLING, random))
        before = Counts.of(replicas)
        latencies = arriving(server.port, requests, arrivals(_COUNT, random))
        after = Counts.of(replicas)
    measured = Counts(*[b - a for a, b in zip(before, after, strict=True)])
    hits = measured.hits / (measured.hits + measured.misses)
    quantiles = [ms(float(np.quantile(latencies, q))) for q in _QUANTILES]
    cpu = f"{1e6 * measured.seconds / _COUNT:,.0f}"
    return [
        markdown(
            ["", "hits", "CPU of a request in µs", *[f"p{100 * q:.0f} in ms" for q in _QUANTILES]],
            [["measured", f"{hits:.3f}", cpu, *quantiles], ["simulated", *_simulated()]],
        )
    ]


def arrivals(count: int, random: np.random.Generator) -> list[float]:
    """Seconds at which so many requests arrive."""
    times: list[float] = np.cumsum(random.exponential(1 / _RATE, count)).tolist()
    return times


def _simulated() -> list[str]:
    times = load()
    workload = times.workloads[SMALL]
    one = replace(fleet(workload, 2, "bounded"), cache_bytes=_CACHE_BYTES // 2, cores=1)
    simulation = Simulation(one, zipf(_SIZE, _EXPONENT), _RATE)
    simulation.warm(_FILLING)
    outcome = simulation.run(_COUNT / _RATE)
    before = times.edge.nginx[f"{SMALL}, plain"]
    cpu = 1e6 * 2 * outcome.cores.mean() / _RATE
    quantiles = [ms(outcome.quantile(q) + before) for q in _QUANTILES]
    return [f"{outcome.hit_rate:.3f}", f"{cpu:,.0f}", *quantiles]


if __name__ == "__main__":
    print(*report(), sep="\n\n")
