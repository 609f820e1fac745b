"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import (
    InexactUnary,
    RealBinary,
    RealUnary,
    SpecialBinary,
    conj,
)
from gradwire_engine.ops.pointwise.arithmetic import Excess
from gradwire_engine.ops.pointwise.comparison import NotEqual
from gradwire_engine.ops.pointwise.selection import Where, zero_unless
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.rules import kinked

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

LN_2 = math.log(2.0)
LN_10 = math.log(10.0)


@register("exp")
class Exp(InexactUnary):
    """Exponential: ``z = e ** x``.  Source: DLMF 4.2.19."""

    ufunc = "exp"
    scalar = "math.exp({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z``."""
        return z


@register("expm1")
class Expm1(InexactUnary):
    """Exponential less 1, exact near 0: ``z = e ** x - 1``."""

    ufunc = "expm1"
    scalar = "math.expm1({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = e ** x``."""
        return Exp()(x)


@register("exp2")
class Exp2(InexactUnary):
    """Power of two: ``z = 2 ** x``."""

    ufunc = "exp2"
    scalar = "math.exp2({0})"

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z ln 2``."""
        return z * LN_2


@register("log")
class Log(InexactUnary):
    """Natural logarithm: ``z = ln x``, the principal branch.

    Convention: infinite slope at 0, with an entry in ``nonfinite``.  Source: DLMF 4.2.2.
    """

    ufunc = "log"
    scalar = "math.log({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / x*``."""
        return (z_bar / conj(operands[0]),)


@register("log1p")
class Log1p(InexactUnary):
    """Logarithm of ``1 + x``, exact near 0: ``z = ln(1 + x)``."""

    ufunc = "log1p"
    scalar = "math.log1p({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / (1 + x)*``."""
        return (z_bar / conj(operands[0] + 1),)


@register("log2")
class Log2(InexactUnary):
    """Logarithm to base 2: ``z = ln x / ln 2``."""

    ufunc = "log2"
    scalar = "math.log2({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / (x ln 2)*``."""
        return (z_bar * (1 / LN_2) / conj(operands[0]),)


@register("log10")
class Log10(InexactUnary):
    """Logarithm to base 10: ``z = ln x / ln 10``."""

    ufunc = "log10"
    scalar = "math.log10({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / (x ln 10)*``."""
        return (z_bar * (1 / LN_10) / conj(operands[0]),)


@register("cbrt")
class Cbrt(RealUnary):
    """Real cube root: ``z ** 3 = x``, of either sign.  Convention: infinite slope at 0."""

    ufunc = "cbrt"
    scalar = "math.cbrt({0})"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar / (3 z²)``."""
        return (z_bar / (z * z * 3),)


@register("logaddexp")
class LogAddExp(RealBinary):
    """Logarithm of a sum of exponentials: ``z = ln(e**x + e**y)``.

    Convention: derivatives 0 where both are ``-inf``; equal where both are ``inf``.
    """

    ufunc = "logaddexp"
    scalar = (
        f"{{0}} + {LN_2} if {{0}} == {{1}} else {{0}} + math.log1p(math.exp({{1}} - {{0}}))"
        " if {0} > {1} else {1} + math.log1p(math.exp({0} - {1}))"
    )
    flops_per_element = 20

    @classmethod
    def record(cls, b: Builder, x: Any, y: Any) -> Any:
        """Record on two arrays, promoted and made floating; beside a zero it is ``softplus``."""
        from gradwire_engine.ops.pointwise.activations import Softplus

        for one, other in ((x, y), (y, x)):
            if isinstance(one, int | float) and one == 0:
                return Softplus()(b.promote(one, other, rule=inexact_promoted)[1])
        return super().record(b, x, y)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar sigmoid(x - y)``, ``y_bar = z_bar sigmoid(y - x)``."""
        x, y = operands
        return _shares(z_bar, z, Excess()(x, y))


@register("logaddexp2")
class LogAddExp2(RealBinary):
    """Binary logarithm of a sum of powers of two: ``z = log2(2**x + 2**y)``.

    Convention: derivatives 0 where both are ``-inf``; equal where both are ``inf``.
    """

    ufunc = "logaddexp2"
    flops_per_element = 20

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar sigmoid((x - y) ln 2)``, ``y_bar = z_bar sigmoid((y - x) ln 2)``."""
        x, y = operands
        return _shares(z_bar, z, Excess()(x, y) * LN_2)


def _shares(z_bar: Var, z: Var, difference: Var) -> Cotangents:
    """``z_bar`` shared by the logistic function of the exponents' difference, 0 if z is -inf."""
    from gradwire_engine.ops.pointwise.activations import Sigmoid

    some = NotEqual()(z, z.constant(-math.inf))
    return (
        zero_unless(some, z_bar * Sigmoid()(difference)),
        zero_unless(some, z_bar * Sigmoid()(-difference)),
    )


@register("xlogy")
class XLogY(SpecialBinary):
    """Product with a logarithm: ``z = x ln y``, and 0 where ``x`` is 0.

    Convention: derivatives 0 where both are 0, with a warning those of second order.
    """

    ufunc = "special.xlogy"
    kinds = "fc"

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar (ln y)*``, ``y_bar = z_bar (x / y)*``."""
        x, y = operands
        if x.builder.number(x):
            return z_bar * conj(Log()(y)), z_bar * conj(x / y)
        nowhere = x.equals(0) & y.equals(0)
        safe = Where()(nowhere, y.constant(1), y)
        if x.dtype.kind == "f":
            z_bar = kinked(z_bar, nowhere, x)
        share = Where()(nowhere, y.constant(0), x / safe)
        return z_bar * conj(Log()(safe)), z_bar * conj(share)
