"""Measure CPU time, bytes and cache of requests: ``python -m scaling.measure``.

Other load on the machine stretches wall time, so only the CPU time of processes is measured; the
workloads take turns, so that a slower minute is one of all of them.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from importlib.metadata import version
from typing import Any

import numpy as np
from gradwire_engine import Engine, Leaf, Query
from servers import GRADWIRE, Connection, Server, running

from scaling import edge
from scaling.times import PATH, STAGES, thinned
from scaling.workloads import WORKLOADS, Workload

_COMMAND = "PYTHONPATH=benchmarks .venv/bin/python -m scaling.measure"
_ROUNDS = 4
#: Requests before those that count as later ones: machine code may be compiled meanwhile.
_SETTLED = 6
#: Programs whose bytes in the cache are counted.
_CACHED = 20


class Replica:
    """A service whose event loop and worker processes are timed separately."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._clocks: dict[int, float] = {}
        self.begin()

    def begin(self) -> None:
        """Count from now on. Finding the processes takes longer than a request: not between two."""
        self._front, *others = self._server.family()[1:]  # the first is its watchdog
        self._clocks = {pid: self._clocks.get(pid, 0.0) for pid in (self._front, *others)}
        self.spent()

    def spent(self) -> tuple[float, float]:
        """CPU seconds of the event loop's process and of all others since the last call."""
        front, others = 0.0, 0.0
        for pid, before in self._clocks.items():
            with suppress(OSError):  # a worker process may end and be replaced between two tasks
                # Linux's id of the CPU clock of another process: clock_getcpuclockid(3).
                now = self._clocks[pid] = time.clock_gettime((~pid << 3) | 2)
                if pid == self._front:
                    front += now - before
                else:
                    others += now - before
        return front, others


class Measurement:
    """The times of one workload's requests, in rounds of other programs each."""

    def __init__(self, workload: Workload, server: Server, connection: Connection) -> None:
        self._workload = workload
        self._replica = Replica(server)
        self._connection = connection
        self._seeds = iter(range(10**9))
        self._times: dict[str, tuple[list[float], list[float]]] = {
            name: ([], []) for name in STAGES
        }
        self.answer_bytes = 0

    def round(self) -> None:
        """New programs through all their stages."""
        count = max(self._workload.programs // _ROUNDS, 1)
        seeds = [next(self._seeds) for _ in range(count)]
        requests = [self._workload.request(seed) for seed in seeds]
        self._send("first", requests)
        self._send("second", requests)
        for _ in range(_SETTLED):
            self._send(None, requests[:4])
        for _ in range(self._workload.later * count // len(requests[:4])):
            self._send("later", requests[:4])

    def _send(self, stage: str | None, requests: list[bytes]) -> None:
        self._replica.begin()
        for request in requests:
            self.answer_bytes = len(self._connection.exchange(request))
            front, workers = self._replica.spent()
            if stage is not None:
                self._times[stage][0].append(front)
                self._times[stage][1].append(workers)

    def document(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return {
            "examples": self._workload.examples,
            "request_bytes": len(self._workload.body(0)),
            "answer_bytes": self.answer_bytes,
            **cached_bytes(self._workload),
            **{name: thinned(*times) for name, times in self._times.items()},
        }


def cached_bytes(workload: Workload) -> dict[str, int]:
    """Bytes that the engine's cache counts for a program, for its entry before it is compiled, and
    for the entry with its executable, on average.
    """
    engine = Engine()
    documents = [workload.document(seed) for seed in range(_CACHED)]
    programs = [engine.parse(document["program"]) for document in documents]
    parsed, calls = engine.budget.taken, []
    for program, document in zip(programs, documents, strict=True):
        given = {name: Leaf(np.asarray(value)) for name, value in document["variables"].items()}
        query = Query("gradient", batch=dict.fromkeys(document.get("batch", ()), 0))
        calls.append(engine.call(program, given, query))
    entered = engine.budget.taken - parsed
    for call in calls:
        for _ in range(3):
            call.replay(lambda: None)
    counted = {"program": parsed, "entry": entered, "executable": engine.budget.taken - parsed}
    return {f"{name}_bytes": nbytes // _CACHED for name, nbytes in counted.items()}


def measured(workloads: Mapping[str, Workload]) -> dict[str, Any]:
    """The figures of each workload, from one service and one connection."""
    with ExitStack() as stack:
        server = stack.enter_context(running(GRADWIRE))
        connection = stack.enter_context(closing(Connection(server.port)))
        for _ in range(20):  # what any first requests of a service cost is no program's
            connection.exchange(workloads[next(iter(workloads))].request(10**6))
        found = {
            name: Measurement(workload, server, connection) for name, workload in workloads.items()
        }
        for number in range(_ROUNDS):
            for one in _alternating(found, number):
                one.round()
        return {name: one.document() for name, one in found.items()}


def _alternating(found: Mapping[str, Measurement], number: int) -> Iterator[Measurement]:
    every = [*found.values()]
    return iter(every) if number % 2 == 0 else reversed(every)


def main() -> None:
    """Measure everything and write the file."""
    document = {
        "command": _COMMAND,
        "machine": f"{platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {version('numpy')}, uvicorn {version('uvicorn')}",
        "workloads": measured(WORKLOADS),
        "nginx_us": edge.nginx_us(),
        "redis_us": edge.redis_us(),
    }
    PATH.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
