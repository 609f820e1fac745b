"""How long requests take, to the microsecond, and whether two kinds of them take as long."""

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
    """A tenant's connection to the service, by which a request's time is told to the microsecond.

    It blocks: nothing else is to run in this process meanwhile.
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
        """How long a request takes, which is to be answered so."""
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
    """Medians of two measurements that took turns, and whether they are the same.

    That is: within a twentieth, or what their own spread makes of medians.
    """

    one: float
    other: float
    alike: bool

    def __str__(self) -> str:
        return f"{1e6 * self.one:.0f} and {1e6 * self.other:.0f} µs"


def compared(times: int, one: Callable[[], float], other: Callable[[], float]) -> Compared:
    """Two measurements, made so many times, each first as often as the other.

    A difference that is there is there each time, others come and go: it is tried three times.
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
