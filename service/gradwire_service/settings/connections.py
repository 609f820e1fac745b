"""Limits of connections, and of slow clients."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.units import KIBIBYTE, MEBIBYTE, Size


class ConnectionSettings(BaseModel):
    """Limits of connections, and of slow clients."""

    max_connections: int = Field(
        default=1000, gt=0, description="Most connections at a time; beyond them, 503."
    )
    max_head_bytes: Size = Field(
        default=32 * KIBIBYTE,
        gt=0,
        description="Most bytes of a request's headers, and of its trailers; beyond them, 431.",
    )
    max_headers: int = Field(
        default=100, gt=0, description="Most headers of a request; beyond them, 431."
    )
    max_target_bytes: Size = Field(
        default=8 * KIBIBYTE, gt=0, description="Longest path with query; beyond it, 414."
    )
    max_arriving_bytes: Size = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Most bytes of bodies that are being received, over all connections; beyond "
        "them, 503.",
    )
    max_leaving_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes of answers that wait for their clients, over all connections; "
        "beyond them, the slowest connections are closed.",
    )
    header_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Timeout of the headers of a request and of the first byte of a connection; "
        "then 408.",
    )
    body_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="Interval in which a body must make the progress that min_bytes_per_second "
        "demands; else 408.",
    )
    send_timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Interval in which a client must take as much of its answer; else the "
        "connection is closed.",
    )
    min_bytes_per_second: Size = Field(
        default=1000, ge=0, description="Least speed of bodies and answers."
    )
