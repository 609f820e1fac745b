"""Request times in microseconds, and whether two kinds of requests take equally long."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import httpx
import numpy as np


class Watch:
    """A tenant's connection to the service, which measures request times in microseconds.

    It blocks, since nothing else should run in this process meanwhile.
    """

    def __init__(self, client: httpx.AsyncClient) -> None:
        port = client.base_url.port
        assert port is not None
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._key = client.headers["authorization"]

    def seconds(
        self, status: int, path: str, document: Any = None, key: str | None = None
    ) -> float:
        """The time of a request, which must get the given response."""
        body = b"" if document is None else json.dumps(document).encode()
        head = [
            f"{'GET' if document is None else 'POST'} {path} HTTP/1.1",
            "host: service",
            f"authorization: {key or self._key}",
            "content-type: application/json",
            f"content-length: {len(body)}",
        ]
        sent = "\r\n".join([*head, "", ""]).encode() + body
        start = time.perf_counter()
        self._socket.sendall(sent)
        answer = self._socket.recv(1 << 16)
        taken = time.perf_counter() - start
        read, _, body = answer.partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", read)
        assert length is not None
        missing = int(length[1]) - len(body)
        while missing > 0:
            missing -= len(self._socket.recv(missing))
        assert int(answer.split(b" ")[1]) == status, answer
        return taken

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


class Compared(NamedTuple):
    """Medians of two alternating measurements, and whether they are equal.

    Equal means within a twentieth, or within the error of the medians.
    """

    one: float
    other: float
    alike: bool

    def __str__(self) -> str:
        return f"{1e6 * self.one:.0f} and {1e6 * self.other:.0f} µs"


def compared(times: int, one: Callable[[], float], other: Callable[[], float]) -> Compared:
    """Two measurements, repeated in alternating order.

    A real difference shows every time, noise does not: so it is measured up to three times.
    """
    for _ in range(3):
        found = _compared(*_in_turns(times, one, other))
        if found.alike:
            break
    return found


def _in_turns(times: int, *measured: Callable[[], float]) -> tuple[list[float], list[float]]:
    given: tuple[list[float], list[float]] = ([], [])
    for number in range(times):
        for which in (0, 1) if number % 2 else (1, 0):
            given[which].append(measured[which]())
    return given


def _compared(one: list[float], other: list[float]) -> Compared:
    spread = max(np.subtract(*np.percentile(times, [75, 25])) for times in (one, other))
    error = 4 * float(spread) / len(one) ** 0.5
    medians = median(one), median(other)
    return Compared(*medians, abs(medians[0] - medians[1]) <= max(0.05 * max(medians), error))
