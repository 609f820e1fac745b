"""Activations of neural networks, element by element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import Cotangents, Static, macro, register
from gradwire_engine.ops.elementwise import RealUnary
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.exponential import Expm1
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Where
from gradwire_engine.ops.pointwise.trigonometric import Tanh
from gradwire_engine.ops.promotion import inexact_promoted
from gradwire_engine.ops.special.error_functions import Erfc

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
        """``x_bar = z_bar z (1 - z)``."""
        return (z_bar * (z * (1 - z)),)


@macro("relu")
def relu(b: Builder, x: Any) -> Any:
    """Rectifier: ``z = max(0, x)``.  Convention: derivative 0 at 0."""
    zero, x = b.promote(0, x)
    return Maximum()(zero, x)


@macro("relu6")
def relu6(b: Builder, x: Any) -> Any:
    """Rectifier with a ceiling: ``z = min(6, max(0, x))``.  Convention: derivative 0 at 0 and 6."""
    six, x = b.promote(6, relu(b, x))
    return Minimum()(six, x)


@macro("leaky_relu")
def leaky_relu(b: Builder, x: Any, negative_slope: Any = 0.01) -> Any:
    """``z = x`` where ``x > 0``, else ``negative_slope x``.

    Convention: derivative ``negative_slope`` at 0.
    """
    x, slope = b.promote(x, negative_slope)
    return Where()(x.exceeds(0), x, slope * x)


@macro("elu")
def elu(b: Builder, x: Any, alpha: Any = 1.0) -> Any:
    """Exponential linear unit: ``z = x`` where ``x > 0``, else ``alpha (exp(x) - 1)``.

    Convention: derivative ``alpha`` at 0.
    """
    x, alpha = b.promote(x, alpha, rule=inexact_promoted)
    return Where()(x.exceeds(0), x, alpha * Expm1()(x))


@macro("selu")
def selu(b: Builder, x: Any) -> Any:
    """Self-normalising exponential linear unit: ``z = λ elu(x, α)``.

    Convention: derivative ``λ α`` at 0.  Source: Klambauer et al., Self-Normalizing Neural
    Networks (2017).
    """
    return elu(b, x, 1.6732632423543772) * 1.0507009873554805


@macro("celu")
def celu(b: Builder, x: Any, alpha: Any = 1.0) -> Any:
    """Continuous elu: ``z = x`` where ``x > 0``, else ``alpha (exp(x / alpha) - 1)``."""
    x, alpha = b.promote(x, alpha, rule=inexact_promoted)
    return Where()(x.exceeds(0), x, alpha * Expm1()(x / alpha))


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


@macro("log_sigmoid", "logsigmoid", "log_expit")
def log_sigmoid(b: Builder, x: Any) -> Any:
    """Logarithm of the logistic function: ``z = -ln(1 + exp(-x))``, without overflow."""
    return -Softplus()(-b.inexact(x))


@macro("silu", "swish")
def silu(b: Builder, x: Any) -> Any:
    """Sigmoid linear unit: ``z = x sigmoid(x)``."""
    x = b.inexact(x)
    return x * Sigmoid()(x)


@macro("mish")
def mish(b: Builder, x: Any) -> Any:
    """``z = x tanh(softplus(x))``.  Source: Misra, Mish (2019)."""
    x = b.inexact(x)
    return x * Tanh()(Softplus()(x))


@macro("gelu")
def gelu(b: Builder, x: Any, approximate: Static = False) -> Any:
    """Gaussian error linear unit: ``z = x Φ(x)`` with the normal distribution function ``Φ``.

    ``approximate="tanh"`` (or true) takes ``x (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) / 2``.
    Source: Hendrycks and Gimpel, Gaussian Error Linear Units (2016).
    """
    x = b.inexact(x)
    if approximate is True or approximate == "tanh":
        bent = Tanh()((x + x * x * x * 0.044715) * math.sqrt(2 / math.pi))
        return x * (bent + 1) * 0.5
    if approximate is False or approximate == "none":
        return x * 0.5 * b.cast(Erfc.record(b, x * -math.sqrt(0.5)), x.dtype)
    raise BadArgument("gelu takes approximate='none' or 'tanh'")


@macro("softsign", "soft_sign")
def softsign(b: Builder, x: Any) -> Any:
    """``z = x / (1 + |x|)``.  Convention: derivative 1 at 0."""
    x = b.inexact(x)
    return x / (Absolute()(x) + 1)


@macro("hardtanh", "hard_tanh")
def hardtanh(b: Builder, x: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    """``z = min(max(x, min_val), max_val)``.  Convention: derivative 0 at the bounds."""
    x, low, high = b.promote(x, min_val, max_val)
    return Minimum()(high, Maximum()(low, x))


@macro("hardsigmoid", "hard_sigmoid")
def hardsigmoid(b: Builder, x: Any) -> Any:
    """``z = relu6(x + 3) / 6``.  Convention: derivative 0 at ±3."""
    return relu6(b, b.inexact(x) + 3) / 6


@macro("hardswish", "hard_swish", "hard_silu")
def hardswish(b: Builder, x: Any) -> Any:
    """``z = x relu6(x + 3) / 6``.  Source: Howard et al., MobileNetV3 (2019)."""
    x = b.inexact(x)
    return x * hardsigmoid(b, x)
