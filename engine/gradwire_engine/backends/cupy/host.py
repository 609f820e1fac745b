"""Operations that the host computes."""

from __future__ import annotations

from gradwire_engine.ops.base import Op


def on_host(op: Op) -> bool:
    """True if an operation has no form for a GPU."""
    return False
