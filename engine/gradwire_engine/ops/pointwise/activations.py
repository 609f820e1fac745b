"""Activations of neural networks, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, register
from gradwire_engine.ops.elementwise import RealUnary
from gradwire_engine.ops.promotion import inexact_promoted

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

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar z sigmoid(-x)``: ``1 - z`` has no digits where ``z`` is near 1."""
        return (z_bar * (z * self(-operands[0])),)


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

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar sigmoid(x)``."""
        return (z_bar * Sigmoid()(operands[0]),)
