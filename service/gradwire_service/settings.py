"""Every knob of the service, read from ``GRADWIRE_…`` environment variables."""

from __future__ import annotations

import os
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30


def available_cores() -> int:
    """The cores this process may run on, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Settings(BaseSettings):
    """One instance per application; never read as a global."""

    model_config = SettingsConfigDict(env_prefix="GRADWIRE_", frozen=True, extra="ignore")

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(
        default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one."
    )
    log_level: Literal["critical", "error", "warning", "info", "debug"] = Field(
        default="info", description="The least severe level that is logged."
    )

    max_body_bytes: int = Field(
        default=64 * MEBIBYTE, gt=0, description="Largest request body, refused with 413 beyond it."
    )
    max_array_bytes: int = Field(
        default=GIBIBYTE, gt=0, description="Largest single array that a program may make."
    )
    max_total_bytes: int = Field(
        default=4 * GIBIBYTE,
        gt=0,
        description="Most bytes of arrays that one request may hold at once.",
    )
    max_instructions: int = Field(
        default=300_000, gt=0, description="Most instructions that one request may record."
    )
    max_flops: int = Field(
        default=10**12,
        gt=0,
        description="Most floating-point operations that one request may need.",
    )

    block_threads: int = Field(
        default=1,
        gt=0,
        le=256,
        description="Threads that share the blocks of one request's large arrays, each beside "
        "those of other requests.",
    )

    cache_bytes: int = Field(
        default=256 * MEBIBYTE, gt=0, description="Bytes of compiled executables that are kept."
    )

    default_timeout_ms: int = Field(
        default=10_000,
        gt=0,
        description="Time a request has, queueing included, unless it asks otherwise.",
    )
    max_timeout_ms: int = Field(
        default=60_000, gt=0, description="Longest time a request may ask for; more is cut to this."
    )

    store: str = Field(
        default="memory:",
        pattern=r"^(memory:|sqlite:.+)$",
        description="Where tapes, programs and tensors are kept: memory: or sqlite:PATH, which "
        "processes may share, and which programs outlive.",
    )
    tape_ttl_seconds: float = Field(
        default=600, gt=0, description="How long a tape is kept after its last use."
    )
    max_tapes: int = Field(default=10_000, ge=0, description="Most tapes kept at a time.")
    max_tapes_bytes: int = Field(
        default=256 * MEBIBYTE, ge=0, description="Most bytes of the requests that made them."
    )
    max_tapes_per_key: int = Field(
        default=1000,
        ge=0,
        description="Most tapes kept of one API key; without a key all clients are one.",
    )
    max_tapes_bytes_per_key: int = Field(
        default=128 * MEBIBYTE, ge=0, description="Most bytes of the requests that made these."
    )
    tape_values_bytes: int = Field(
        default=256 * MEBIBYTE,
        ge=0,
        description="Bytes of tapes' values that this process keeps, to replay only what follows.",
    )

    max_programs: int = Field(default=10_000, ge=0, description="Most programs kept at a time.")
    max_programs_bytes: int = Field(
        default=256 * MEBIBYTE, ge=0, description="Most bytes of their sources."
    )
    max_programs_per_key: int = Field(
        default=1000, ge=0, description="Most programs kept of one API key, and most names."
    )
    max_programs_bytes_per_key: int = Field(
        default=64 * MEBIBYTE, ge=0, description="Most bytes of the sources of these."
    )
    tensor_ttl_seconds: float = Field(
        default=3600, gt=0, description="How long a tensor is kept after its last use."
    )
    max_tensors: int = Field(
        default=10_000,
        ge=0,
        description="Most tensors kept at a time; then those of whoever has the most make room.",
    )
    max_tensors_bytes: int = Field(default=GIBIBYTE, ge=0, description="Most bytes of them.")
    max_tensors_per_key: int = Field(
        default=1000,
        ge=0,
        description="Most tensors kept of one API key; then those used longest ago make room.",
    )
    max_tensors_bytes_per_key: int = Field(
        default=512 * MEBIBYTE, ge=0, description="Most bytes of these."
    )
    near_bytes: int = Field(
        default=512 * MEBIBYTE,
        ge=0,
        description="Bytes of tensors and programs that this process keeps ready for use.",
    )

    pool_threads: int = Field(
        default_factory=available_cores,
        gt=0,
        description="Threads for work too long for the event loop.",
    )
    blas_threads: int = Field(
        default=1,
        gt=0,
        description="Threads of each matrix product; the pool already uses all cores.",
    )
    queue_requests: int = Field(
        default=256, ge=0, description="Requests that may wait for a thread; beyond them, 503."
    )
    queue_bytes: int = Field(
        default=512 * MEBIBYTE,
        gt=0,
        description="Body bytes that waiting and running requests may hold.",
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

    keep_alive_seconds: int = Field(
        default=75, gt=0, description="How long an idle connection is kept; more than the proxy's."
    )
    drain_seconds: float = Field(
        default=1.0,
        ge=0,
        description="After SIGTERM, how long new work is still taken while readiness is down.",
    )

    @model_validator(mode="after")
    def _timeouts_are_ordered(self) -> Self:
        if self.default_timeout_ms > self.max_timeout_ms:
            raise ValueError("default_timeout_ms must not exceed max_timeout_ms")
        return self
