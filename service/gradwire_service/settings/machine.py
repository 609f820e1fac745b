"""The share of the machine that the service may use."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gradwire_service.settings.memory import LEAST_PROCESS_BYTES, available_bytes, available_cores
from gradwire_service.settings.units import Size


class MachineSettings(BaseModel):
    """The share of the machine that the service may use."""

    memory_bytes: Size = Field(
        default_factory=available_bytes,
        ge=2 * LEAST_PROCESS_BYTES,
        description="Memory of the service with all its processes, for which caches, queues and "
        "limits are sized. Set it where several replicas share a machine without containers.",
    )
    cores: int = Field(
        default_factory=available_cores,
        gt=0,
        description="Computations that may run at the same time; one that has run for a quarter of "
        "a second no longer counts.",
    )
