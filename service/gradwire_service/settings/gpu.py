"""Computations on a GPU."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from gradwire_service.settings.derived import derived
from gradwire_service.settings.units import Size


class GpuSettings(BaseModel):
    """Computations on a GPU."""

    backend: Literal["numpy", "cupy"] = Field(
        default="numpy",
        description="What computes: NumPy, with machine code where it is available; or `cupy`, in "
        "addition to that an NVIDIA GPU, in a process of its own. It needs the extra `cuda13` or "
        "`cuda12`, and worker processes. `/readyz` is 503 until the GPU is warm; without a GPU, or "
        "when the GPU is lost, the service logs why and ends with status 1.",
    )
    gpu_bytes: Size = Field(
        default=0,
        ge=0,
        description="Memory of the GPU for arrays; a request that finds too little is a 503. "
        "0 takes most of what is free. The process for requests and that for optimisations may "
        "each take so much.",
    )
    gpu_placement: Literal["auto", "always"] = derived(
        default="auto",
        description="Which computations run on the GPU: those that are expected to take less time "
        "there, by the costs measured at start and by earlier calls; or all.",
    )
    gpu_matmul_precision: Literal["float32", "tensorfloat32"] = Field(
        default="float32",
        description="What the GPU may round the factors to where float32 and complex64 matrices "
        "are multiplied: `tensorfloat32` keeps 11 of 24 binary digits, and is up to six times as "
        "fast. Sums are float32's.",
    )
    gpu_redirect_flops: int = Field(
        default=0,
        ge=0,
        description="Behind the nginx of `deploy/nginx`, a replica without a GPU redirects "
        "computations of at least so many floating-point operations to replicas with one. 0 "
        "redirects nothing.",
    )
