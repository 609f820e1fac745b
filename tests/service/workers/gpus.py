"""What stands for a GPU where there is none: NumPy, in the process that would compute on the GPU.

The functions are called in that process, which imports this module.
"""

import math
import time

from gradwire_engine.backends.walk.backend import NumpyBackend
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_gpu import Crossover, GpuDevice, GpuLost, GpuUnavailable, OutOfGpuMemory
from gradwire_service.scheduling.placement import Device
from gradwire_service.workers.opened_gpu import OpenedGpu

MEBIBYTE = 1 << 20
DEVICE = Device(
    GpuDevice("NumPy", 100 * MEBIBYTE, 90 * MEBIBYTE, "0.0", "float32"),
    Crossover(0.05, 1e9, 1e9, 1e12, 1000),
    room_bytes=80 * MEBIBYTE,
)
USED_BYTES = 12_345_678
#: Values of inputs of which a replay fails like one on a GPU.
LOSES, EXCEEDS = 1313.0, 1414.0


class Executable(WalkExecutable):
    """Computes with NumPy what a GPU would, and the sine on the host."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.hosted = [i.op.name for i in self.tape.instructions if i.op.name == "sin"]

    def replay(self, inputs, poll):
        values = {float(x) for x in inputs if not getattr(x, "shape", ())}
        if LOSES in values:
            raise GpuLost("an illegal memory access was encountered")
        if EXCEEDS in values:
            raise OutOfGpuMemory("1 GiB was asked for")
        return super().replay(inputs, poll)


#: What a GPU would have compiled for its first program.
KERNEL = """
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @kernel() {
  ret void
}
"""


class Backend(NumpyBackend):
    """As a GPU's."""

    def __init__(self, compile_texts=None, whose=""):
        super().__init__()
        self._compile, self._whose = compile_texts, whose

    def apart(self, whose=""):
        return Backend(self._compile, whose)

    def compile(self, tape, poll, *, exact=False, threads=1):
        if self._compile is not None:
            assert b".entry kernel" in self._compile([KERNEL], self._whose)[0]
        return Executable(tape, poll, self._loops, exact=exact)


def numpy_gpu(settings, compile_texts):
    """One that works, with the costs above."""
    return OpenedGpu(Backend(), DEVICE, lambda: USED_BYTES)


def compiling_gpu(settings, compile_texts):
    """The same, but it has a kernel compiled for each program."""
    return OpenedGpu(Backend(compile_texts), DEVICE, lambda: USED_BYTES)


def slow_gpu(settings, compile_texts):
    """One whose transfers take longer than any computation of a test."""
    crossover = DEVICE.crossover._replace(bytes_per_second_in=1.0)
    return OpenedGpu(Backend(), DEVICE._replace(crossover=crossover), lambda: USED_BYTES)


def fast_gpu(settings, compile_texts):
    """One that takes almost no time, as far as is predicted."""
    crossover = Crossover(1e-9, 1e15, 1e15, 1e18, 1)
    return OpenedGpu(Backend(), DEVICE._replace(crossover=crossover), lambda: USED_BYTES)


def exclusive_gpu(path, settings, compile_texts):
    """One that only the first process can open, which makes this file."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        raise GpuUnavailable("all CUDA-capable devices are busy or unavailable") from None
    return fast_gpu(settings, compile_texts)


def gpu_after(path, settings, compile_texts):
    """One that is there once this file is."""
    while not path.exists():
        time.sleep(0.01)
    return numpy_gpu(settings, compile_texts)


def missing_gpu(settings, compile_texts):
    """One that is not there."""
    raise GpuUnavailable("no CUDA-capable device is detected")


def broken_gpu(settings, compile_texts):
    """One whose process does not even start."""
    raise ArithmeticError(math.pi)
