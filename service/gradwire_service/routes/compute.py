"""``POST /v1/evaluate`` and all that differentiates: raw bodies in, raw bodies out."""

from __future__ import annotations

from contextlib import suppress

from gradwire_engine.answer import Kind
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from gradwire_service import documents
from gradwire_service.capacity import InlineDeadline, TooLongInline
from gradwire_service.library import NotNear
from gradwire_service.parts import Parts
from gradwire_service.routes.batching import Gathering
from gradwire_service.routes.elsewhere import Elsewhere
from gradwire_service.routes.exchange import Exchange
from gradwire_service.routes.raw import RawRoute
from gradwire_service.routes.work import Work, shortness
from gradwire_service.wire.body import Body
from gradwire_service.wire.envelope import FIELDS


class Compute:
    """One kind of computation as an ASGI application."""

    def __init__(self, kind: Kind, parts: Parts, gathering: Gathering | None) -> None:
        self._kind = kind
        self._engines = parts.engines
        self._library = parts.library
        self._capacity = parts.capacity
        self._metrics = parts.metrics
        self._settings = parts.settings
        self._gathering = gathering
        self._short = shortness(parts.settings)
        self._elsewhere = Elsewhere(kind, parts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        x = Exchange(scope, self._settings)
        await self._capacity.enter()
        try:
            await x.receive(receive, self._capacity)
            work = Work(self._engines.of(x.owner), self._library, self._kind, x)
            pieces = await self._pieces(work, x)
        finally:
            self._capacity.leave()
        self._metrics.computed(x.seconds, cached=work.cached)
        if work.nonfinite:
            self._metrics.nonfinite(work.nonfinite)
        await x.respond(send, pieces)

    async def _pieces(self, work: Work, x: Exchange) -> list[Body]:
        """On the event loop where all of it is short, else in a thread or process."""
        if len(x.body) > self._settings.inline_body_bytes:
            return await self._elsewhere.run(work, x, work.whole)
        try:
            work.prepare(waits=False)
        except NotNear:
            return await self._elsewhere.run(work, x, work.whole)
        if self._gathering is not None and work.cached:
            return await self._gathering.pieces(work, x, self._alone)
        return await self._alone(work, x)

    async def _alone(self, work: Work, x: Exchange) -> list[Body]:
        """What was read, by a replay of its own."""
        if work.cached and self._short.covers(work.call):
            with suppress(TooLongInline):
                return work.finish(InlineDeadline())
        return await self._elsewhere.run(work, x, lambda: work.finish(x.deadline))


def routes(parts: Parts) -> list[BaseRoute]:
    """The compute routes, with their documentation."""
    window = parts.settings.batch_window_microseconds
    gathering = Gathering(parts.capacity, parts.metrics, parts.settings) if window else None
    return [
        RawRoute(f"/v1/{kind}", Compute(kind, parts, gathering), **documents.OPERATIONS[kind])
        for kind in FIELDS
    ]
