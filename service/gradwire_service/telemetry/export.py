"""Traces sent to an OpenTelemetry collector, where the settings name one."""

from __future__ import annotations

import asyncio
import secrets
from functools import partial

from starlette.types import ASGIApp

from gradwire_service import __version__
from gradwire_service.settings import Settings
from gradwire_service.settings.starting import NotStarted

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

            from gradwire_service.telemetry.exporters import SpanExporter
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
        self._spans = SpanExporter(f"{endpoint.rstrip('/')}/v1/traces", _SECONDS)
        self._provider.add_span_processor(BatchSpanProcessor(self._spans))
        self._tracing = partial(Tracing, tracer=self._provider.get_tracer("gradwire", __version__))

    def around(self, app: ASGIApp) -> ASGIApp:
        """The application, a span for each of its requests."""
        return self._tracing(app)

    async def close(self) -> None:
        """Send the spans that wait; after a few seconds no more."""
        ending = asyncio.ensure_future(asyncio.to_thread(self._provider.shutdown))
        await asyncio.wait([ending], timeout=_SECONDS)
        self._spans.shutdown()  # which ends its wait
        await ending


def open_export(settings: Settings) -> Export | None:
    """What the settings ask for.

    Raises: ``NotInstalled``.
    """
    if settings.otel_endpoint is None:
        return None
    return Export(settings.otel_endpoint, settings.otel_sample_ratio)
