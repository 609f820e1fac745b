"""A GPU in the process that computes on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple, TypeAlias

import gradwire_gpu
from gradwire_engine.backends.base import Backend

from gradwire_service.scheduling.placement import Device
from gradwire_service.settings import Settings


class OpenedGpu(NamedTuple):
    """The backend, its device, and a function that reads the used bytes of the device."""

    backend: Backend
    device: Device
    used_bytes: Callable[[], int]


#: Compiles a tenant's texts for the GPU, or finds what another process has compiled.
Compile: TypeAlias = Callable[[Sequence[str], str], Sequence[bytes]]
#: Opens the GPU in its process; so it can be pickled.
OpenGpu: TypeAlias = Callable[[Settings, Compile], OpenedGpu]


def open_gpu(settings: Settings, compile_texts: Compile) -> OpenedGpu:
    """Open the GPU and measure what it costs.

    Raises: ``GpuUnavailable``, ``GpuLost``.
    """
    backend = gradwire_gpu.gpu_backend(
        settings.gpu_bytes or None, compile_texts, matmul_precision=settings.gpu_matmul_precision
    )
    found = gradwire_gpu.describe(backend)

    def used_bytes() -> int:
        now = gradwire_gpu.describe(backend)
        return now.memory_bytes - now.free_bytes

    room_bytes = settings.gpu_bytes or found.free_bytes
    return OpenedGpu(
        backend,
        Device(found, gradwire_gpu.crossover(backend, perf_counter), room_bytes),
        used_bytes,
    )
