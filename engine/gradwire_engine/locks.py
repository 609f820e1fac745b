"""Waiting for a lock while looking at the deadline."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradwire_engine.answer import Poll


@contextmanager
def locked(lock: threading.Lock, poll: Poll) -> Iterator[None]:
    """Hold ``lock``; who waits for it keeps looking at the deadline."""
    while not lock.acquire(timeout=0.01):
        poll()
    try:
        yield
    finally:
        lock.release()
