"""``/v1/programs/{program}/graph.svg``, ``.dot`` and ``.json``: the graph of a program."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import orjson
from fastapi import APIRouter, Request
from gradwire_engine import Limits, Program
from gradwire_engine.dataflow import Graph, annotate, dataflow
from starlette.datastructures import QueryParams
from starlette.responses import Response
from starlette.types import Scope

from gradwire_service.documents.pictures import PICTURE_OPERATIONS
from gradwire_service.drawings.document import document
from gradwire_service.drawings.dot import dot
from gradwire_service.drawings.svg import svg
from gradwire_service.library import Library
from gradwire_service.parts import Parts
from gradwire_service.problems import Refusal
from gradwire_service.routes.exchange import COMPILE, PARSE
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.settings import Settings
from gradwire_service.wire.body import Body
from gradwire_service.wire.codec import JSON, Encoding, Offer, Writer
from gradwire_service.wire.references import is_digest
from gradwire_service.wire.types import read_types

_ASKED = frozenset({"type", "target", "source"})


class Form(Writer):
    """A form of a graph: its media type, what writes it, and most nodes that it may have."""

    def __init__(
        self, media_type: str, write: Callable[[Graph, Program], bytes], most: int = 2000
    ) -> None:
        self.media_types = (media_type,)
        self.most = most  # more than 2000 are no picture for anybody
        self.offer = Offer((JSON,), (self,))
        self._write = write

    def write(self, document: tuple[Graph, Program], encoding: Encoding | None) -> list[Body]:
        return [self._write(*document)]


#: Of no form has the client a choice but by its path, whatever it accepts.
FORMS = {
    "svg": Form("image/svg+xml", lambda graph, program: svg(graph, program.id).encode()),
    "dot": Form("text/vnd.graphviz; charset=utf-8", lambda graph, _: dot(graph).encode()),
    "json": Form(
        "application/json",
        lambda graph, program: orjson.dumps(document(graph, program.id)),
        most=100_000,
    ),
}
#: A picture that is opened by itself loads nothing and runs nothing.
_POLICY = b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


class PictureExchange(ResourceExchange):
    """One request for a graph."""

    def __init__(self, scope: Scope, settings: Settings, form: Form) -> None:
        self.offer = form.offer
        super().__init__(scope, settings)
        self.further = ((b"content-security-policy", _POLICY),)


class Drawing:
    """What the routes do, each in a thread."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._library = library
        self._limits = limits

    def draw(
        self, x: PictureExchange, reference: str, form: Form, asked: QueryParams
    ) -> list[Body]:
        """The graph of a program in one form."""
        with x.phase(PARSE):
            unknown = sorted(set(asked) - _ASKED)
            if unknown:
                hint = f"known: {', '.join(sorted(_ASKED))}"
                detail = f"the query has an unknown parameter, {unknown[0][:40]}"
                raise Refusal("invalid_request", detail, hint=hint)
            types = read_types(asked.getlist("type"))
            marks = {word: asked.getlist(word) for word in ("target", "source")}
            program = self._program(x, reference)
        with x.phase(COMPILE):
            graph = dataflow(program, types, marks, form.most)
            if types:
                annotate(graph, program, types, self._limits, x.deadline)
        (body,) = x.written((graph, program))
        return [] if x.tag(sha256(body).hexdigest()) else [body]

    def _program(self, x: PictureExchange, reference: str) -> Program:
        references = self._library.references(x)
        program = references.found("programs" if is_digest(reference) else "names", reference)
        references.check()
        assert isinstance(program, Program)
        return program


def router(parts: Parts) -> APIRouter:
    """The routes of graphs."""
    routes = APIRouter(prefix="/v1/programs", tags=["programs"])
    settings = parts.settings
    drawing = Drawing(parts.library, parts.engines.limits)
    desk = Desk(parts.capacity, settings)

    def draws(name: str, form: Form) -> None:
        @routes.get(f"/{{program}}/graph.{name}", **PICTURE_OPERATIONS[name])
        async def draw(request: Request, program: str) -> Response:
            x = PictureExchange(request.scope, settings, form)
            asked = request.query_params
            return await desk.answer(x, request, lambda x: drawing.draw(x, program, form, asked))

    for name, form in FORMS.items():
        draws(name, form)
    return routes
