"""One computation from the bytes of its request to those of its response."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

from gradwire_engine import Engine
from gradwire_engine.answer import Answer, Kind, Poll
from gradwire_engine.call import Call

from gradwire_service.library import Library
from gradwire_service.routes.exchange import COMPILE, PARSE, REPLAY, Exchange
from gradwire_service.settings import Settings
from gradwire_service.wire import replies
from gradwire_service.wire.body import Body
from gradwire_service.wire.envelope import read_envelope


class Work:
    """Reads with ``prepare``, then computes and writes with ``finish``; no thread in between.

    ``finish`` may be stopped by its poll and called again: an evaluation changes nothing.
    """

    __slots__ = (
        "_encoding",
        "_engine",
        "_kind",
        "_library",
        "_program_id",
        "_x",
        "answer",
        "cached",
        "call",
    )

    def __init__(self, engine: Engine, library: Library, kind: Kind, x: Exchange) -> None:
        self._engine = engine
        self._library = library
        self._kind = kind
        self._x = x

    def prepare(self, *, waits: bool = True) -> None:
        """Read the request, parse its program and look its executables up.

        Raises: ``NotNear`` where the store would have to be asked, unless it ``waits`` for that.
        """
        document = self._x.document
        start = perf_counter()
        references = self._library.references(self._x, waits=waits)
        asked = read_envelope(document, self._kind, references)
        program = self._engine.parse(asked.program, self._x.deadline)
        self.call = self._engine.call(program, asked.variables, asked.query, vectors=asked.vectors)
        self._program_id = self._x.account.program = program.id
        self._encoding = asked.encoding
        self.cached = self.call.compiled
        self._x.seconds[PARSE] += perf_counter() - start

    def whole(self) -> list[Body]:
        """All of it, in a thread."""
        self.prepare()
        return self.finish(self._x.deadline)

    def finish(self, poll: Poll) -> list[Body]:
        """Compile what is not compiled, replay, and write the response."""
        start = perf_counter()
        self.call.compile(poll)
        compiled = perf_counter()
        self._x.seconds[COMPILE] = compiled - start
        answer = self.call.replay(poll)
        return self.answered(answer, perf_counter() - compiled)

    def answered(self, answer: Answer, seconds: float) -> list[Body]:
        """Write the response to what was replayed in so many seconds."""
        self.answer = answer
        self._x.seconds[REPLAY] = seconds
        reply = replies.evaluation if self._kind == "evaluate" else replies.derivative
        return self._x.written(reply(self._program_id, self.answer), self._encoding)


class Shortness(NamedTuple):
    """What may be done on the event loop: replays of so many seconds, answers of so many bytes."""

    seconds: float
    nbytes: int

    def covers(self, call: Call) -> bool:
        """Whether what is compiled is predicted to be no longer."""
        return call.seconds < self.seconds and call.answer_bytes <= self.nbytes


def shortness(settings: Settings) -> Shortness:
    """What the settings call short."""
    return Shortness(settings.inline_microseconds * 1e-6, settings.inline_body_bytes)
