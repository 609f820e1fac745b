"""The graph of a program, as SVG, DOT and JSON."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from urllib.parse import parse_qs

import orjson
from gradwire_engine import Limits, Program
from gradwire_engine.dataflow import Graph, annotate, dataflow

from gradwire_service.graphs.document import document
from gradwire_service.graphs.dot import dot
from gradwire_service.graphs.svg import svg
from gradwire_service.problems import RequestError
from gradwire_service.references import ReferenceResolver
from gradwire_service.tasks.request import COMPILE, PARSE, Request
from gradwire_service.wire.codec import JSON, Encoding, Offer, Writer
from gradwire_service.wire.references import is_digest
from gradwire_service.wire.shared import Body
from gradwire_service.wire.types import read_types

_PARAMETERS = frozenset({"type", "target", "source"})


class Form(Writer):
    """A format of graphs: its media type, its writer, and its maximum of nodes."""

    def __init__(
        self, media_type: str, write: Callable[[Graph, Program], bytes], most: int = 2000
    ) -> None:
        self.media_types = (media_type,)
        self.most = most  # a picture of more than 2000 is unreadable
        self.offer = Offer((JSON,), (self,))
        self._write = write

    def write(self, document: tuple[Graph, Program], encoding: Encoding | None) -> list[Body]:
        return [self._write(*document)]


#: The path alone selects the format, whatever the client accepts.
FORMS = {
    "svg": Form("image/svg+xml", lambda graph, program: svg(graph, program.id).encode()),
    "dot": Form("text/vnd.graphviz; charset=utf-8", lambda graph, _: dot(graph).encode()),
    "json": Form(
        "application/json",
        lambda graph, program: orjson.dumps(document(graph, program.id)),
        most=100_000,
    ),
}
#: A picture opened on its own loads nothing and runs no scripts.
_POLICY = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class PictureHandlers:
    """Handlers of tasks on graphs."""

    def __init__(self, resolver: ReferenceResolver, limits: Limits) -> None:
        self._resolver = resolver
        self._limits = limits

    def draw(self, form: Form, request: Request, reference: str, query: str) -> list[Body]:
        """Draw the graph of a program in one format."""
        parameters = parse_qs(query, keep_blank_values=True)
        request.add((b"content-security-policy", _POLICY))
        with request.phase(PARSE):
            unknown = sorted(set(parameters) - _PARAMETERS)
            if unknown:
                hint = f"known: {', '.join(sorted(_PARAMETERS))}"
                detail = f"the query has an unknown parameter, {unknown[0][:40]}"
                raise RequestError("invalid_request", detail, hint=hint)
            types = read_types(parameters.get("type", ()))
            marks = {word: parameters.get(word, []) for word in ("target", "source")}
            program = self._program(request, reference)
        with request.phase(COMPILE):
            graph = dataflow(program, types, marks, form.most)
            if types:
                annotate(graph, program, types, self._limits, request.deadline)
        (body,) = request.encode((graph, program))
        return [] if request.set_etag(sha256(body).hexdigest()) else [body]

    def _program(self, request: Request, reference: str) -> Program:
        references = self._resolver.references(request)
        program = references.find("programs" if is_digest(reference) else "names", reference)
        references.check()
        assert isinstance(program, Program)
        return program
