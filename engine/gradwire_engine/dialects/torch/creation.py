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


@TORCH.macro("arange")
def arange(
    b: Builder,
    start: Static,
    end: Static = None,
    step: Static = 1,
    *,
    dtype: Static = None,
) -> Any:
    """Numbers from ``start`` (0) to before ``end`` by ``step``."""
    return recorded("arange")(b, start, end, step, dtype)


@TORCH.macro("tril_indices")
def tril_indices(
    b: Builder, row: Static, col: Static, offset: Static = 0, *, dtype: Static = "int64"
) -> Any:
    """Rows and columns of a matrix's lower triangle, up to the diagonal ``offset``."""
    pair = recorded("stack")(b, recorded("tril_indices")(b, row, offset, col))
    return recorded("astype")(b, pair, dtype)


@TORCH.macro("triu_indices")
def triu_indices(
    b: Builder, row: Static, col: Static, offset: Static = 0, *, dtype: Static = "int64"
) -> Any:
    """Rows and columns of a matrix's upper triangle, from the diagonal ``offset`` on."""
    pair = recorded("stack")(b, recorded("triu_indices")(b, row, offset, col))
    return recorded("astype")(b, pair, dtype)
