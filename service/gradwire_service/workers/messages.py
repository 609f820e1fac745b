"""Messages between the service and worker processes, beside tasks and answers."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, NamedTuple

from gradwire_service.scheduling.placement import Device

#: The signal that stops the work of a process at its next poll.
STOP = signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else signal.SIGTERM


class Ready(NamedTuple):
    """The process accepts tasks and signals, and computes on this GPU, if on any."""

    device: Device | None = None


class DeviceLost(NamedTuple):
    """The process cannot compute on the GPU, nor can another one: the reason."""

    reason: str


class DeviceMemory(NamedTuple):
    """The memory of the GPU that is used."""

    nbytes: int


class Recycle(NamedTuple):
    """The process cannot release enough memory and must be replaced."""


class TimeoutChanged(NamedTuple):
    """The timeout in the request's body."""

    allowed_ms: float


class StoreCall(NamedTuple):
    """A call of a method of the store."""

    method: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


class Returned(NamedTuple):
    """The return value of the method."""

    value: Any


class Raised(NamedTuple):
    """The exception of the method."""

    error: Exception
