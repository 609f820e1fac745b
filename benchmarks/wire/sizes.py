"""Value and gradient of Rosenbrock's function of 10, 100,000 and 1,000,000 numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from measure import Row, compared
from peers.by_hand import Array
from peers.workloads import ROSENBROCK
from servers import BARE, GRADWIRE, Server, running

from wire.forms import BINARY, LISTS, OCTETS, in_json, new_programs, registered
from wire.loads import CONNECTIONS, Load, alternate, load, rows

_TITLE = "POST /v1/gradient of Rosenbrock's function of {:,} numbers, one worker, {}"


def report(*, quick: bool) -> list[str]:
    """Latency, CPU time and throughput compared with the bare endpoint, after checking results."""
    rounds = 6 if quick else 30
    with running(GRADWIRE) as gradwire, running(BARE) as bare:
        small = _small(gradwire, bare, rounds, at_once=200 if quick else 400)
        large = _large(gradwire, bare, rounds // 2)
        huge = _huge(gradwire, bare, rounds // 3)
    return [
        compared(_TITLE.format(10, "JSON"), "bare", small),
        compared(_TITLE.format(100_000, "JSON and MessagePack"), "bare", large),
        compared(_TITLE.format(1_000_000, "MessagePack"), "bare", huge),
    ]


def points(size: int, distinct: int) -> list[Array]:
    """The points of the requests, in turn."""
    return [np.random.default_rng(seed).normal(size=size) for seed in range(distinct)]


def _small(gradwire: Server, bare: Server, rounds: int, at_once: int) -> list[Row]:
    asked = points(10, 64)
    by_id = load(gradwire, in_json(registered(gradwire, ROSENBROCK)), asked, 100, at_once)
    by_text = load(gradwire, LISTS, asked, 100, at_once)
    by_hand = load(bare, LISTS, asked, 100, at_once)
    alternate(rounds, by_id, by_text, by_hand)
    return [
        *rows("program by id", by_id, by_hand, 1.5),
        *rows("program as text", by_text, by_hand, 1.7),
        _throughput("program by id", by_id, by_hand),
        _throughput("program as text", by_text, by_hand),
        *_first_calls(gradwire, bare, rounds, asked),
    ]


def _throughput(what: str, ours: Load, theirs: Load) -> Row:
    what = f"{what}: {CONNECTIONS} connections"
    return Row.of(what, ours.per_second, theirs.per_second, "req/s", ratio_floor=0.75)


def _first_calls(gradwire: Server, bare: Server, rounds: int, asked: Sequence[Array]) -> list[Row]:
    ours, theirs = (Load(server, new_programs(asked), 20) for server in (gradwire, bare))
    alternate(rounds, ours, theirs)
    return rows("program never seen before", ours, theirs)


def _large(gradwire: Server, bare: Server, rounds: int) -> list[Row]:
    asked = points(100_000, 4)
    lists, binary = (load(gradwire, form, asked, 5) for form in (LISTS, BINARY))
    bare_lists, octets = (load(bare, form, asked, 5) for form in (LISTS, OCTETS))
    alternate(rounds, lists, binary, bare_lists, octets)
    return [
        *rows("JSON beside JSON", lists, bare_lists, 1.15),
        *rows("MessagePack beside JSON", binary, bare_lists, 0.13),
        *rows("MessagePack beside raw octets", binary, octets),
    ]


def _huge(gradwire: Server, bare: Server, rounds: int) -> list[Row]:
    asked = points(1_000_000, 2)
    binary, octets = load(gradwire, BINARY, asked, 4), load(bare, OCTETS, asked, 4)
    alternate(rounds, binary, octets)
    return rows("MessagePack beside raw octets", binary, octets, 1.5)
