"""The entry to GPUs: the backend, what it says of its device, and what the device costs.

Importing this module imports no CUDA. A process that has called ``gpu_backend`` must not be forked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from gradwire_engine.backends.base import Backend
from gradwire_engine.backends.devices import (
    GpuLost,
    GpuUnavailable,
    MatmulPrecision,
    OutOfGpuMemory,
)

__all__ = [
    "Crossover",
    "GpuDevice",
    "GpuLost",
    "GpuUnavailable",
    "MatmulPrecision",
    "OutOfGpuMemory",
    "compile_texts",
    "crossover",
    "describe",
    "gpu_backend",
    "key_of",
]


class GpuDevice(NamedTuple):
    """A GPU: its memory in all, and how much of that is free now."""

    name: str
    memory_bytes: int
    free_bytes: int
    compute_capability: str
    #: What factors of products of single precision are rounded to.
    matmul_precision: str


class Crossover(NamedTuple):
    """The costs of a replay on the GPU, as measured on this machine.

    A replay takes ``launch_seconds`` if it computes nothing, and beside it the bytes of its inputs
    and answers at these rates, and its arithmetic at ``flops_per_second``, that of elementwise
    formulas. Such a formula of more than so many ``elements`` takes less time than on the host.
    """

    launch_seconds: float
    bytes_per_second_in: float
    bytes_per_second_out: float
    flops_per_second: float
    elements: int


def gpu_backend(
    memory_bytes: int | None = None,
    compile_texts: Callable[[Sequence[str], str], Sequence[bytes]] | None = None,
    *,
    matmul_precision: MatmulPrecision = "float32",
    stay: bool = False,
) -> Backend:
    """A backend that computes on the GPU, and on the host what has no form for GPUs.

    Arrays take up to ``memory_bytes`` of the GPU's memory, by default most of what is free.
    ``compile_texts`` makes PTX of texts in LLVM's intermediate representation and of the tenant
    whose they are, and may keep it for another process; by default it is the function below.
    Products of matrices of single precision are computed from factors rounded to another
    ``matmul_precision`` if that is asked for, and summed in single precision.
    Outputs ``stay`` on the device as CuPy's arrays, if that is asked for; variables may be such in
    any case. Of outputs of a megabyte and more the device keeps a copy as long as they live, so
    these cannot be written to. Its replays may raise ``GpuLost`` and ``OutOfGpuMemory``; its
    executables name operations on the host, ``Executable.hosted``.
    Raises: ``GpuUnavailable`` without CuPy, the extras ``cuda13`` and ``cuda12``, or a device.
    """
    try:
        module = import_module("gradwire_gpu.cupy.backend")
    except ImportError as error:
        raise GpuUnavailable(f"CuPy cannot be imported: {error}") from error
    backend: Backend = module.CupyBackend(
        memory_bytes, compile_texts, matmul_precision=matmul_precision, stay=stay
    )
    return backend


def key_of(text: str) -> bytes:
    """Equal for texts of which a compiler like this one makes the same PTX."""
    from gradwire_gpu.nvptx import compiler

    return compiler.key_of(text)


def compile_texts(texts: Sequence[str]) -> Sequence[bytes]:
    """The PTX of each text, made in this process; it needs no GPU."""
    from gradwire_gpu.nvptx import compiler

    return compiler.compile_here(texts)


def describe(backend: Backend) -> GpuDevice:
    """The device of such a backend.

    Raises: ``GpuLost``.
    """
    return GpuDevice(*backend.describe())  # type: ignore[attr-defined]


def crossover(backend: Backend, clock: Callable[[], float]) -> Crossover:
    """Measure the costs of such a device by a ``clock`` of seconds, which takes about one.

    Raises: ``GpuLost``.
    """
    return Crossover(*backend.crossover(clock))  # type: ignore[attr-defined]
