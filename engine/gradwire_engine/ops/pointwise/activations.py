"""Activations of neural networks, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, macro, register
from gradwire_engine.ops.elementwise import RealUnary
from gradwire_engine.ops.pointwise.arithmetic import Absolute, Reciprocal, Square
from gradwire_engine.ops.pointwise.comparison import IsInf
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Sign, Where
from gradwire_engine.ops.pointwise.trigonometric import Tanh
from gradwire_engine.ops.promotion import finfo, inexact_promoted
from gradwire_engine.ops.rules import RULES, by_formula

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("sigmoid", "expit")
class Sigmoid(RealUnary):
    """Logistic function: ``z = 1 / (1 + exp(-x))``."""

    scalar = "1.0 / (1.0 + math.exp(-{0}))"

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """One exponential; where it overflows the quotient is 0, as it should be."""
        (x,) = operands
        if not x.ndim:
            return 1 / (1 + xp.exp(-x))
        z = xp.negative(x)
        xp.exp(z, z)
        xp.add(z, 1, z)
        return xp.reciprocal(z, z)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = z sigmoid(-x)``: ``1 - z`` has no digits where ``z`` is near 1."""
        return by_formula("sigmoid_slope", lambda x: z * self(-x), x)


def _of_sigmoid_slope(z_bar: Var, z: Var, x: Var) -> Cotangents:
    """``-z tanh(x / 2)``, the difference of the two shares."""
    return (-(z_bar * (z * Tanh()(x * 0.5))),)


@register("softplus")
class Softplus(RealUnary):
    """Smooth rectifier: ``z = ln(1 + exp(beta x)) / beta``, without overflow."""

    workspace = 1.0
    scalar = "{0} + math.log1p(math.exp(-{0})) if {0} > 0.0 else math.log1p(math.exp({0}))"
    flops_per_element = 20

    @classmethod
    def record(cls, b: Builder, x: Any, beta: Any = 1.0) -> Any:
        """Record on one array, made floating, and the factor."""
        if beta == 1:
            return cls()(*b.promote(x, rule=inexact_promoted))
        x, beta = b.promote(x, beta, rule=inexact_promoted)
        return cls()(beta * x) / beta

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """``max(x, 0) + ln(1 + exp(-|x|))``, in place."""
        (x,) = operands
        if not x.ndim:
            return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.absolute(x)))
        z = xp.absolute(x)
        xp.negative(z, z)
        xp.exp(z, z)
        xp.log1p(z, z)
        return xp.add(xp.maximum(x, 0), z, z)

    def slope(self, z: Var, x: Var) -> Var:
        """``∂z/∂x = sigmoid(x)``."""
        return Sigmoid()(x)


@macro("softsign", "soft_sign")
def softsign(b: Builder, x: Any) -> Any:
    """``z = x / (1 + |x|)``.  Convention: derivative 1 at 0."""
    return by_formula("softsign", _softsign, b.inexact(x))


def _softsign(x: Var) -> Var:
    return Where()(IsInf()(x), Sign()(x), x / (Absolute()(x) + 1))


def _of_softsign(z_bar: Var, z: Var, x: Var) -> Cotangents:
    return (z_bar * Square()(Reciprocal()(Absolute()(x) + 1)),)


def gated(x: Var, gate: Var) -> Var:
    """``x gate`` for a gate between 0 at ``-inf`` and 1 at ``inf``: the limits 0 and ``inf`` there.

    Its slopes are those of a product in which what vanishes at infinity outweighs ``x``.
    """
    if x.dtype.kind == "c":
        return x * gate
    return by_formula("gated", lambda x, gate: Maximum()(x, _largest(x, -1)) * gate, x, gate)


def _of_gated(z_bar: Var, z: Var, x: Var, gate: Var) -> Cotangents:
    finite = Minimum()(Maximum()(x, _largest(x, -1)), _largest(x, 1))
    return z_bar * gate, z_bar * finite


def _largest(x: Var, sign: int) -> Var:
    """The largest finite number of a dtype, or its opposite."""
    return x.builder.scalar(sign * float(finfo(x.dtype).max), x.dtype)


RULES |= {
    "sigmoid_slope": _of_sigmoid_slope,
    "softsign": _of_softsign,
    "gated": _of_gated,
}
