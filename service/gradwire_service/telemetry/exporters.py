"""OpenTelemetry's exporter, which logs once that a collector is gone, and when it is back."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import monotonic

from opentelemetry.exporter.otlp.proto.http import trace_exporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

logger = logging.getLogger("gradwire")


class Complaints(logging.Filter):
    """Lets each kind of complaint of a logger through once, until all is well again."""

    def __init__(self, source: str, place: str) -> None:
        super().__init__()
        self._logger = logging.getLogger(source)
        self._logger.addFilter(self)
        self._place = place
        self._told: set[object] = set()
        self._since = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        if record.msg in self._told:
            return False
        if not self._told:
            self._since = monotonic()
        self._told.add(record.msg)  # the text before its figures
        return True

    def settle(self) -> None:
        """All is well: what was told may be told again."""
        if self._told:
            self._told = set()
            seconds = monotonic() - self._since
            logger.warning("the collector answers again (%s), after %.1f s", self._place, seconds)

    def close(self) -> None:
        """Leave the logger as it was."""
        self._logger.removeFilter(self)


class SpanExporter(trace_exporter.OTLPSpanExporter):
    """Sends spans."""

    def __init__(self, endpoint: str, timeout: float) -> None:
        super().__init__(endpoint=endpoint, timeout=timeout)
        self._complaints = Complaints(trace_exporter.__name__, endpoint)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send them; what fails is lost."""
        if self._shutdown:  # the library's own says of each batch that it came too late
            return SpanExportResult.FAILURE
        result = super().export(spans)
        if result is SpanExportResult.SUCCESS:
            self._complaints.settle()
        return result

    def shutdown(self) -> None:
        """Give up what is on its way; any number of times."""
        if not self._shutdown:
            super().shutdown()  # type: ignore[no-untyped-call]
            self._complaints.close()
