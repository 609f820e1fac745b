"""``/v1/programs``: programs that are sent once, and then referred to."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from gradwire_service import documents
from gradwire_service.library import Library
from gradwire_service.parts import Parts
from gradwire_service.problems import Refusal
from gradwire_service.programs import Registered
from gradwire_service.routes.exchange import PARSE
from gradwire_service.routes.resources import Desk, ResourceExchange
from gradwire_service.wire.body import Body
from gradwire_service.wire.sources import read_registration

#: Programs of one page, unless a request asks otherwise, and at most.
_PAGE, _MOST_OF_PAGE = 100, 1000


class Answering:
    """What the routes do, each in a thread."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._programs = library.programs

    def register(self, x: ResourceExchange) -> list[Body]:
        """Keep a program."""
        document = x.document
        with x.phase(PARSE):
            asked = read_registration(document, self._library.references(x))
            registered, new = self._programs.put(x.owner, *asked)
        x.made(f"/v1/programs/{registered.id}", new=new)
        return x.written(_shown(registered, asked.name))

    def all(self, x: ResourceExchange, after: str, limit: str) -> list[Body]:
        """A page of the owner's programs."""
        most = _limit(limit)
        found = self._programs.listed(x.owner, after, most + 1)
        page: dict[str, Any] = {"programs": [_shown(registered) for registered in found[:most]]}
        if len(found) > most:
            page["after"] = found[most - 1].id
        return x.written(page)

    def show(self, x: ResourceExchange, reference: str) -> list[Body]:
        """One program."""
        registered = self._programs.find(x.owner, reference)
        return [] if x.tag(_tag(registered)) else x.written(_shown(registered, reference))

    def remove(self, x: ResourceExchange, reference: str) -> list[Body]:
        """Forget a program and its names."""
        self._programs.remove(x.owner, reference)
        x.status = 204
        return []


def router(parts: Parts) -> APIRouter:
    """The routes of programs."""
    routes = APIRouter(prefix="/v1/programs", tags=["programs"])
    settings = parts.settings
    answering, desk = Answering(parts.library), Desk(parts.capacity, settings)

    @routes.post("", **documents.PROGRAM_OPERATIONS["register"])
    async def register(request: Request) -> Response:
        x = ResourceExchange(request.scope, settings)
        return await desk.answer(x, request, answering.register)

    @routes.get("", **documents.PROGRAM_OPERATIONS["all"])
    async def programs(request: Request) -> Response:
        x = ResourceExchange(request.scope, settings)
        asked = request.query_params
        after, limit = asked.get("after", ""), asked.get("limit", str(_PAGE))
        return await desk.answer(x, request, lambda x: answering.all(x, after, limit))

    @routes.get("/{program}", **documents.PROGRAM_OPERATIONS["show"])
    async def show(request: Request, program: str) -> Response:
        x = ResourceExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.show(x, program))

    @routes.delete("/{program}", **documents.PROGRAM_OPERATIONS["remove"])
    async def remove(request: Request, program: str) -> Response:
        x = ResourceExchange(request.scope, settings)
        return await desk.answer(x, request, lambda x: answering.remove(x, program))

    return routes


def _shown(registered: Registered, asked: str | None = None) -> dict[str, Any]:
    """A program as it is told; its ``name`` is the one that was asked by, or the first of all."""
    document: dict[str, Any] = {"id": registered.id}
    if registered.names:
        document["name"] = asked if asked in registered.names else registered.names[0]
    document |= {"names": registered.names, **registered.head}
    if registered.text is not None:
        document["text"] = registered.text
    return document


def _tag(registered: Registered) -> str:
    """The id, and a digest of what may be said of it another time: its names and its text."""
    changing = json.dumps([registered.names, registered.text]).encode()
    return f"{registered.id}-{sha256(changing).hexdigest()[:16]}"


def _limit(text: str) -> int:
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(_MOST_OF_PAGE))
    if digits and 0 < int(text) <= _MOST_OF_PAGE:
        return int(text)
    raise Refusal("invalid_request", f"limit is a number from 1 to {_MOST_OF_PAGE}")
