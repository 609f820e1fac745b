"""Gradients over HTTP: Gradwire beside a bare endpoint that has the one gradient by hand."""

from __future__ import annotations

import selectors
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from statistics import median
from time import perf_counter

import numpy as np
import orjson
from measure import Figures, Row, compared
from peers.workloads import ROSENBROCK
from servers import BARE, GRADWIRE, Connection, Server, request_for, running

_CONNECTIONS = 16


class Load:
    """One server under a load, and what each round of it found."""

    def __init__(self, server: Server, requests: Sequence[bytes]) -> None:
        self._server = server
        self._requests = requests
        self.cpu_us: Figures = []
        self.p50_us: Figures = []
        self.per_second: Figures = []

    def one_by_one(self, count: int) -> None:
        """Send requests in sequence; notes CPU time per request and the median latency."""
        connection = Connection(self._server.port)
        connection.exchange(self._requests[0])
        latencies: Figures = []
        before = self._server.cpu_seconds()
        for request in islice(cycle(self._requests), count):
            start = perf_counter()
            connection.exchange(request)
            latencies.append(perf_counter() - start)
        self.cpu_us.append(1e6 * (self._server.cpu_seconds() - before) / count)
        self.p50_us.append(1e6 * median(latencies))
        connection.close()

    def at_once(self, count: int) -> None:
        """Keep a request under way on each of several connections; notes how many a second."""
        requests = islice(cycle(self._requests), count)
        with selectors.DefaultSelector() as selector, ExitStack() as open_ones:
            start = perf_counter()
            for _ in range(_CONNECTIONS):
                connection = Connection(self._server.port)
                open_ones.callback(connection.close)
                selector.register(connection.socket, selectors.EVENT_READ, connection)
                connection.send(next(requests))
            self._keep_busy(selector, requests, count)
            self.per_second.append(count / (perf_counter() - start))

    @staticmethod
    def _keep_busy(selector: selectors.BaseSelector, requests: Iterator[bytes], count: int) -> None:
        answered = 0
        while answered < count:
            ready = selector.select(timeout=60)
            if not ready:
                raise TimeoutError("the server does not answer")
            for key, _ in ready:
                connection: Connection = key.data
                if connection.receive_some() is None:
                    continue
                answered += 1
                request = next(requests, None)
                if request is not None:
                    connection.send(request)


def report(*, quick: bool) -> list[str]:
    """CPU, latency and throughput for a small and a large request."""
    rounds = 6 if quick else 30
    with running(GRADWIRE) as gradwire, running(BARE) as bare:
        small = _loads(gradwire, bare, 10, distinct=64)
        _interleave(small, rounds, count=100, at_once=200 if quick else 400)
        large = _loads(gradwire, bare, 100_000, distinct=4)
        _interleave(large, rounds // 2, count=5, at_once=0)
    return [
        compared(
            "POST /v1/gradient of Rosenbrock's function, JSON lists, one worker, warm",
            "bare",
            [*_rows(10, small, 2.0), *_rows(100_000, large, 1.3)],
        )
    ]


def _loads(gradwire: Server, bare: Server, size: int, *, distinct: int) -> tuple[Load, Load]:
    """Both servers under the same requests, after they were seen to agree on each."""
    requests = [_request(size, seed) for seed in range(distinct)]
    connections = [Connection(server.port) for server in (gradwire, bare)]
    for request in requests:
        ours, theirs = [orjson.loads(c.exchange(request)) for c in connections]
        assert np.allclose(ours["value"], theirs["value"])
        assert np.allclose(ours["gradients"]["x"], theirs["gradients"]["x"])
    for connection in connections:
        connection.close()
    return Load(gradwire, requests), Load(bare, requests)


def _request(size: int, seed: int) -> bytes:
    x = np.random.default_rng(seed).normal(size=size)
    document = {"program": ROSENBROCK, "variables": {"x": x}}
    return request_for(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY))


def _interleave(loads: tuple[Load, Load], rounds: int, *, count: int, at_once: int) -> None:
    for number in range(rounds):
        for load in loads if number % 2 == 0 else reversed(loads):
            load.one_by_one(count)
        for load in loads if at_once and number % 2 == 0 else ():
            load.at_once(at_once)


def _rows(size: int, loads: tuple[Load, Load], bar: float) -> list[Row]:
    ours, theirs = loads
    name = f"{size:,} elements"
    rows = [
        Row.of(f"{name}: CPU of the server", ours.cpu_us, theirs.cpu_us, "us", ratio_bar=bar),
        Row.of(f"{name}: median latency", ours.p50_us, theirs.p50_us, "us"),
    ]
    if ours.per_second:
        what = f"{name}: {_CONNECTIONS} connections"
        rows.append(Row.of(what, ours.per_second, theirs.per_second, "req/s"))
    return rows
