"""What is kept between requests: where, how much and how long."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.units import GIBIBYTE, MEBIBYTE


class Keeping(BaseModel):
    """What is kept between requests: where, how much and how long."""

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
