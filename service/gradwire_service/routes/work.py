"""One computation from the bytes of its request to those of its response."""

from __future__ import annotations

from collections.abc import Collection
from time import perf_counter
from typing import NamedTuple

from gradwire_engine import Engine
from gradwire_engine.answer import Answer, Kind, Poll
from gradwire_engine.cache import Entry
from gradwire_engine.call import Call

from gradwire_service.processes import Computed
from gradwire_service.routes.exchange import COMPILE, PARSE, REPLAY, Exchange
from gradwire_service.settings import Settings
from gradwire_service.wire import replies
from gradwire_service.wire.body import Body
from gradwire_service.wire.envelope import read_envelope
from gradwire_service.wire.references import Referring


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
        "cached",
        "call",
        "entry",
        "nonfinite",
    )

    def __init__(self, engine: Engine, library: Referring, kind: Kind, x: Exchange) -> None:
        self._engine = engine
        self._library = library
        self._kind = kind
        self._x = x
        #: What the engine keeps for requests like this, once it is prepared.
        self.entry: Entry | None = None
        self.cached = False
        #: The directions in which the answer is not finite.
        self.nonfinite: Collection[str] = ()

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
        self.entry, self.cached = self.call.entry, self.call.compiled
        self._x.seconds[PARSE] += perf_counter() - start

    def whole(self) -> list[Body]:
        """All of it, in a thread."""
        self.prepare()
        return self.finish(self._x.deadline)

    def compile(self, poll: Poll) -> None:
        """Compile what is not compiled, upon which it is known what the replay will hold."""
        start = perf_counter()
        self.call.compile(poll)
        self._x.seconds[COMPILE] += perf_counter() - start
        self._x.deadline.held_bytes = self.call.peak_bytes

    def finish(self, poll: Poll) -> list[Body]:
        """Compile what is not compiled, replay, and write the response."""
        self.compile(poll)
        start = perf_counter()
        answer = self.call.replay(poll)
        return self.answered(answer, perf_counter() - start)

    def answered(self, answer: Answer, seconds: float) -> list[Body]:
        """Write the response to what was replayed in so many seconds."""
        self.nonfinite = answer.nonfinite
        self._x.seconds[REPLAY] = seconds
        reply = replies.evaluation if self._kind == "evaluate" else replies.derivative
        return self._x.written(reply(self._program_id, answer), self._encoding)

    def answered_elsewhere(self, computed: Computed) -> list[Body]:
        """Take over what another process has computed and written."""
        self._x.account.take_over(computed.seconds)
        self._x.account.program = computed.program
        self.cached, self.nonfinite = computed.cached, computed.nonfinite
        return list(computed.body)


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
