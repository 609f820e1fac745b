"""Orders of rows as LAPACK writes them: which row each one was exchanged with, in turn."""

from __future__ import annotations

from typing import Any

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Type


class OfRows(Op):
    """Integers along the last axis."""

    count: int
    dtype = DTYPES["int64"]
    differentiable = False
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """``count`` integers."""
        (x,) = types
        if x.dtype.kind not in "iu":
            raise DtypeMismatch(f"rows are numbered by integers, got {x}")
        if not x.shape:
            raise ShapeMismatch(f"rows are numbered along an axis, got {x}")
        return ArrayType(self.dtype, (*x.shape[:-1], self.count))

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Some moves for each pair of rows."""
        return types[0].size * max(types[0].shape[-1], self.count)


@register("order_of_swaps", public=False)
class OrderOfSwaps(OfRows):
    """The order of ``count`` rows after each in turn was exchanged with that of a number from 1."""

    count: int

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Exchange one after the other, in all stacks at once."""
        (swaps,) = operands
        order = xp.broadcast_to(xp.arange(self.count), (*swaps.shape[:-1], self.count)).copy()
        for i in range(swaps.shape[-1]):
            at = swaps[..., i : i + 1].astype("int64") - 1
            error = IndexError(f"row {i + 1} is exchanged with one before")
            xp.require((at >= i).all(), error)
            _exchange(xp, order, i, at)
        return order


@register("swaps_of_order", public=False)
class SwapsOfOrder(OfRows):
    """The first ``count`` swaps that lead to an order of rows."""

    count: int
    dtype = DTYPES["int32"]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Look for each row where the swaps before have left it."""
        (order,) = operands
        rows = xp.broadcast_to(xp.arange(order.shape[-1]), order.shape).copy()
        swaps = xp.empty((*order.shape[:-1], self.count), "int32")
        for i in range(self.count):
            at = (rows == order[..., i : i + 1]).argmax(-1)[..., None]
            swaps[..., i : i + 1] = at + 1
            _exchange(xp, rows, i, at)
        return swaps


def _exchange(xp: Any, rows: Any, i: int, at: Any) -> None:
    """Exchange element ``i`` of each stack and that at ``at``."""
    there = xp.take_along_axis(rows, at, -1)
    xp.put_along_axis(rows, at, rows[..., i : i + 1].copy(), -1)
    rows[..., i : i + 1] = there
