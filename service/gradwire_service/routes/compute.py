"""``POST /v1/evaluate`` and all that differentiates: raw bodies in, raw bodies out."""

from __future__ import annotations

from gradwire_engine import Engine
from gradwire_engine.answer import Kind
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from gradwire_service import documents
from gradwire_service.capacity import Capacity, InlineDeadline, TooLongInline
from gradwire_service.routes.raw import RawRoute
from gradwire_service.routes.work import Work
from gradwire_service.settings import Settings
from gradwire_service.telemetry import Metrics, server_timing
from gradwire_service.wire.body import read_body
from gradwire_service.wire.codec import Codec, reader_for, writer_for
from gradwire_service.wire.envelope import FIELDS


class Compute:
    """One kind of computation as an ASGI application."""

    def __init__(
        self,
        kind: Kind,
        *,
        engine: Engine,
        capacity: Capacity,
        metrics: Metrics,
        settings: Settings,
    ) -> None:
        self._kind = kind
        self._engine = engine
        self._capacity = capacity
        self._metrics = metrics
        self._settings = settings
        self._inline_seconds = settings.inline_microseconds * 1e-6

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        header = dict(scope["headers"]).get
        reader = reader_for(header(b"content-type", b""), header(b"content-encoding", b""))
        writer = writer_for(header(b"accept", b""), reader)
        work = Work(self._engine, writer, self._settings)
        self._capacity.enter()
        try:
            length = header(b"content-length", b"")
            body = await read_body(receive, length, self._settings.max_body_bytes)
            response = await self._respond(work, body, reader)
        finally:
            self._capacity.leave()
        self._metrics.computed(work.seconds, cached=work.cached)
        for direction in work.answer.nonfinite:
            self._metrics.nonfinite(direction)
        headers = [
            (b"content-type", writer.media_type.encode()),
            (b"content-length", str(len(response)).encode()),
            (b"server-timing", server_timing(work.seconds).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": response})

    async def _respond(self, work: Work, body: bytes, reader: Codec) -> bytes:
        """On the event loop where all of it is short, else in a thread."""
        kind, settings = self._kind, self._settings
        if len(body) > settings.inline_body_bytes:

            def whole() -> bytes:
                work.prepare(body, kind, reader, settings)
                return work.finish(kind, work.deadline)

            return await self._capacity.run(whole, work.deadline, len(body))
        work.prepare(body, kind, reader, settings)
        if work.cached and work.replay_seconds() < self._inline_seconds:
            try:
                return work.finish(kind, InlineDeadline())
            except TooLongInline:
                pass
        return await self._capacity.run(
            lambda: work.finish(kind, work.deadline), work.deadline, len(body)
        )


def routes(
    *, engine: Engine, capacity: Capacity, metrics: Metrics, settings: Settings
) -> list[BaseRoute]:
    """The compute routes, with their documentation."""
    return [
        RawRoute(
            f"/v1/{kind}",
            Compute(kind, engine=engine, capacity=capacity, metrics=metrics, settings=settings),
            **documents.OPERATIONS[kind],
        )
        for kind in FIELDS
    ]
