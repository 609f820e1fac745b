"""Requests about what is kept: each is answered in a thread, where the store may be waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.requests import Request

from gradwire_service.capacity import Capacity
from gradwire_service.routes.exchange import Exchange, Header, Reply
from gradwire_service.settings import Settings
from gradwire_service.wire.body import Body


class ResourceExchange(Exchange):
    """One request about a resource, of which the work decides the response's status and headers."""

    status = 200
    further: tuple[Header, ...] = ()

    def has(self, id: str) -> bool:
        """Whether the client has the resource that bears the tag of ``id`` already."""
        known = self._header(b"if-none-match", b"").decode("latin-1")
        return f'"{id}"' in known or known.strip() == "*"

    def tag(self, id: str) -> bool:
        """Give the response the tag of ``id``; whether the client has what bears it (304).

        The tag is weak: it is that of what a resource means, in whatever form it is sent.
        """
        self.further = (*self.further, (b"etag", f'W/"{id}"'.encode()), (b"vary", b"accept"))
        unchanged = self.has(id)
        if unchanged:
            self.status = 304
        return unchanged

    def made(self, location: str, *, new: bool) -> None:
        """Say that a resource is there, and where."""
        if new:
            self.status = 201
            self.further = (*self.further, (b"location", location.encode()))


AnyExchange = TypeVar("AnyExchange", bound=ResourceExchange)


class Desk:
    """Takes requests in, has them worked on in threads, and gives their replies."""

    def __init__(self, capacity: Capacity, settings: Settings) -> None:
        self._capacity = capacity
        self._settings = settings

    async def answer(
        self, x: AnyExchange, request: Request, work: Callable[[AnyExchange], list[Body]]
    ) -> Reply:
        """The reply that ``work`` gives."""
        capacity = self._capacity
        await capacity.enter()
        try:
            await x.receive(request.receive, capacity)
            pieces = await x.run(capacity.threads, lambda: work(x))
        finally:
            capacity.leave()
        return Reply(x, pieces, x.status, x.further)
