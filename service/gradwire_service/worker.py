"""A process that computes: asked through a pipe, one request at a time, until the pipe ends."""

from __future__ import annotations

import ctypes
import signal
import sys
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from gradwire_service.access.admission import CALLER
from gradwire_service.allocation import keep_freed_memory
from gradwire_service.capacity import Deadline
from gradwire_service.engines import Engines, open_engines
from gradwire_service.problems import problem_of
from gradwire_service.processes.messages import STOP, Asked, Computed, Failed, Learned, Lookup
from gradwire_service.routes.exchange import Exchange
from gradwire_service.routes.work import Work
from gradwire_service.settings import Settings
from gradwire_service.telemetry import stack_of
from gradwire_service.wire.references import Owned, References, ShelfName

_PR_SET_PDEATHSIG = 1

Pipe: TypeAlias = "Connection[Any, Any]"


class Elsewhere:
    """The library of the service, asked through the pipe."""

    def __init__(self, connection: Pipe) -> None:
        self._connection = connection

    def references(self, request: Owned, *, waits: bool = True) -> References:
        """What a request refers to; it always waits for that."""
        return References(self._value, request)

    def _value(self, shelf: ShelfName, reference: str) -> Any:
        self._connection.send(Lookup(shelf, reference))
        return self._connection.recv()


class Worker:
    """Answers what it is asked."""

    def __init__(self, connection: Pipe, settings: Settings, *, apart: bool) -> None:
        self._connection = connection
        self._settings = settings
        self._engines: Engines = open_engines(settings, apart=apart)
        self._library = Elsewhere(connection)
        self._deadline: Deadline | None = None

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Stop what is being done, at its next poll."""
        if self._deadline is not None:
            self._deadline.cancel()

    def answer(self) -> None:
        """Answer one request after the other, until there will be no more."""
        while True:
            try:
                asked = self._connection.recv()
            except EOFError:
                return
            self._deadline = asked.deadline
            answer = self._answer(asked)
            self._deadline = None
            self._connection.send(answer)

    def _answer(self, asked: Asked) -> Computed | Failed:
        scope = {"type": "http", "headers": asked.headers, CALLER: asked.caller}
        try:
            x = Exchange(scope, self._settings)
            x.deadline = asked.deadline
            x.body = asked.body
            _ = x.document
            self._tell(x)
            work = Work(self._engines.of(x.owner), self._library, asked.kind, x)
            work.prepare()
            work.compile(x.deadline)
            self._tell(x)
            pieces = [bytes(piece) for piece in work.finish(x.deadline)]
            return Computed(
                pieces,
                x.seconds,
                x.account.program,
                work.cached,
                tuple(work.nonfinite),
                work.call.seconds,
                work.call.answer_bytes,
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            problem = problem_of(error)
            return Failed(problem, None if problem.expected else self._trace(error))

    def _trace(self, error: Exception) -> str:
        return stack_of(error, messages=self._settings.log_level == "debug")

    def _tell(self, x: Exchange) -> None:
        self._connection.send(Learned(x.deadline.allowed_ms, x.deadline.held_bytes))


def serve(connection: Pipe, settings: Settings, apart: bool) -> None:
    """What the process does: answer through ``connection`` until the service is gone."""
    _end_with_the_service()
    # They may come to all processes of a service at once, which lets us finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threadpool_limits(settings.blas_threads)
    keep_freed_memory()
    worker = Worker(connection, settings, apart=apart)
    signal.signal(STOP, worker.stop)
    worker.answer()


def _end_with_the_service() -> None:
    """Be killed when the service is, also while held up: a stopped process reads no pipe's end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
