"""What is sent to an OpenTelemetry collector, where the settings name one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from functools import partial
from time import time_ns

from starlette.types import ASGIApp

from gradwire_service import __version__
from gradwire_service.settings import Settings
from gradwire_service.settings.starting import NotStarted
from gradwire_service.telemetry.exposition import Exposition

#: How long a collector may take to receive something; so long it may delay the service's end.
_SECONDS = 3


class NotInstalled(NotStarted):
    """The settings ask for what is not installed."""


class Export:
    """Sends spans from a thread of its own; a collector that does not answer loses them.

    Raises: ``NotInstalled``.
    """

    def __init__(self, endpoint: str, sample_ratio: float) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

            from gradwire_service.telemetry.exporters import MetricExporter, SpanExporter
            from gradwire_service.telemetry.pushing import figures
            from gradwire_service.telemetry.tracing import Tracing
        except ImportError as error:
            raise NotInstalled(
                "GRADWIRE_OTEL_ENDPOINT is set, but OpenTelemetry is not installed: "
                "pip install 'gradwire-server[otel]', or leave it out"
            ) from error
        resource = Resource.create(
            {
                "service.name": "gradwire",
                "service.version": __version__,
                "service.instance.id": secrets.token_hex(8),
            }
        )
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(sample_ratio)),
            resource=resource,
            shutdown_on_exit=False,
        )
        to = endpoint.rstrip("/")
        self._spans = SpanExporter(f"{to}/v1/traces", _SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(self._spans))
        self._tracing = partial(Tracing, tracer=self._provider.get_tracer("gradwire", __version__))
        self._metrics = MetricExporter(f"{to}/v1/metrics", _SECONDS)
        self._figures = partial(figures, resource=resource, started_ns=time_ns())

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, a span for each of its requests."""
        return self._tracing(app)

    async def push(self, exposition: Exposition) -> None:
        """Send the metrics as they are now."""
        await exposition.refresh()
        await asyncio.to_thread(lambda: self._metrics.export(self._figures(exposition.registry)))

    async def close(self, *last: Awaitable[None]) -> None:
        """Send the spans that wait, while ``last`` is done; after a few seconds no more."""
        ends = [asyncio.to_thread(self._provider.shutdown), *last]
        tasks = [asyncio.ensure_future(end) for end in ends]
        await asyncio.wait(tasks, timeout=_SECONDS)
        self._spans.shutdown()  # which ends the waits of what is late
        self._metrics.shutdown()
        await asyncio.gather(*tasks)


def open_export(settings: Settings) -> Export | None:
    """What the settings ask for.

    Raises: ``NotInstalled``.
    """
    if settings.otel_endpoint is None:
        return None
    return Export(settings.otel_endpoint, settings.otel_sample_ratio)


@asynccontextmanager
async def exporting(
    export: Export | None, exposition: Exposition, seconds: float
) -> AsyncIterator[None]:
    """Until the end, send the metrics every so many ``seconds``, and at last what waits."""
    if export is None:
        yield
        return

    async def push_again_and_again() -> None:
        while True:
            await asyncio.sleep(seconds)
            await export.push(exposition)

    pushing = asyncio.create_task(push_again_and_again()) if seconds else None
    try:
        yield
    finally:
        if pushing is None:
            await export.close()
        else:
            pushing.cancel()
            with suppress(asyncio.CancelledError):
                await pushing
            await export.close(export.push(exposition))
