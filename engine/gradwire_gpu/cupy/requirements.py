"""Requirements of kernels on values on the device: checked at once, or collected for later."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

#: A boolean on the device, and the error that its being false is.
Requirement: TypeAlias = tuple[Any, Exception]


class _Thread(threading.local):
    collected: list[Requirement] | None = None


_THREAD = _Thread()


@contextmanager
def collected() -> Iterator[list[Requirement]]:
    """Collect this thread's requirements, so that nothing waits for the device.

    Who collects them must look at them before results are used: ``holding``.
    """
    before, found = _THREAD.collected, list[Requirement]()
    _THREAD.collected = found
    try:
        yield found
    finally:
        _THREAD.collected = before


def require(holds: Any, error: Exception) -> None:
    """Raise ``error`` unless ``holds``, on the device; later, where requirements are collected."""
    if _THREAD.collected is not None:
        _THREAD.collected.append((holds, error))
    elif not holds:
        raise error


def holding(requirements: list[Requirement]) -> None:
    """Raise the error of the first requirement that does not hold."""
    for holds, error in requirements:
        if not holds:
            raise error
