"""The service compared with another version, whose checkout ``GRADWIRE_BENCH_BEFORE`` names.

Both run from their sources in this environment: ``git worktree add /tmp/before <commit>``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from measure import Row, compared, interleave
from peers.workloads import ROSENBROCK
from servers import GRADWIRE, Server, running
from sharing import BUSY, answered_in, long_request
from wire.forms import BINARY, LISTS, in_json, registered
from wire.loads import Form, Load, alternate, load, rows
from wire.sizes import points

_VARIABLE = "GRADWIRE_BENCH_BEFORE"
_LONG_SECONDS = 3.0


def report(*, quick: bool) -> list[str]:
    """Latency, CPU time, throughput and memory of both, in alternating rounds."""
    before = os.environ.get(_VARIABLE)
    if before is None:
        return [f"Versions: skipped, {_VARIABLE} names no checkout of another version."]
    rounds = 6 if quick else 30
    paths = os.pathsep.join(str(Path(before, part)) for part in ("service", "engine"))
    with running(GRADWIRE) as now, running(GRADWIRE, environment={"PYTHONPATH": paths}) as then:
        servers = now, then
        table = [_memory("resident memory at the start", servers)]
        by_id = [in_json(registered(server, ROSENBROCK)) for server in servers]
        small = {"size": 10, "count": 100, "at_once": 400, "rounds": rounds}
        table += _compared("10 numbers, program by id", servers, by_id, **small)
        table += _compared("10 numbers, program as text", servers, [LISTS] * 2, **small)
        large = {"size": 100_000, "count": 5, "at_once": 0, "rounds": rounds}
        table += _compared("100,000 numbers, JSON", servers, [LISTS] * 2, **large)
        table += _compared("100,000 numbers, MessagePack", servers, [BINARY] * 2, **large)
        table += [_long(what, servers, rounds // 3) for what in ("numbers", "arrays of 1,000")]
        table.append(_memory("resident memory at the end", servers))
    return [compared("This version of the service beside another", "other", table)]


def _compared(
    what: str,
    servers: tuple[Server, Server],
    forms: list[Form],
    *,
    size: int,
    count: int,
    at_once: int,
    rounds: int,
) -> list[Row]:
    asked = points(size, 4)
    ours, theirs = (
        load(server, form, asked, count, at_once)
        for server, form in zip(servers, forms, strict=True)
    )
    alternate(rounds, ours, theirs)
    return [*rows(what, ours, theirs), *_throughput(what, ours, theirs)]


def _throughput(what: str, ours: Load, theirs: Load) -> list[Row]:
    if not ours.per_second:
        return []
    return [Row.of(f"{what}: 16 connections", ours.per_second, theirs.per_second, "req/s")]


def _long(what: str, servers: tuple[Server, Server], rounds: int) -> Row:
    """Throughput of programs of about 0.1 s with four clients, in requests a second."""

    def measured(server: Server) -> Callable[[int], float]:
        return lambda _: answered_in(server, long_request(what), _LONG_SECONDS) / _LONG_SECONDS

    for server in servers:
        measured(server)(0)  # compiles
    ours, theirs = interleave(max(rounds, 1), *map(measured, servers))
    return Row.of(f"long programs of {what}, {BUSY} clients", ours, theirs, "req/s")


def _memory(what: str, servers: tuple[Server, Server]) -> Row:
    ours, theirs = map(_proportional_mib, servers)
    return Row.of(what, [ours], [theirs], "MiB")


def _proportional_mib(server: Server) -> float:
    """The memory of all processes of a server; shared memory counts once."""
    kib = 0
    for pid in server.family():
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kib += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return kib / 1024
