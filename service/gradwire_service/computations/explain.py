"""Explains a query, from the bytes of a request to those of its answer."""

from __future__ import annotations

from time import perf_counter

from gradwire_engine.explain import explain

from gradwire_service.engines import Engines
from gradwire_service.references import ReferenceResolver
from gradwire_service.tasks.request import COMPILE, PARSE, REPLAY, Request
from gradwire_service.wire.envelope import read_explained
from gradwire_service.wire.explanations import explanation
from gradwire_service.wire.shared import Body


class ExplainHandlers:
    """Handlers of tasks that show how a query is computed: by NumPy, whatever answers others."""

    def __init__(self, engines: Engines, resolver: ReferenceResolver) -> None:
        self._engines = engines
        self._resolver = resolver

    def explain(self, request: Request) -> list[Body]:
        """Explain a query: nothing that it compiles is kept, nor found by later queries."""
        document, poll = request.document, request.deadline
        with request.phase(PARSE):
            references = self._resolver.references(request)
            envelope, timed = read_explained(document, references)
            program = self._engines.of(request.owner).parse(envelope.program, poll)
            request.outcome.program = program.id
        asked = program, envelope.variables, envelope.query, envelope.vectors
        with request.phase(COMPILE):
            clock, limits = perf_counter if timed else None, self._engines.limits
            explained = explain(*asked, limits=limits, clock=clock, poll=poll)
        with request.phase(REPLAY):
            shown = explanation(explained)
        return request.encode(shown, envelope.encoding)
