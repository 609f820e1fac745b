"""What one request may take."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.units import GIBIBYTE, MEBIBYTE, Size


class Budgets(BaseModel):
    """What one request may take."""

    max_body_bytes: Size = Field(
        default=64 * MEBIBYTE, gt=0, description="Largest request body, refused with 413 beyond it."
    )
    max_array_bytes: Size = Field(
        default=GIBIBYTE, gt=0, description="Largest single array that a program may make."
    )
    max_total_bytes: Size = Field(
        default=4 * GIBIBYTE,
        gt=0,
        description="Most bytes of arrays that one request may hold at once.",
    )
    max_answer_bytes: Size = Field(
        default=GIBIBYTE,
        gt=0,
        description="Most bytes of arrays in one answer, each as often as it is named.",
    )
    max_instructions: int = Field(
        default=300_000, gt=0, description="Most instructions that one request may record."
    )
    max_flops: int = Field(
        default=10**12,
        gt=0,
        description="Most floating-point operations that one request may need.",
    )
    default_timeout_ms: int = Field(
        default=10_000,
        gt=0,
        description="Time a request has, queueing included, unless it asks otherwise.",
    )
    max_timeout_ms: int = Field(
        default=60_000, gt=0, description="Longest time a request may ask for; more is cut to this."
    )
