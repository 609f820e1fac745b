"""Memory that is not given back by itself."""

from __future__ import annotations

from gradwire_engine.engine import BACKENDS
from gradwire_engine.gc_pause import gc_paused


def forget_buffers() -> None:
    """Give back what this thread keeps of arrays that are gone, for arrays to come."""
    for backend in BACKENDS.values():
        backend.release()


def forget_cycles() -> None:
    """Give back what only refers to itself: errors, and the frames that they came through."""
    gc_paused.collect()
