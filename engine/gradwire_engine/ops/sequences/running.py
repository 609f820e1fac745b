"""Places of running extrema, and logarithms of running sums of exponentials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.base import Cotangents, Op, Static, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.pointwise.arithmetic import Excess
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Maximum, zero_unless
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.ops.sequences.cumulative import CumSum, backwards
from gradwire_engine.tape import FLOATING, ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class RunningPlace(Op):
    """The index along ``axis`` of the extreme of the elements up to each; a NaN stays."""

    workspace = 2.2
    axis: int
    differentiable = False
    larger: ClassVar[bool]
    batch = along_axes

    def infer(self, *types: ArrayType) -> ArrayType:
        """Integers of the same shape."""
        (x,) = types
        if x.dtype.kind == "c":
            raise DtypeMismatch(f"{self.name} takes real numbers", hint="abs, real or imag")
        return ArrayType(DTYPES["int64"], x.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The last place at which the extreme changed."""
        x = xp.moveaxis(operands[0], self.axis, 0)
        extreme = xp.accumulate(xp.maximum if self.larger else xp.minimum, x, 0)
        before, after = extreme[:-1], extreme[1:]
        # Comparing with NaN is false, and one NaN is as good as the next.
        changed = (after != before) & ~(xp.isnan(after) & xp.isnan(before))
        places = xp.zeros(x.shape, "int64")
        numbers = xp.arange(1, len(x)).reshape((-1,) + (1,) * (x.ndim - 1))
        places[1:] = xp.where(changed, numbers, 0)
        return xp.moveaxis(xp.accumulate(xp.maximum, places, 0), 0, self.axis)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A few comparisons per element."""
        return 4 * types[0].size


@register("cumargmax", public=False)
class CumArgMax(RunningPlace):
    """Index along ``axis`` of the largest element up to each, the first of equals."""

    axis: int
    larger = True


@register("cumargmin", public=False)
class CumArgMin(RunningPlace):
    """Index along ``axis`` of the smallest element up to each, the first of equals."""

    axis: int
    larger = False


def _operand(x: Var, axis: Any, op: str) -> tuple[Var, int]:
    if axis is None:
        return reshape(x, (x.type.size,)), 0
    return x, axis_of(axis, x.ndim, op)


@register("cumlogsumexp", "logcumsumexp", "cumulative_logsumexp", "logaddexp.accumulate")
class CumLogSumExp(Op):
    """Logarithm of a running sum of exponentials: ``z_i = ln sum_{j<=i} exp(x_j)``, no overflow.

    Convention: derivatives 0 where all up to there are ``-inf``; infinities have equal shares.
    """

    axis: int
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, a: Any, axis: Static = 0) -> Any:
        """Record along one axis, or over all elements in row-major order."""
        x, place = _operand(b.inexact(a), axis, "cumlogsumexp")
        return cls(place)(x)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type; real."""
        (x,) = types
        if x.dtype.kind not in FLOATING:
            raise DtypeMismatch(f"cumlogsumexp takes real floating numbers, got {x}")
        return x

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Accumulate."""
        return xp.accumulate(xp.logaddexp, operands[0], self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar_i = exp(x_i - z_i) s_i`` with ``s_i = z_bar_i + exp(z_i - z_{i+1}) s_{i+1}``."""
        (x,) = operands
        length = z.shape[self.axis]
        if length == 0:
            return (z_bar,)
        finite = NotEqual()(z, z.constant(-math.inf))
        first = sliced(z, self.axis, 0, 1)
        earlier = Concatenate(self.axis)(first, sliced(z, self.axis, 0, length - 1))
        # Infinities up to each element share: their number counts as its logarithm.
        infinite = z.builder.cast(x.equals(math.inf), x.dtype)
        number = Log()(Maximum()(CumSum(self.axis)(infinite), x.constant(1)))
        fewer = Concatenate(self.axis)(
            sliced(number, self.axis, 0, 1), sliced(number, self.axis, 0, length - 1)
        )
        gap, own = Excess()(earlier, z) + (fewer - number), Excess()(x, z) - number
        share = backwards(zero_unless(finite, Exp()(gap)), z_bar, self.axis)
        return (zero_unless(finite, Exp()(own)) * share,)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """Two exponentials and a logarithm per element."""
        return 20 * types[0].size
