"""Places of values among rising numbers, such as the edges of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.base import Op, Static, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.pointwise.comparison import (
    Less,
    LessEqual,
)
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("searchsorted", "bisect")
class SearchSorted(Op):
    """Index before which ``v`` goes into the rising vector ``a``, to the left or right of equals.

    An integer, so without gradient.
    """

    side: str
    differentiable = False

    @classmethod
    def record(cls, b: Builder, a: Any, v: Any, side: Static = "left") -> Any:
        """Record on two arrays, promoted."""
        if side not in ("left", "right"):
            raise BadArgument("searchsorted takes side='left' or side='right'")
        return cls(side)(*b.promote(a, v))

    def infer(self, *types: ArrayType) -> ArrayType:
        """An integer for each of ``v``."""
        a, v = types
        if a.ndim != 1:
            raise ShapeMismatch(f"searchsorted needs a vector to search in, got {a}")
        return ArrayType(DTYPES["int64"], v.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Search by halves."""
        return xp.searchsorted(*operands, side=self.side)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Search in one shared vector, or count what goes before in each example's own."""
        (a, v), (own, _) = operands, batched
        if not own:
            return self(a, v)
        a, v = everywhere(operands, batched)
        bounds = reshape(a, (a.shape[0], *(1,) * (v.ndim - 1), a.shape[1]))
        sought = reshape(v, (*v.shape, 1))
        before = (Less() if self.side == "left" else LessEqual())(bounds, sought)
        return Sum((v.ndim,))(before)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One comparison for each halving."""
        return types[1].size * max(1, types[0].size.bit_length())
