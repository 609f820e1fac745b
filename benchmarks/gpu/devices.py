"""The device that is measured: a GPU through CuPy, or the host, so that all of it runs anywhere."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from gradwire_engine import native


class Device(ABC):
    """Where the arrays are, and the backend of the engine that computes there."""

    #: The name that PyTorch has for it.
    torch: str

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the device."""

    @property
    @abstractmethod
    def xp(self) -> Any:
        """The array namespace whose arrays are on the device."""

    @abstractmethod
    def backend(self, *, stay: bool) -> Any:
        """The engine's backend; results of one with ``stay`` remain on the device."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device has finished all work."""

    @abstractmethod
    def release(self) -> None:
        """Give back memory that is kept for arrays to come."""


class Cuda(Device):
    """The current GPU."""

    torch = "cuda"

    @property
    def name(self) -> str:
        found = self.xp.cuda.runtime.getDeviceProperties(0)
        return f"{found['name'].decode()}, {found['totalGlobalMem'] / 2**30:.0f} GiB"

    @property
    def xp(self) -> Any:
        return import_module("cupy")

    @cache  # noqa: B019 - there is one device
    def backend(self, *, stay: bool) -> Any:
        return import_module("gradwire_gpu").gpu_backend(stay=stay)

    def synchronize(self) -> None:
        self.xp.cuda.Device().synchronize()

    def release(self) -> None:
        self.xp.get_default_memory_pool().free_all_blocks()
        self.xp.get_default_pinned_memory_pool().free_all_blocks()


class Host(Device):
    """The processor, with machine code in place of the GPU's."""

    torch = "cpu"

    @property
    def name(self) -> str:
        return f"the host, {platform.machine()}"

    @property
    def xp(self) -> Any:
        return np

    @cache  # noqa: B019 - there is one device
    def backend(self, *, stay: bool) -> Any:
        return native.native_backend()

    def synchronize(self) -> None:
        """Everything is synchronous."""

    def release(self) -> None:
        """Nothing is kept."""


DEVICES: dict[str, type[Device]] = {"cuda": Cuda, "host": Host}


def on_host(value: Any) -> Any:
    """An array of any library as one of NumPy, and what contains arrays as that of NumPy's."""
    if isinstance(value, dict):
        return {name: on_host(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [on_host(each) for each in value]
    if hasattr(value, "get"):
        return value.get()
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)
