"""Elements where a condition holds, and zeros elsewhere."""

from __future__ import annotations

from typing import Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.base import register
from gradwire_engine.ops.elementwise import BOOL, Elementwise
from gradwire_engine.tape import ArrayType


@register("masked", public=False)
class Masked(Elementwise):
    """Elements of ``x`` where ``condition`` is ``kept``, elsewhere 0: both of one shape.

    Where conditions come and go, ``where`` waits for the processor's wrong guesses.
    """

    kept: bool
    kinds = "f"
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """That of ``x``."""
        condition, x = types
        if condition.dtype != BOOL or condition.shape != x.shape:
            raise DtypeMismatch(f"masked needs a condition for each element of {x}")
        return super().infer(x)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The bits of ``x`` and of a whole number of which all are set, or none."""
        condition, x = operands
        bits = condition.astype(f"i{x.dtype.itemsize}")
        if self.kept:
            xp.negative(bits, bits)
        else:
            xp.subtract(bits, 1, bits)
        return xp.bitwise_and(bits, x.view(bits.dtype), bits).view(x.dtype)
