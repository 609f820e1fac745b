"""A simulated GPU in the process that would compute on a real one."""

from contextlib import ExitStack
from pathlib import Path

import gradwire_gpu
from gradwire_service.settings import Settings
from gradwire_service.workers.opened_gpu import Compile, OpenedGpu

from tests.engine.gpu.cupy.machine import simulated, texts_alone
from tests.engine.gpu.cupy.memory import MEMORY
from tests.service.workers.gpus import DEVICE

#: CUDA's status of an illegal address.
_ILLEGAL_ADDRESS = 700
#: What lasts as long as the process.
_OPENED = ExitStack()


def open_gpu(settings: Settings, compile_texts: Compile) -> OpenedGpu:
    """One whose bytes in use are those that it was ever sent."""
    _OPENED.enter_context(simulated())
    backend = gradwire_gpu.gpu_backend(settings.gpu_bytes or 1 << 28, texts_alone)
    return OpenedGpu(backend, DEVICE, lambda: MEMORY.received)


def open_until(path: Path, settings: Settings, compile_texts: Compile) -> OpenedGpu:
    """One that is lost once this file is there."""
    machine = _OPENED.enter_context(simulated())
    backend = gradwire_gpu.gpu_backend(1 << 28, texts_alone)

    def used_bytes() -> int:
        if path.exists():
            machine.fails = _ILLEGAL_ADDRESS
        return gradwire_gpu.describe(backend).free_bytes

    return OpenedGpu(backend, DEVICE, used_bytes)
