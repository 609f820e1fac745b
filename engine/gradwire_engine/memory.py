"""Memory that the engine keeps for later."""

from __future__ import annotations

from gradwire_engine.backends.numpy.buffers import POOL


def forget_buffers() -> None:
    """Give back what this thread keeps of arrays that are gone, for arrays to come."""
    POOL.forget()
