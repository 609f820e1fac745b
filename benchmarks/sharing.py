"""The latency of short requests while long programs run, in threads and in processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from measure import Figures, shown, table
from servers import GRADWIRE, Connection, Server, http_request, running
from wire.forms import to_json

#: The number of long requests running at any time.
BUSY = 4
_SIZES = {"numbers": 150_000, "arrays of 1,000": 2_000, "arrays of 1,000,000": 4}
_STEP = "y = y + sin(y) / (1.0 + y * y)"
_TITLE = f"Beside {BUSY} clients whose requests take some 0.1 s each"
_HEAD = ["long requests", "", "/healthz p50, ms", "p99", "short gradient p50", "p99", "long, req/s"]
_PAUSE_SECONDS = 0.005


def report(*, quick: bool) -> list[str]:
    """One table: each kind of long request, computed in threads and in processes."""
    rounds, seconds = (2, 1.5) if quick else (7, 3.0)
    embedded = {"GRADWIRE_PROCESSES": "0"}
    processes = {"GRADWIRE_PROCESSES": "5"}
    with (
        running(GRADWIRE, environment=embedded) as threads,
        running(GRADWIRE, environment=processes) as apart,
    ):
        rows = [["none", "threads", *_row(threads, None, 1, seconds)]]
        for what in _SIZES:
            servers = {"threads": threads, "processes": apart}
            figures: dict[str, list[Figures]] = {name: [] for name in servers}
            for number in range(rounds + 1):
                names = list(servers) if number % 2 else list(reversed(servers))
                for name in names:
                    found = _measured(servers[name], long_request(what), seconds)
                    if number:  # the first round compiles
                        figures[name].append(found)
            rows += [
                [what, name, *[shown(median(column)) for column in zip(*found, strict=True)]]
                for name, found in figures.items()
            ]
    return [table(_TITLE, _HEAD, rows)]


def answered_in(server: Server, request: bytes, seconds: float) -> int:
    """The number of these requests answered in this time."""
    with _busy(server, request) as answered:
        before = answered[0]
        time.sleep(seconds)
        return answered[0] - before


def _row(server: Server, busy: bytes | None, rounds: int, seconds: float) -> list[str]:
    found = [_measured(server, busy, seconds) for _ in range(rounds)]
    return [shown(median(column)) for column in zip(*found, strict=True)]


def long_request(what: str) -> bytes:
    """A request that takes about 0.1 s."""
    steps = _SIZES[what]
    size = what.removeprefix("arrays of ").replace(",", "")
    start = "x" if what == "numbers" else f"x * linspace(0.0, 1.0, {size})"
    text = f"y = {start}\nfor i in range({steps}):\n    {_STEP}\nsum(y)"
    return http_request("/v1/gradient", to_json({"program": text, "variables": {"x": 0.3}}))


def _measured(server: Server, busy: bytes | None, seconds: float) -> Figures:
    """The latencies of both short requests in ms, and the long requests a second."""
    health = b"GET /healthz HTTP/1.1\r\nHost: gradwire\r\n\r\n"
    short = http_request(
        "/v1/gradient", to_json({"program": "sum(x**2)", "variables": {"x": [1.0, 2.0]}})
    )
    with _busy(server, busy) as answered:
        connection = Connection(server.port)
        latencies: tuple[Figures, Figures] = ([], [])
        end = time.monotonic() + seconds
        before = answered[0]
        while time.monotonic() < end:
            for request, found in zip((health, short), latencies, strict=True):
                start = time.perf_counter()
                connection.exchange(request)
                found.append(1e3 * (time.perf_counter() - start))
            time.sleep(_PAUSE_SECONDS)
        long_each_second = (answered[0] - before) / seconds
        connection.close()
    for found in latencies:
        found.sort()
    return [
        *[f for found in latencies for f in (median(found), found[int(0.99 * len(found))])],
        long_each_second,
    ]


@contextmanager
def _busy(server: Server, request: bytes | None) -> Iterator[list[int]]:
    """Clients that each always have one long request running; counts the responses."""
    answered, over = [0], threading.Event()
    lock = threading.Lock()

    def ask() -> None:
        assert request is not None
        connection = Connection(server.port)
        while not over.is_set():
            connection.exchange(request)
            with lock:
                answered[0] += 1
        connection.close()

    clients = [threading.Thread(target=ask) for _ in range(BUSY if request else 0)]
    for client in clients:
        client.start()
    time.sleep(0.3)
    try:
        yield answered
    finally:
        over.set()
        for client in clients:
            client.join()
