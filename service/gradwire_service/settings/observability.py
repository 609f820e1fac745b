"""Logs and traces."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from gradwire_service.settings.derived import derived


class ObservabilitySettings(BaseModel):
    """Logs and traces."""

    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info",
        description="The lowest level that is logged. Only `debug` includes the messages of "
        "unexpected errors, which may quote values.",
    )
    log_format: Literal["json", "console"] = Field(
        default="console",
        description="Format of log lines: JSON (the image's default), or human-readable.",
    )
    log_requests: bool = derived(
        "log_level",
        default=True,
        description="Whether each request is logged, at level `info`; requests for health and "
        "metrics at `debug`.",
    )
    log_client_addresses: bool = Field(
        default=False, description="Whether these lines include the client's address."
    )
    otel_endpoint: str | None = Field(
        default=None,
        pattern="^https?://[^@]+$",
        description="Address of an OpenTelemetry collector for traces, `http://collector:4318`. "
        "Needs the extra `otel`.",
    )
    otel_sample_ratio: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="Fraction of requests without a `traceparent` that are traced.",
    )
