"""Stored programs, which requests refer to."""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from typing import Any

from gradwire_service.programs.stored import StoredProgram
from gradwire_service.references import ReferenceResolver
from gradwire_service.tasks.pages import page
from gradwire_service.tasks.request import PARSE, Request
from gradwire_service.wire.shared import Body
from gradwire_service.wire.sources import read_registration


class ProgramHandlers:
    """Handlers of tasks on programs."""

    def __init__(self, resolver: ReferenceResolver) -> None:
        self._resolver = resolver
        self._programs = resolver.programs

    def register(self, request: Request) -> list[Body]:
        """Store a program."""
        document = request.document
        with request.phase(PARSE):
            registration = read_registration(document, self._resolver.references(request))
            stored, new = self._programs.put(request.owner, *registration)
        request.set_location(f"/v1/programs/{stored.id}", new=new)
        return request.encode(_shown(stored, registration.name))

    def all(self, request: Request, after: str, limit: str) -> list[Body]:
        """List a page of the owner's programs."""
        first = partial(self._programs.listed, request.owner, after)
        return request.encode(page("programs", limit, first, _shown))

    def show(self, request: Request, reference: str) -> list[Body]:
        """Show one program."""
        stored = self._programs.find(request.owner, reference)
        return [] if request.set_etag(_tag(stored)) else request.encode(_shown(stored, reference))

    def remove(self, request: Request, reference: str) -> list[Body]:
        """Delete a program and its names."""
        self._programs.remove(request.owner, reference)
        request.outcome.status = 204
        return []


def _shown(stored: StoredProgram, requested: str | None = None) -> dict[str, Any]:
    """The document of a program; its ``name`` is the requested one, or else its first."""
    document: dict[str, Any] = {"id": stored.id}
    if stored.names:
        document["name"] = requested if requested in stored.names else stored.names[0]
    document |= {"names": stored.names, **stored.head}
    if stored.text is not None:
        document["text"] = stored.text
    return document


def _tag(stored: StoredProgram) -> str:
    """The entity tag: the id, and a digest of what may change: names and text."""
    changing = json.dumps([stored.names, stored.text]).encode()
    return f"{stored.id}-{sha256(changing).hexdigest()[:16]}"
