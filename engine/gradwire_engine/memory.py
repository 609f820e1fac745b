"""Memory that is not given back by itself."""

from __future__ import annotations

from gradwire_engine.engine import BACKENDS
from gradwire_engine.gc_pause import gc_paused


def forget_buffers() -> None:
    """Give back what this thread keeps of arrays that are gone, for arrays to come."""
    for backend in BACKENDS.values():
        backend.release()


def limit_buffers(most_bytes: int) -> None:
    """Keep no more of arrays that are gone, in all threads together; before it is set, 128 MiB."""
    for backend in BACKENDS.values():
        backend.limit_buffers(most_bytes)


def forget_cycles() -> None:
    """Give back what only refers to itself: errors, and the frames that they came through."""
    gc_paused.collect()
