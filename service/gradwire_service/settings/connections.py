"""What a connection may take, and how slow its client may be."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.units import KIBIBYTE, MEBIBYTE, Size


class Connections(BaseModel):
    """What a connection may take, and how slow its client may be."""

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
        description="Most bytes of bodies that are still arriving, of all connections; beyond "
        "them, 503.",
    )
    max_leaving_bytes: Size = Field(
        default=256 * MEBIBYTE,
        gt=0,
        description="Most bytes of answers that wait for their clients to take them, of all "
        "connections; beyond them, those who take them slowest are cut.",
    )
    header_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="How long the headers of a request may take, and a new connection's first "
        "byte; then 408.",
    )
    body_timeout_seconds: float = Field(
        default=10.0,
        gt=0,
        description="In each such time a body must bring as much as min_bytes_per_second asks "
        "for; else 408.",
    )
    send_timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="In each such time a client must take so much of its answer; else the "
        "connection is cut.",
    )
    min_bytes_per_second: Size = Field(
        default=1000, ge=0, description="Least speed of bodies and of answers."
    )
