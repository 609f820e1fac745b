"""``evaluate`` and all that differentiates, from the bytes of a request to those of its answer."""

from __future__ import annotations

from time import perf_counter

from gradwire_engine import Engine
from gradwire_engine.answer import Answer, Kind, Poll

from gradwire_service.engines import Engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.wire import replies
from gradwire_service.wire.envelope import read_envelope
from gradwire_service.wire.shared import Body
from gradwire_service.work.request import COMPILE, PARSE, REPLAY, Request


class Computation:
    """A request that is read, its program parsed and its executables looked up.

    ``finish`` may be stopped by its poll and called again: an evaluation changes nothing.
    Raises: ``WouldBlock`` where the store would have to be asked, unless it ``waits`` for that.
    """

    __slots__ = ("_encoding", "_kind", "_program_id", "call", "request")

    def __init__(
        self,
        engine: Engine,
        resolver: ReferenceResolver,
        kind: Kind,
        request: Request,
        poll: Poll,
        *,
        waits: bool = True,
    ) -> None:
        document = request.document
        start = perf_counter()
        references = resolver.references(request, waits=waits)
        asked = read_envelope(document, kind, references)
        program = engine.parse(asked.program, poll)
        self.call = engine.call(program, asked.variables, asked.query, vectors=asked.vectors)
        self.request = request
        self._kind = kind
        self._program_id = request.outcome.program = program.id
        self._encoding = asked.encoding
        request.outcome.cached = self.call.compiled
        request.outcome.phases[PARSE] += perf_counter() - start

    def finish(self, poll: Poll) -> list[Body]:
        """Compile what is not compiled, replay, and write the response."""
        call, phases = self.call, self.request.outcome.phases
        start = perf_counter()
        call.compile(poll)
        compiled = perf_counter()
        answer = call.replay(poll)
        phases[COMPILE] += compiled - start
        return self.answered(answer, perf_counter() - compiled)

    def answered(self, answer: Answer, seconds: float) -> list[Body]:
        """Write the response to what was replayed in so many seconds."""
        outcome = self.request.outcome
        outcome.nonfinite = tuple(answer.nonfinite)
        outcome.phases[REPLAY] = seconds
        reply = replies.evaluation if self._kind == "evaluate" else replies.derivative
        return self.request.encode(reply(self._program_id, answer), self._encoding)


class ComputeHandlers:
    """All kinds of computation, wherever they may take long."""

    def __init__(self, engines: Engines, resolver: ReferenceResolver) -> None:
        self._engines = engines
        self._resolver = resolver

    def compute(self, kind: Kind, request: Request) -> list[Body]:
        """All of it; what the next replay will take is told with the outcome."""
        engine = self._engines.of(request.owner)
        work = Computation(engine, self._resolver, kind, request, request.deadline)
        pieces = work.finish(request.deadline)
        request.outcome.next_seconds = work.call.seconds
        request.outcome.next_bytes = work.call.answer_bytes
        return pieces
