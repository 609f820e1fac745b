"""Normalised exponentials over axes: softmax and its logarithm, logarithms of sums."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import axes_of, flag, without
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import IsFinite, NotEqual
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Sign, zero_unless
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.reductions.reductions import Reduction, Sum, spread
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Normalized(Op):
    """Elements along ``axes`` are normalised among each other; the shape stays."""

    axes: tuple[int, ...]
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, x: Any, axis: Static = -1) -> Any:
        """Record on one array made floating; ``axis`` may be several, or ``None`` for all."""
        x = b.inexact(x)
        return cls(axes_of(axis, x.ndim, cls.name))(x)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type; real."""
        return _real(types[0], self.name)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """An exponential and a few operations per element."""
        return types[0].size * 12


@register("softmax")
class Softmax(Normalized):
    """Exponentials normalised to sum 1 over ``axis``: ``z = exp(x) / sum exp(x)``.

    Convention: where ``x`` is ``-inf`` among finite ones, ``z`` and its derivatives are 0.
    """

    axes: tuple[int, ...]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Shift by the maximum, so that nothing overflows."""
        (x,) = operands
        z = xp.exp(x - xp.max(x, axis=self.axes, keepdims=True, initial=-math.inf))
        return z / xp.sum(z, axis=self.axes, keepdims=True)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z (z_bar - sum(z z_bar))``."""
        mean = Sum.over(z * z_bar, self.axes, keepdims=True)
        return (z * (z_bar - mean),)


@register("log_softmax")
class LogSoftmax(Normalized):
    """Logarithm of softmax over ``axis``: ``z = x - ln sum exp(x)``."""

    axes: tuple[int, ...]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Shift by the maximum, so that nothing overflows."""
        (x,) = operands
        z = x - xp.max(x, axis=self.axes, keepdims=True, initial=-math.inf)
        return z - xp.log(xp.sum(xp.exp(z), axis=self.axes, keepdims=True))

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar - exp(z) sum(z_bar)``."""
        return (z_bar - Exp()(z) * Sum.over(z_bar, self.axes, keepdims=True),)


@register("logsumexp", public=False)
class LogSumExp(Reduction):
    """Logarithm of a sum of exponentials: ``z = ln sum exp(x)``.

    Convention: derivatives 0 where all are ``-inf``; NaN where one is ``inf``.
    """

    axes: tuple[int, ...]

    def infer(self, *types: ArrayType) -> ArrayType:
        """The shape less ``axes``; real."""
        return super().infer(_real(types[0], self.name))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Shift by the maximum where it is finite, so that nothing overflows."""
        (x,) = operands
        top = xp.max(x, axis=self.axes, keepdims=True, initial=-math.inf)
        top = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        total = xp.sum(xp.exp(x - top), axis=self.axes)
        return xp.log(total) + xp.reshape(top, total.shape)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar exp(x - z)``."""
        (x,) = operands
        shape = x.type.shape
        some = NotEqual()(z, z.builder.scalar(-math.inf, z.dtype))
        weights = Exp()(x - spread(z, self.axes, shape))
        share = spread(z_bar, self.axes, shape) * weights
        return (zero_unless(spread(some, self.axes, shape), share),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """An exponential and a few operations per element."""
        return types[0].size * 12


@macro("logsumexp", "reduce_logsumexp")
def logsumexp(
    builder: Builder,
    a: Any,
    axis: Static = None,
    *,
    b: Any = None,
    keepdims: Static = False,
    return_sign: Static = False,
) -> Any:
    """Logarithm of a sum of exponentials over ``axis`` (all by default): ``z = ln sum(b exp(a))``.

    With ``return_sign`` a pair: the logarithm of the sum's size, and its sign, 0 of no sum.
    Convention: derivatives 0 where all are ``-inf``; NaN where one is ``inf``.
    """
    keeps, signed = flag(keepdims, "keepdims"), flag(return_sign, "return_sign")
    if b is None and not signed:
        x = builder.inexact(a)
        return LogSumExp.over(x, axes_of(axis, x.ndim, "logsumexp"), keepdims=keeps)
    x, weights = builder.promote(a, 1.0 if b is None else b, rule=inexact_promoted)
    x = builder.broadcast(x, broadcast_shapes(x.type.shape, weights.type.shape))
    axes = axes_of(axis, x.ndim, "logsumexp")
    # The result does not depend on the shift, so neither does the derivative.
    shift = StopGradient()(LogSumExp.over(x, axes, keepdims=True))
    shift = zero_unless(IsFinite()(shift), shift)
    total = Sum.over(weights * Exp()(x - shift), axes, keepdims=True)
    results = [Log()(Absolute()(total) if signed else total) + shift, Sign()(total)]
    if not keeps:
        results = [reshape(result, without(x.type.shape, axes)) for result in results]
    return results if signed else results[0]


def _real(x: ArrayType, name: str) -> ArrayType:
    if x.dtype.kind != "f":
        raise DtypeMismatch(f"{name} takes real floating numbers, got {x}")
    return x
