"""What the service and the processes that compute say to each other beside tasks and answers."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any, NamedTuple

#: The signal that asks a process to stop what it does at its next poll.
STOP = signal.SIGUSR1 if hasattr(signal, "SIGUSR1") else signal.SIGTERM


class Ready(NamedTuple):
    """The process may be asked, and stopped."""


class Recycle(NamedTuple):
    """The process holds more than it may keep, and cannot give it back: it is to be replaced."""


class TimeoutChanged(NamedTuple):
    """The time that the body of the request asks for."""

    allowed_ms: float


class StoreCall(NamedTuple):
    """A method of the store to be called, and with what."""

    method: str
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


class Returned(NamedTuple):
    """What the method gave."""

    value: Any


class Raised(NamedTuple):
    """What the method raised."""

    error: Exception
