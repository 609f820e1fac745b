"""CPU time of nginx, with and without TLS, and of Redis, for one request each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gradwire_service.settings import Settings
from gradwire_service.store import Key, Record, Store, open_store
from measure import interleave
from servers import GRADWIRE, Connection, Server, running

from scaling.started import EncryptedConnection, nginx, redis
from scaling.workloads import WORKLOADS

_ROUNDS = 5
#: Requests in a round, by workload: all of them known to the replica.
_FORWARDED = {
    "10 numbers, JSON": 400,
    "1,000 numbers, MessagePack": 200,
    "100,000 numbers, MessagePack": 30,
}
#: Bytes of records in Redis, and calls in a round.
_RECORDS = {1_000: 400, 100_000: 100, 8_000_000: 4}


class Work(NamedTuple):
    """What a round does ``calls`` times, once it is prepared."""

    calls: int
    prepare: Callable[[], Callable[[], object]]


def nginx_us() -> dict[str, float]:
    """Microseconds of nginx per request it forwards, and per new connection."""
    with TemporaryDirectory() as folder, running(GRADWIRE) as replica, ExitStack() as stack:
        server, encrypted = stack.enter_context(nginx(Path(folder), [replica.port]))

        def plain() -> Connection:
            return stack.enter_context(closing(Connection(server.port)))

        def secured() -> Connection:
            return stack.enter_context(closing(EncryptedConnection(encrypted)))

        work = {
            f"{name}, {how}": Work(count, partial(_asking, opening, WORKLOADS[name].request(0)))
            for name, count in _FORWARDED.items()
            for how, opening in {"plain": plain, "TLS": secured}.items()
        }
        work["a connection, plain"] = Work(50, lambda: plain)
        work["a connection, TLS"] = Work(50, lambda: secured)
        return _costs(server, work)


def _asking(opening: Callable[[], Connection], request: bytes) -> Callable[[], object]:
    """A connection of its own for each round: nginx closes one after 1,000 requests."""
    return partial(opening().exchange, request)


def redis_us() -> dict[str, float]:
    """Microseconds of Redis per call of the service's store."""
    with TemporaryDirectory() as folder, redis(Path(folder)) as server:
        store = open_store(Settings(store=f"redis://127.0.0.1:{server.port}/0"))
        work: dict[str, Work] = {}
        for nbytes, count in _RECORDS.items():
            work[f"put {nbytes:,} bytes"] = Work(count, partial(_putting, store, nbytes))
            work[f"find {nbytes:,} bytes"] = Work(count, partial(_finding, store, nbytes))
        with closing(store):
            return _costs(server, work)


def _putting(store: Store, nbytes: int) -> Callable[[], object]:
    numbers, record = count(), Record("", bytes(nbytes))
    return lambda: store.put(Key("tensors", "owner", f"{nbytes}-{next(numbers) % 8}"), record)


def _finding(store: Store, nbytes: int) -> Callable[[], object]:
    key = Key("tensors", "owner", f"{nbytes}-found")
    store.put(key, Record("", bytes(nbytes)))
    return partial(store.find, key)


def _costs(server: Server, work: Mapping[str, Work]) -> dict[str, float]:
    """The median over interleaved rounds of the server's microseconds per call."""

    def measurement(one: Work) -> Callable[[int], float]:
        def measured(_: int) -> float:
            run = one.prepare()
            run()
            before = server.cpu_seconds()
            for _ in range(one.calls):
                run()
            return 1e6 * (server.cpu_seconds() - before) / one.calls

        return measured

    figures = interleave(_ROUNDS, *map(measurement, work.values()))
    return {name: round(median(found), 1) for name, found in zip(work, figures, strict=True)}
