"""Limits of one request."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.derived import derived
from gradwire_service.settings.memory import (
    default_answer_bytes,
    default_array_bytes,
    default_total_bytes,
)
from gradwire_service.settings.units import MEBIBYTE, Size


class BudgetSettings(BaseModel):
    """Limits of one request."""

    max_body_bytes: Size = Field(
        default=64 * MEBIBYTE, gt=0, description="Largest request body; a larger one is a 413."
    )
    max_total_bytes: Size = Field(
        default_factory=default_total_bytes,
        gt=0,
        description="Most bytes of arrays in memory at once for one request.",
    )
    max_array_bytes: Size = derived(
        "max_total_bytes",
        default_factory=default_array_bytes,
        gt=0,
        description="Largest single array that a program may create.",
    )
    max_answer_bytes: Size = derived(
        "memory_bytes",
        default_factory=default_answer_bytes,
        gt=0,
        description="Most bytes of arrays in one answer; an array that is returned twice counts "
        "twice.",
    )
    max_instructions: int = derived(
        default=300_000, gt=0, description="Most instructions that one request may record."
    )
    max_flops: int = Field(
        default=10**12,
        gt=0,
        description="Most floating-point operations for one request.",
    )
    default_timeout_ms: int = Field(
        default=10_000,
        gt=0,
        description="Timeout of requests that set none, including the time in the queue.",
    )
    max_timeout_ms: int = Field(
        default=60_000, gt=0, description="Longest timeout; longer ones are reduced to it."
    )
