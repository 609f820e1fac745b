"""Normalised exponentials over axes: softmax and its logarithm, logarithms of sums."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import axes_of, flag, with_ones
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.elementwise import RealUnary, broadcast_shapes
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.exponential import Exp, Log
from gradwire_engine.ops.pointwise.selection import Sign, Where
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

    workspace = 2.0
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


@register("shift", public=False)
class Shift(Reduction):
    """What exponents are lessened by so that none overflows: the largest, 0 if it is not finite.

    Nothing depends on it that is raised by as much afterwards, so it has no derivative.
    """

    workspace = 1.0
    axes: tuple[int, ...]
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """The shape less ``axes``; real."""
        return super().infer(_real(types[0], "an exponent"))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The largest, of none ``-inf``, where it is finite."""
        top = xp.extreme(xp.maximum, operands[0], self.axes, initial=-math.inf)
        return xp.where(xp.isfinite(top), top, 0)[()]


@register("log_total", public=False)
class LogTotal(RealUnary):
    """Logarithm of a sum of exponentials: ``z = ln x``.  Convention: derivative 0 at 0."""

    ufunc = "log"
    scalar = "math.log({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / x``, and what is multiplied by the exponentials, all 0, if x is."""
        (x,) = operands
        return (z_bar / Where()(x.equals(0), x.builder.scalar(1, x.dtype), x),)


def log_softmax(x: Var, axes: tuple[int, ...]) -> Var:
    """Record ``z = x - ln sum exp(x)``; the derivative takes the same exponentials."""
    shape = x.type.shape
    y = x - spread(Shift(axes)(x), axes, shape)
    return y - spread(Log()(Sum(axes)(Exp()(y))), axes, shape)


@macro("log_softmax")
def record_log_softmax(b: Builder, x: Any, axis: Static = -1) -> Any:
    """Logarithm of softmax over ``axis``: ``z = x - ln sum exp(x)``."""
    x = b.inexact(x)
    return log_softmax(x, axes_of(axis, x.ndim, "log_softmax"))


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
    weighted = b is not None or signed
    x, weights = builder.promote(a, 1.0 if b is None else b, rule=inexact_promoted)
    x = builder.broadcast(x, broadcast_shapes(x.type.shape, weights.type.shape))
    axes = axes_of(axis, x.ndim, "logsumexp")
    shift = Shift(axes)(x)
    powers = Exp()(x - spread(shift, axes, x.type.shape))
    total = Sum(axes)(weights * powers if weighted else powers)
    log = Log() if weighted else LogTotal()
    results = [log(Absolute()(total) if signed else total) + shift, Sign()(total)]
    if keeps:
        results = [reshape(result, with_ones(x.type.shape, axes)) for result in results]
    return results if signed else results[0]


def _real(x: ArrayType, name: str) -> ArrayType:
    if x.dtype.kind != "f":
        raise DtypeMismatch(f"{name} takes real floating numbers, got {x}")
    return x
