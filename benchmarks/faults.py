"""What clients notice of others: of full queues, of those that left, of bombs, of what was lost.

Linux reports the CPU time of other processes.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import httpx
from measure import Figures, Row, compared, interleave
from servers import GRADWIRE, Connection, Server, http_request, running
from wire.forms import to_json

_TITLE = "Faults of others, each beside the same without them"
_SMALL = {"program": "sum(x**2)", "variables": {"x": [1.0, 2.0]}}
#: Ends at its deadline alone.
_ENDLESS = {
    "program": "y = x\nwhile y > 0:\n  y = y * 1.0\ny",
    "variables": {"x": 0.5},
    "timeout_ms": 60_000,
}
#: More work than a request may have, each in another way.
_BOMBS = (
    "y = x\nfor i in range(10**9):\n  y = sin(y)\ny",
    "y = x * ones(10)\nfor i in range(60):\n  y = concatenate([y, y])\ny",
    "sum(outer(ones(10**6), ones(10**6)) * x)",
    "inv(eye(100_000) * x)",
)
#: One process computes, so that two requests are too many where none may wait.
_FULL = {"GRADWIRE_PROCESSES": "1", "GRADWIRE_QUEUE_REQUESTS": "0"}
_BATCHING = {"GRADWIRE_BATCH_WINDOW_MICROSECONDS": "1000"}
#: What a service is made of beside its own code.
_LIBRARIES = "import fastapi, numpy, pydantic_settings, scipy.linalg, scipy.special, uvicorn"


def report(*, quick: bool) -> list[str]:
    """One table. Bars are ratios of one run: no test of the service looks at a clock."""
    rounds = 3 if quick else 15
    with ExitStack() as stack:
        plain, full, batching = (
            stack.enter_context(running(GRADWIRE, environment=environment))
            for environment in ({}, _FULL, _BATCHING)
        )
        rows = [
            _refused(full, plain, 20 * rounds),
            _left(plain, rounds),
            _bomb(plain, rounds),
            _alone(batching, plain, 20 * rounds),
        ]
    rows.append(_start(rounds))
    if shutil.which("redis-server"):
        rows.append(_recovery(rounds))
    return [compared(_TITLE, "without", rows)]


def _asked(client: httpx.Client, document: Any, status: int = 200) -> float:
    """The milliseconds of a request that is answered with a status."""
    begin = perf_counter()
    response = client.post("/v1/gradient", json=document)
    taken = 1e3 * (perf_counter() - begin)
    assert response.status_code == status, response.text
    return taken


@contextmanager
def _busy(server: Server, clients: int) -> Iterator[None]:
    """Clients that wait for a program without an end, until they leave."""
    request = http_request("/v1/evaluate", to_json(_ENDLESS))
    with ExitStack() as stack:
        for _ in range(clients):
            stack.enter_context(closing(Connection(server.port))).send(request)
        sleep(0.5)
        yield


def _refused(full: Server, plain: Server, rounds: int) -> Row:
    """A request for which there is no room is refused as soon as another is answered."""
    with httpx.Client(base_url=full.url) as here, httpx.Client(base_url=plain.url) as there:
        _asked(there, _SMALL)
        with _busy(full, 2):
            refused, answered = interleave(
                rounds, lambda _: _asked(here, _SMALL, 503), lambda _: _asked(there, _SMALL)
            )
    return Row.of("refusal by a full queue", refused, answered, "ms", ratio_bar=2.0)


def _left(server: Server, rounds: int) -> Row:
    """Clients that have left cost nothing more."""

    def used(_: int = 0) -> float:
        before = server.cpu_seconds()
        sleep(1.0)
        return 1e3 * (server.cpu_seconds() - before)

    after: Figures = []
    during: Figures = []
    for _ in range(rounds):
        with _busy(server, 4):
            during.append(used())
        sleep(0.5)
        after.append(used())
    return Row.of("CPU a second after 4 clients left", after, during, "ms", ratio_bar=0.1)


def _bomb(server: Server, rounds: int) -> Row:
    """What is refused takes little more than the time that it was allowed."""
    allowed = 1000.0
    with httpx.Client(base_url=server.url, timeout=60) as client:

        def refused(_: int) -> float:
            longest = 0.0
            for program in _BOMBS:
                document = {"program": program, "variables": {"x": 0.5}, "timeout_ms": allowed}
                begin = perf_counter()
                response = client.post("/v1/evaluate", json=document)
                longest = max(longest, 1e3 * (perf_counter() - begin))
                assert 400 <= response.status_code < 600, response.text
            return longest

        (longest,) = interleave(rounds, refused)
    return Row.of("slowest of some bombs", longest, [allowed] * rounds, "ms", ratio_bar=1.3)


def _alone(batching: Server, plain: Server, rounds: int) -> Row:
    """Who asks alone does not wait for others to make a batch with."""
    with httpx.Client(base_url=batching.url) as here, httpx.Client(base_url=plain.url) as there:
        for client in (here, there):
            _asked(client, _SMALL)
        alone, unbatched = interleave(
            rounds, lambda _: _asked(here, _SMALL), lambda _: _asked(there, _SMALL)
        )
    return Row.of("one client, batching on", alone, unbatched, "ms", ratio_bar=1.5)


def _start(rounds: int) -> Row:
    """A service that replaces a lost one answers after little more than its libraries' import."""
    loading = [sys.executable, "-c", _LIBRARIES]

    def started(_: int) -> float:
        begin = perf_counter()
        with running(GRADWIRE) as server, httpx.Client(base_url=server.url) as client:
            _asked(client, _SMALL)
            return 1e3 * (perf_counter() - begin)

    def loaded(_: int) -> float:
        begin = perf_counter()
        subprocess.run(loading, check=True)
        return 1e3 * (perf_counter() - begin)

    first, libraries = interleave(rounds, started, loaded)
    return Row.of("first answer of a new service", first, libraries, "ms", ratio_bar=3.0)


def _recovery(rounds: int) -> Row:
    """Records can be stored soon after Redis is back, beside the time that Redis itself takes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    served: Figures = []
    began: Figures = []

    def started(folder: str) -> subprocess.Popen[bytes]:
        redis = subprocess.Popen([*command, "--dir", folder], stdout=subprocess.DEVNULL)
        while True:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port))):
                return redis
            sleep(0.002)

    with TemporaryDirectory() as folder, ExitStack() as stack:
        redis = started(folder)
        store = f"redis://127.0.0.1:{port}/0"
        environment = {"GRADWIRE_STORE": store, "GRADWIRE_LOG_LEVEL": "critical"}
        server = stack.enter_context(running(GRADWIRE, environment=environment))
        client = stack.enter_context(httpx.Client(base_url=server.url, timeout=60))

        def stored() -> bool:
            return client.post("/v1/programs", json={"program": "x"}).is_success

        try:
            for _ in range(rounds):
                redis.kill()
                redis.wait()
                while stored():
                    pass
                begin = perf_counter()
                redis = started(folder)
                began.append(1e3 * (perf_counter() - begin))
                while not stored():
                    sleep(0.002)
                served.append(1e3 * (perf_counter() - begin))
        finally:
            redis.kill()
            redis.wait()
    return Row.of("records after Redis is back", served, began, "ms", figure_bar=2000.0)
