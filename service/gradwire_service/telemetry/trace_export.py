"""Traces sent to an OpenTelemetry collector, where the settings name one."""

from __future__ import annotations

import asyncio
import secrets
from functools import partial

from starlette.types import ASGIApp

from gradwire_service import __version__
from gradwire_service.settings import Settings
from gradwire_service.settings.errors import StartupError

#: The longest that a collector may take, and that it may delay the end of the service.
_SECONDS = 3


class ExtraNotInstalled(StartupError):
    """The settings need an extra that is not installed."""


class TraceExport:
    """Sends spans from a thread of its own; a collector that does not answer loses them.

    Raises: ``ExtraNotInstalled``.
    """

    def __init__(self, endpoint: str, sample_ratio: float) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

            from gradwire_service.telemetry.tracing import Tracing
        except ImportError as error:
            raise ExtraNotInstalled(
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
        self._exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=_SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracing = partial(Tracing, tracer=self._provider.get_tracer("gradwire", __version__))

    def around(self, app: ASGIApp) -> ASGIApp:
        """Middleware that makes a span for each request."""
        return self._tracing(app)

    async def close(self) -> None:
        """Send the queued spans; give up after a few seconds."""
        ending = asyncio.ensure_future(asyncio.to_thread(self._provider.shutdown))
        _, late = await asyncio.wait([ending], timeout=_SECONDS)
        if late:
            self._exporter.shutdown()  # type: ignore[no-untyped-call] # ends its retries
        await ending


def open_trace_export(settings: Settings) -> TraceExport | None:
    """An export where the settings name a collector.

    Raises: ``ExtraNotInstalled``.
    """
    if settings.otel_endpoint is None:
        return None
    return TraceExport(settings.otel_endpoint, settings.otel_sample_ratio)
