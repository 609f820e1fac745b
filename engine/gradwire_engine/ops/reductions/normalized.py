"""Normalised exponentials over axes, and what their logarithms are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.axes import axes_of
from gradwire_engine.ops.base import Cotangents, Op, Static, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.elementwise import RealUnary
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.reductions.reductions import Reduction, Sum
from gradwire_engine.tape import FLOATING, ArrayType, Type

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

    Convention: where ``x`` is ``-inf`` among others, ``z`` and its derivatives are 0.  Infinities
    are taken for equal numbers that are beyond all others; NaN where all are ``-inf``.
    """

    workspace = 2.0
    axes: tuple[int, ...]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Shift by the maximum, so that nothing overflows."""
        (x,) = operands
        top = xp.max(x, axis=self.axes, keepdims=True, initial=-math.inf)
        z = xp.exp(xp.excess(x, top))
        return z / xp.sum(z, axis=self.axes, keepdims=True)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z (z_bar - sum(z z_bar))``."""
        mean = Sum.over(z * z_bar, self.axes, keepdims=True)
        return (z * (z_bar - mean),)


@register("shift", public=False)
class Shift(Reduction):
    """The shift of exponents so that none overflows: the largest, 0 if that is ``-inf``.

    Nothing depends on it that is raised by as much afterwards, so it has no derivative.
    """

    workspace = 1.0
    axes: tuple[int, ...]
    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """The shape less ``axes``; real."""
        return super().infer(_real(types[0], "an exponent"))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """The largest, of none ``-inf``."""
        top = xp.extreme(xp.maximum, operands[0], self.axes, initial=-math.inf)
        return xp.where(top == -math.inf, 0, top)[()]


@register("log_total", public=False)
class LogTotal(RealUnary):
    """Logarithm of a sum of exponentials: ``z = ln x``.  Convention: derivative 0 at 0."""

    ufunc = "log"
    scalar = "math.log({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / x``, and what is multiplied by the exponentials, all 0, if x is."""
        (x,) = operands
        return (z_bar / Where()(x.equals(0), x.constant(1), x),)


def _real(x: ArrayType, name: str) -> ArrayType:
    if x.dtype.kind not in FLOATING:
        raise DtypeMismatch(f"{name} takes real floating numbers, got {x}")
    return x
