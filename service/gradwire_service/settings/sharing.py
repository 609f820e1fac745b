"""How requests share the machine."""

from __future__ import annotations

import os

from pydantic import BaseModel, Field

from gradwire_service.settings.units import MEBIBYTE


def available_cores() -> int:
    """The cores this process may run on, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Sharing(BaseModel):
    """How requests share the machine."""

    pool_threads: int = Field(
        default_factory=available_cores,
        gt=0,
        description="Threads for work too long for the event loop.",
    )
    processes: int = Field(
        default=0,
        ge=0,
        le=1024,
        description="Processes for computations too long for the event loop, each with an engine "
        "and a cache of its own, one more to be ready, and up to twice as many while some "
        "are held up; 0 for none, then all run in threads. Worth it where programs compute with "
        "many numbers one by one: these hold the interpreter's lock. They need a folder for "
        "temporary files.",
    )
    process_body_bytes: int = Field(
        default=MEBIBYTE,
        gt=0,
        description="Body size up to which a computation is handed to a process.",
    )
    blas_threads: int = Field(
        default=1,
        gt=0,
        description="Threads of each matrix product; the pool already uses all cores.",
    )
    block_threads: int = Field(
        default=1,
        gt=0,
        le=256,
        description="Threads that share the blocks of one request's large arrays, each beside "
        "those of other requests.",
    )
    queue_requests: int = Field(
        default=256, ge=0, description="Requests that may wait for a thread; beyond them, 503."
    )
    queue_bytes: int = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Body bytes that waiting and running requests may hold.",
    )
    queue_seconds: float = Field(
        default=5.0,
        gt=0,
        description="How long a request may wait for a thread, or is expected to; beyond it, 503.",
    )
    paused_bytes: int = Field(
        default=256 * MEBIBYTE,
        ge=0,
        description="Bytes of arrays that requests may hold while others go first; what would "
        "hold more is not paused for what has not begun.",
    )
    inline_microseconds: int = Field(
        default=200,
        ge=0,
        description="Predicted replay time up to which work runs on the event loop.",
    )
    inline_body_bytes: int = Field(
        default=64 * 1024,
        ge=0,
        description="Body size up to which a request is read on the event loop.",
    )
    batch_window_microseconds: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="How long a request may wait for others of its program and types, to be "
        "answered with them by one replay; 0 for never. Worth it where many clients at once ask "
        "for replays of hundreds of operations on small arrays. Event loops count in milliseconds.",
    )
    batch_requests: int = Field(
        default=64, ge=2, le=1024, description="Most requests that are answered by one replay."
    )
    cache_bytes: int = Field(
        default=256 * MEBIBYTE, gt=0, description="Bytes of compiled executables that are kept."
    )
