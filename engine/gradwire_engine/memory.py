"""Memory that is not given back by itself."""

from __future__ import annotations

from gradwire_engine.engine import BACKENDS


def forget_buffers() -> None:
    """Give back what this thread keeps of arrays that are gone, for arrays to come."""
    for backend in BACKENDS.values():
        backend.release()


def limit_buffers(most_bytes: int) -> None:
    """Keep no more of arrays that are gone, in all threads together; before it is set, 128 MiB."""
    for backend in BACKENDS.values():
        backend.limit_buffers(most_bytes)
