"""Limits of connections, and of slow clients."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.units import KIBIBYTE, MEBIBYTE, Size


class ConnectionSettings(BaseModel):
    """Limits of connections, and of slow clients."""

    max_connections: int = Field(
        default=1000, gt=0, description="Most connections at a time; others are a 503."
    )
    max_head_bytes: Size = Field(
        default=32 * KIBIBYTE,
        gt=0,
        description="Most bytes of a request's headers, and of its trailers; more are a 431.",
    )
    max_headers: int = Field(
        default=100, gt=0, description="Most headers of a request; more are a 431."
    )
    max_target_bytes: Size = Field(
        default=8 * KIBIBYTE, gt=0, description="Longest path with query; a longer one is a 414."
    )
    max_arriving_bytes: Size = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Most bytes of request bodies in transfer, over all connections; more are a "
        "503.",
    )
    max_leaving_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes of answers in transfer, over all connections; above it, the "
        "slowest connections are closed.",
    )
    header_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Timeout for the headers of a request and for the first byte of a connection; "
        "then 408.",
    )
    body_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Interval over which the speed of a body is measured; below "
        "GRADWIRE_MIN_BYTES_PER_SECOND, it is a 408.",
    )
    send_timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="The same for an answer that a client receives; below that speed, the "
        "connection is closed.",
    )
    min_bytes_per_second: Size = Field(
        default=1000, ge=0, description="Least speed of bodies and answers."
    )
