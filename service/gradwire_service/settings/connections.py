"""Limits of connections, and of slow clients."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.derived import derived
from gradwire_service.settings.memory import Same, default_leaving_bytes, default_queue_bytes
from gradwire_service.settings.units import KIBIBYTE, Size


class ConnectionSettings(BaseModel):
    """Limits of connections, and of slow clients."""

    max_connections: int = Field(
        default=1000, gt=0, description="Most connections at a time; others are a 503."
    )
    max_head_bytes: Size = derived(
        default=32 * KIBIBYTE,
        gt=0,
        description="Most bytes of a request's headers, and of its trailers; more are a 431.",
    )
    max_headers: int = derived(
        default=100, gt=0, description="Most headers of a request; more are a 431."
    )
    max_target_bytes: Size = derived(
        default=8 * KIBIBYTE, gt=0, description="Longest path with query; a longer one is a 414."
    )
    queue_bytes: Size = derived(
        "memory_bytes",
        default_factory=default_queue_bytes,
        gt=0,
        description="Most bytes of the bodies of waiting and running requests.",
    )
    max_arriving_bytes: Size = derived(
        "memory_bytes",
        default_factory=Same("queue_bytes"),
        gt=0,
        description="Most bytes of request bodies in transfer, over all connections; more are a "
        "503.",
    )
    max_leaving_bytes: Size = derived(
        "memory_bytes",
        default_factory=default_leaving_bytes,
        gt=0,
        description="Most bytes of answers in transfer, over all connections; above it, the "
        "slowest connections are closed.",
    )
    header_timeout_seconds: float = derived(
        default=10.0,
        gt=0,
        description="Timeout for the headers of a request and for the first byte of a connection; "
        "then 408.",
    )
    body_timeout_seconds: float = derived(
        default=10.0,
        gt=0,
        description="Interval over which the speed of a body is measured; below "
        "GRADWIRE_MIN_BYTES_PER_SECOND, it is a 408.",
    )
    send_timeout_seconds: float = derived(
        default=30.0,
        gt=0,
        description="The same for an answer that a client receives; below that speed, the "
        "connection is closed.",
    )
    min_bytes_per_second: Size = derived(
        default=1000, ge=0, description="Least speed of bodies and answers."
    )
