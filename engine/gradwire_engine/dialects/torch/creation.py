"""PyTorch's new arrays: filled, counted, spaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH, listed
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("zeros empty")
def zeros(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Zeros; the lengths are given one by one or as a list."""
    return recorded("zeros")(b, listed(size), dtype)


@TORCH.macro("ones")
def ones(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Ones; the lengths are given one by one or as a list."""
    return recorded("ones")(b, listed(size), dtype)
