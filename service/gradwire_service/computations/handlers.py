"""``evaluate`` and the derivatives, from the bytes of a request to those of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from gradwire_engine import Engine
from gradwire_engine.answer import Answer, Kind, Poll

from gradwire_service.cluster.cluster import Cluster
from gradwire_service.computations.redirects import GPU, PATIENT, Redirects
from gradwire_service.engines import Engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.scheduling import TooLongInline
from gradwire_service.scheduling.placement import Cost
from gradwire_service.tasks.request import COMPILE, PARSE, REPLAY, Request
from gradwire_service.tensors.handlers import tensor_document
from gradwire_service.wire import replies
from gradwire_service.wire.arrays_in import Array
from gradwire_service.wire.envelope import read_envelope
from gradwire_service.wire.result_references import with_references
from gradwire_service.wire.shared import Body

#: The most parts of a body, and characters of a program that is new, that are read on the event
#: loop: each takes some 2 ms.
INLINE_PARTS, INLINE_TEXT = 1000, 2500


class UnreadText(TooLongInline):
    """The text of a program is new, and too long to be parsed on the event loop."""

    def __init__(self, text: str) -> None:
        super().__init__("the program is long")
        self.text = text


class Computation:
    """A parsed request, with its program and its call.

    Raises: where not ``blocking``, ``WouldBlock`` if the store would have to be read,
    ``TooLongInline`` if there is much to read, ``UnreadText``. ``finish`` may
    be stopped by its poll and called again: evaluations have no side effects.
    """

    __slots__ = (
        "_encoding",
        "_keep",
        "_kind",
        "_program_id",
        "_release",
        "_results",
        "call",
        "refers",
        "request",
    )

    def __init__(
        self,
        engine: Engine,
        resolver: ReferenceResolver,
        kind: Kind,
        request: Request,
        poll: Poll,
        *,
        blocking: bool = True,
    ) -> None:
        document = request.document if blocking else request.short_document(INLINE_PARTS)
        start = perf_counter()
        references = resolver.references(request, blocking=blocking)
        envelope = read_envelope(document, kind, references)
        source = envelope.program
        if not blocking and isinstance(source, str) and len(source) > INLINE_TEXT:
            _check_read(engine, source)
        program = engine.parse(source, poll)
        self.call = engine.call(
            program, envelope.variables, envelope.query, vectors=envelope.vectors
        )
        self.request = request
        #: Whether the request refers to anything that is stored.
        self.refers = references.used
        self._kind = kind
        self._program_id = request.outcome.program = program.id
        self._encoding = envelope.encoding
        self._keep, self._release = envelope.keep, envelope.release
        self._results = resolver.results
        request.outcome.cached = self.call.compiled
        request.outcome.phases[PARSE] += perf_counter() - start

    @property
    def changes_store(self) -> bool:
        """True if the answer leaves results in the store, or deletes some: both may block."""
        return bool(self._keep or self._release)

    def compile(self, poll: Poll) -> None:
        """Compile if necessary."""
        start = perf_counter()
        self.call.compile(poll)
        self.request.outcome.phases[COMPILE] += perf_counter() - start

    def finish(self, poll: Poll, cluster: Cluster | None = None) -> list[Body]:
        """Compile if necessary, replay, and write the response. A ``cluster`` shares long work."""
        self.compile(poll)
        call, compiled = self.call, perf_counter()
        answer = None if cluster is None else cluster.batch(call, self.request.owner, poll)
        if answer is None:
            answer = call.replay(poll)
        return self.encode(answer, perf_counter() - compiled)

    def encode(self, answer: Answer, seconds: float) -> list[Body]:
        """Write the response of a replay that took ``seconds``."""
        outcome = self.request.outcome
        outcome.nonfinite = tuple(answer.nonfinite)
        outcome.phases[REPLAY] = seconds
        reply = replies.evaluation if self._kind == "evaluate" else replies.derivative
        document = reply(self._program_id, answer)
        if self.changes_store:
            document = with_references(document, self._keep, self._exchange)
        return self.request.encode(document, self._encoding)

    def _exchange(self, arrays: Sequence[Array]) -> list[dict[str, Any] | None]:
        """Store arrays, and delete the results that the client does not need any more."""
        stored = self._results.exchange(self.request.owner, self._release, arrays)
        return [
            None if result is None else tensor_document(result, array.nbytes)
            for result, array in zip(stored, arrays, strict=True)
        ]


def _check_read(engine: Engine, text: str) -> None:
    if not engine.remembers(text):
        raise UnreadText(text)


class ComputeHandlers:
    """Computations in an executor, where they may take long."""

    def __init__(
        self,
        engines: Engines,
        resolver: ReferenceResolver,
        cluster: Cluster,
        redirects: Redirects,
    ) -> None:
        self._engines = engines
        self._resolver = resolver
        self._cluster = cluster
        self._redirects = redirects

    def compute(self, kind: Kind, request: Request) -> list[Body]:
        """Run a computation, or redirect its request: to a GPU, or to where nginx waits for long.

        The outcome of what was computed has the expected cost of the next replay.
        """
        engine = self._engines.of(request.owner)
        work = Computation(engine, self._resolver, kind, request, request.deadline)
        if not work.changes_store and self._redirects.allowed(request, refers=work.refers):
            work.compile(request.deadline)
            if self._redirects.pays(work.call):
                request.redirect(GPU)
                return []
        if self._redirects.takes_long(request):
            request.redirect(PATIENT)
            return []
        pieces = work.finish(request.deadline, self._cluster)
        call, outcome = work.call, request.outcome
        outcome.next_seconds = call.seconds
        outcome.next_bytes = call.answer_bytes
        outcome.cost = Cost(call.flops, call.input_bytes, call.answer_bytes, call.peak_bytes)
        outcome.hosted = tuple(call.hosted)
        return pieces
