"""Memory that is not given back by itself."""

from __future__ import annotations

from gradwire_engine.backends.numpy.buffers import POOL
from gradwire_engine.collection import collection_held


def forget_buffers() -> None:
    """Give back what this thread keeps of arrays that are gone, for arrays to come."""
    POOL.forget()


def forget_cycles() -> None:
    """Give back what only refers to itself: errors, and the frames that they came through."""
    collection_held.collect()
