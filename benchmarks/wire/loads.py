"""Servers under load: sequential and concurrent requests."""

from __future__ import annotations

import selectors
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import chain, cycle, islice
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from measure import Figures, Row, interleave
from peers.by_hand import Array, rosenbrock
from servers import Connection, Server

CONNECTIONS = 16

#: Whole requests, usually one, whose replies together have a value and its gradient.
Question: TypeAlias = Sequence[bytes]


class Form(NamedTuple):
    """Writes the requests for a point, and reads value and gradient from the replies."""

    write: Callable[[Array], Question]
    read: Callable[[Sequence[bytes]], tuple[Any, Any]]


class Load:
    """A server with requests, and the figures of each round.

    A round sends ``count`` requests in sequence, then ``at_once`` on several connections.
    """

    def __init__(
        self, server: Server, questions: Iterator[Question], count: int, at_once: int = 0
    ) -> None:
        self._server = server
        self._questions = questions
        self._count = count
        self._at_once = at_once
        self.cpu_us: Figures = []
        self.p50_us: Figures = []
        self.per_second: Figures = []

    def round(self, _: int = 0) -> float:
        """Send the requests; returns the median latency in microseconds."""
        self._ask_one_by_one()
        if self._at_once:
            self._ask_at_once()
        return self.p50_us[-1]

    def _ask_one_by_one(self) -> None:
        latencies: Figures = []
        with closing(Connection(self._server.port)) as connection:
            self._exchange(connection, next(self._questions))
            before = self._server.cpu_seconds()
            for question in islice(self._questions, self._count):
                start = perf_counter()
                self._exchange(connection, question)
                latencies.append(perf_counter() - start)
        self.cpu_us.append(1e6 * (self._server.cpu_seconds() - before) / self._count)
        self.p50_us.append(1e6 * median(latencies))

    @staticmethod
    def _exchange(connection: Connection, question: Question) -> None:
        for request in question:
            connection.exchange(request)

    def _ask_at_once(self) -> None:
        requests = chain.from_iterable(islice(self._questions, self._at_once))
        seconds, _ = at_once(self._server, requests, CONNECTIONS)
        self.per_second.append(self._at_once / seconds)


def at_once(
    server: Server, requests: Iterator[bytes], connections: int
) -> tuple[float, list[float]]:
    """Keep one request running on each connection; returns the total time and all latencies."""
    began: dict[Connection, float] = {}
    latencies: list[float] = []
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        start = perf_counter()
        for request in islice(requests, connections):
            connection = stack.enter_context(closing(Connection(server.port)))
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            began[connection] = perf_counter()
            connection.send(request)
        while selector.get_map():
            ready = selector.select(timeout=60)
            if not ready:
                raise TimeoutError("the server does not answer")
            for key, _ in ready:
                connection = key.data
                if connection.receive_some() is None:
                    continue
                latencies.append(perf_counter() - began[connection])
                further = next(requests, None)
                if further is None:
                    selector.unregister(key.fileobj)
                else:
                    began[connection] = perf_counter()
                    connection.send(further)
        return perf_counter() - start, latencies


def load(
    server: Server,
    form: Form,
    points: Sequence[Array],
    count: int,
    at_once: int = 0,
    *,
    by_hand: Callable[[Array], tuple[Any, Any]] = rosenbrock,
) -> Load:
    """A load with requests for these points in turn, after checking each result."""
    for point in points:
        check(form, ask(server, form.write(point)), by_hand(point))
    return Load(server, cycle([form.write(point) for point in points]), count, at_once)


def ask(server: Server, question: Question) -> list[bytes]:
    """The bodies of the replies for one point."""
    with closing(Connection(server.port)) as connection:
        return [bytes(connection.exchange(request)) for request in question]


def check(form: Form, bodies: Sequence[bytes], expected: tuple[Any, Any]) -> None:
    """Check that replies have the value and the gradient computed by hand."""
    for found, by_hand in zip(form.read(bodies), expected, strict=True):
        scale = float(np.abs(by_hand).max())
        np.testing.assert_allclose(found, by_hand, rtol=0, atol=1e-9 * scale)


def alternate(rounds: int, *loads: Load) -> None:
    """Run rounds of all loads in turn."""
    interleave(rounds, *[load.round for load in loads])


def rows(what: str, ours: Load, theirs: Load, bar: float | None = None) -> list[Row]:
    """The rows for latency and CPU time per request."""
    return [
        Row.of(f"{what}: median latency", ours.p50_us, theirs.p50_us, "us", ratio_bar=bar),
        Row.of(f"{what}: CPU of the server", ours.cpu_us, theirs.cpu_us, "us", ratio_bar=bar),
    ]
