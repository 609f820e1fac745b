"""What three tenants notice of a fourth that attacks: latencies, lost requests, and memory.

The attacker is a process of its own with another address, and attacks in one way at a time. With
``GRADWIRE_BENCH_MINUTES`` all attacks together take so long.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count, repeat
from pathlib import Path
from statistics import quantiles
from time import perf_counter
from typing import NamedTuple

import httpx
from measure import Row, compared
from servers import GRADWIRE, LENGTH, Server, http_request, running
from wire.forms import to_json

_TENANTS, _THEIRS = ("127.0.0.2", "127.0.0.4", "127.0.0.5"), "127.0.0.3"
#: Two cores; addresses are tenants, since no proxy is trusted.
_SETTINGS = {
    "GRADWIRE_PROXIES": "none",
    "GRADWIRE_CORES": "2",
    "GRADWIRE_PROCESSES": "5",
    # Caches are smaller than the memory that may stay.
    **dict.fromkeys(
        ("GRADWIRE_CACHE_BYTES", "GRADWIRE_LOCAL_CACHE_BYTES", "GRADWIRE_TAPE_VALUES_BYTES"), "8MiB"
    ),
}
_VALUES = to_json({"program": "x", "variables": {"x": 1, "z": [1, ""] * 9_000}})
_ENDLESS = "y = x\nwhile y > 0:\n  y = y * 1.0\ny"
_OPTIMISED = to_json(
    {"program": f"{_ENDLESS}\n(y - 3)**2", "variables": {"x": 1.0}, "background": True}
)
#: The most that the attack may cost others: in the 99th percentile, for health, and in memory.
_RATIO_BAR, _HEALTH_BAR, _MEMORY_BAR = 3.0, 50.0, 100.0
#: Each tenant asks for a known program in each pause, which makes 100 a second; of so many of these
#: one is new.
_PAUSE, _NEW = 0.03, 6
#: A connection that has been idle for longer may be about to be closed by the service.
_IDLE_SECONDS = 2.0
#: An answer that takes longer ends the benchmark.
_PATIENCE_SECONDS = 60.0
#: Time in which what an attack has taken is given back.
_SETTLING_SECONDS = 30.0


class Seen(NamedTuple):
    """The milliseconds of requests and of looks at health, and what was not answered."""

    known: list[float]
    new: list[float]
    health: list[float]
    lost: int


def report(*, quick: bool) -> list[str]:
    """A table for each kind of request, with bars on the 99th percentile."""
    _observe_from_elsewhere()
    seconds = 8.0 if quick else 60.0
    if minutes := os.environ.get("GRADWIRE_BENCH_MINUTES"):
        seconds = 60 * float(minutes) / len(ATTACKS)
    rows: dict[str, list[Row]] = {"known": [], "new": [], "health": []}
    lost = 0
    with running(GRADWIRE, environment=_SETTINGS) as server:
        asyncio.run(_observed(server, 2.0))  # what is made at first calls is made now
        before = asyncio.run(_observed(server, seconds))
        held = _held_mebibytes(server)
        for name in ATTACKS:
            with _attacking(server, name):
                during = asyncio.run(_observed(server, seconds))
            lost += during.lost
            for kind, found in rows.items():
                figure, reference = (_late(getattr(seen, kind)) for seen in (during, before))
                if kind == "health":
                    bars = {"figure_bar": _HEALTH_BAR}
                else:
                    bars = {"ratio_bar": _RATIO_BAR}
                found.append(Row(name, figure, reference, figure / reference, "ms", **bars))
        _end_jobs(server)
        asyncio.run(_observed(server, _SETTLING_SECONDS))
        after = _held_mebibytes(server)
    kept = Row("all processes", after, held, after / held, "MiB", figure_bar=held + _MEMORY_BAR)
    titles = {"known": "A known program", "new": "A new program", "health": "Health"}
    tables = [
        compared(f"{titles[kind]} beside an attack: 99th percentile", "without", found)
        for kind, found in rows.items()
    ]
    return [
        *tables,
        compared("Memory after all attacks", "before", [kept]),
        f"{lost} requests of others were refused, lost or wrong",
    ]


def _observe_from_elsewhere() -> None:
    """Have a core whenever there is something to see, as a client on a machine of its own.

    Source: sched(7). Without the right to, latencies contain waiting for a core.
    """
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def _end_jobs(server: Server) -> None:
    """End the attacker's optimisations, whose processes are in use."""
    transport = httpx.HTTPTransport(local_address=_THEIRS)
    with httpx.Client(transport=transport, base_url=server.url, timeout=60) as client:
        while jobs := client.get("/v1/jobs").json()["jobs"]:
            for job in jobs:
                client.delete(f"/v1/jobs/{job['id']}")


def _late(milliseconds: Sequence[float]) -> float:
    """The 99th percentile."""
    return quantiles(milliseconds, n=100)[98]


def _held_mebibytes(server: Server) -> float:
    """The memory of all processes: what they share counts once."""
    kibibytes = 0
    for pid in server.family():
        with suppress(OSError):
            told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
            kibibytes += next(int(line.split()[1]) for line in told if line.startswith("Pss:"))
    return kibibytes / 1024


class _Tenant:
    """A client at an address of its own, as cheap as can be: the cores are the service's."""

    def __init__(self, port: int, address: str) -> None:
        self._port, self._address = port, address
        self._idle: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, request: bytes, expected: bytes) -> float:
        """Ask on a connection that is free; the milliseconds until an answer with these bytes.

        Raises: ``OSError``, ``EOFError`` and ``AssertionError``.
        """
        begin = perf_counter()
        reader, writer = await self._connection()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = LENGTH.findall(head)
        body = await reader.readexactly(int(length))
        took = 1e3 * (perf_counter() - begin)
        self._idle.append((perf_counter(), reader, writer))
        assert expected in body, body
        return took

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            since, reader, writer = self._idle.pop()
            if perf_counter() - since < _IDLE_SECONDS and not reader.at_eof():
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self._port, local_addr=(self._address, 0))

    def close(self) -> None:
        """Close all connections."""
        for _, _, writer in self._idle:
            writer.close()


def _asking(program: str) -> bytes:
    return http_request("/v1/gradient", to_json({"program": program, "variables": {"x": 3.0}}))


async def _observed(server: Server, seconds: float) -> Seen:
    """Ask at a steady pace, each time whether the last answer has come or not."""
    seen, until = Seen([], [], [], 0), perf_counter() + seconds
    known, health = _asking("x * x"), http_request("/healthz", b"", method="GET")
    slope, well = b'"gradients":{"x":6.0}', b'"alive"'
    lost = 0

    async def ask(of: _Tenant, found: list[float], request: bytes, expected: bytes) -> None:
        nonlocal lost
        try:
            found.append(await of.ask(request, expected))
        except (OSError, EOFError, AssertionError):
            lost += 1

    tenants = [_Tenant(server.port, address) for address in _TENANTS]
    gc.collect()
    gc.disable()  # its pauses are not the service's
    async with asyncio.timeout(seconds + _PATIENCE_SECONDS), asyncio.TaskGroup() as asking:
        for number in count():
            if perf_counter() > until:
                break
            asking.create_task(ask(tenants[0], seen.health, health, well))
            for tenant in tenants:
                asking.create_task(ask(tenant, seen.known, known, slope))
            if number % _NEW == 0:
                tenant = tenants[number // _NEW % len(tenants)]
                new = _asking(f"# {perf_counter()}\nx**2 + {number}")
                asking.create_task(ask(tenant, seen.new, new, slope))
            await asyncio.sleep(_PAUSE)
    gc.enable()
    for tenant in tenants:
        tenant.close()
    return seen._replace(lost=lost)


@contextmanager
def _attacking(server: Server, name: str) -> Iterator[None]:
    """Attack from another process, which is well under way when this begins."""
    command = [sys.executable, __file__, name, str(server.port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as attack:
        try:
            assert attack.stdout is not None
            attack.stdout.readline()
            yield
        finally:
            attack.kill()


# In the process that attacks


async def _repeated(port: int, clients: int, requests: Iterator[bytes]) -> None:
    """So many clients that send one after another, whatever the answers are."""
    attacker = _Tenant(port, _THEIRS)

    async def again() -> None:
        for request in requests:
            try:
                await attacker.ask(request, b"")
            except (OSError, EOFError):
                await asyncio.sleep(0.001)

    await asyncio.gather(*(again() for _ in range(clients)))


def _programs() -> Iterator[bytes]:
    """Requests with long programs, each new."""
    for number in count():
        text = "\n".join(f"y{i} = sin(x) * {i} + {number}" for i in range(2_000))
        yield http_request("/v1/evaluate", to_json({"program": text, "variables": {"x": 1.0}}))


async def _connections(port: int, begun: bytes) -> None:
    """More connections than there may be, on each of which a request has begun."""
    kept: deque[socket.socket] = deque()
    while True:
        opened = socket.socket()
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        kept.append(opened)
        with suppress(OSError):
            opened.bind((_THEIRS, 0))
            opened.connect(("127.0.0.1", port))
            opened.send(begun)
        if len(kept) > 1_500:
            kept.popleft().close()
        await asyncio.sleep(0.001)


def _posting(clients: int, path: str, body: bytes) -> Callable[[int], Awaitable[None]]:
    return lambda port: _repeated(port, clients, repeat(http_request(path, body)))


#: Sockets end without ``TIME_WAIT``: else there are no ports left after half a minute.
_RESET = struct.pack("ii", 1, 0)
#: The attack is under way after so long.
_FIRST_SECONDS = 2.0
_HEAD = b"POST /v1/gradient HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n{"
_ASKED = to_json({"program": _ENDLESS, "variables": {"x": 0.5}, "timeout_ms": 60_000})
ATTACKS: dict[str, Callable[[int], Awaitable[None]]] = {
    "64 clients with thousands of values": _posting(64, "/v1/evaluate", _VALUES),
    "16 clients with long new programs": lambda port: _repeated(port, 16, _programs()),
    "24 computations without an end": _posting(24, "/v1/evaluate", _ASKED),
    "8 clients with optimisations without an end": _posting(8, "/v1/minimize", _OPTIMISED),
    "1,500 bodies that do not arrive": lambda port: _connections(port, _HEAD),
    "1,500 connections without a request": lambda port: _connections(port, b""),
}


async def _attack(name: str, port: int) -> None:
    attacking = asyncio.ensure_future(ATTACKS[name](port))
    await asyncio.wait([attacking], timeout=_FIRST_SECONDS)
    print("under way", flush=True)
    await attacking


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(_attack(sys.argv[1], int(sys.argv[2])))
