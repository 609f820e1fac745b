"""``tf.formulas``: functions whose derivatives are TensorFlow's at singular points, too.

They are TensorFlow's functions of the same name. What has no prefix ``formulas`` computes the same,
but has a useful derivative where TensorFlow's formula gives NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded, staying_half
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.ops import formulas
from gradwire_engine.ops.pointwise.arithmetic import Sqrt
from gradwire_engine.ops.pointwise.comparison import Less, NotEqual
from gradwire_engine.ops.pointwise.exponential import Expm1, Log, Log1p
from gradwire_engine.ops.pointwise.selection import Maximum, Minimum, Where
from gradwire_engine.ops.pointwise.trigonometric import Arccos, Arccosh, Arcsin, Arctan2, Arctanh
from gradwire_engine.ops.promotion import inexact_promoted, special_promoted
from gradwire_engine.ops.rules import by_formula

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TF.macro("formulas.where")
def where(b: Builder, condition: Any, x: Any, y: Any) -> Any:
    """``x`` where ``condition`` holds, else ``y``.

    Convention: both branches are differentiated, and 0 times infinity is NaN.
    """
    chosen = b.array(condition)
    if chosen.dtype.kind != "b":
        chosen = NotEqual()(chosen, b.scalar(0, chosen.dtype))
    return formulas.select(chosen, *b.promote(x, y))


@TF.macro("formulas.sqrt")
def sqrt(b: Builder, x: Any) -> Any:
    """Square root.  Convention: derivative 0 for an upstream of 0, else infinite at 0."""
    return formulas.sqrt(b.inexact(x))


@TF.macro("formulas.rsqrt")
def rsqrt(b: Builder, x: Any) -> Any:
    """``1 / sqrt(x)``.  Convention: derivative 0 for an upstream of 0, else infinite at 0."""
    return by_formula("rsqrt", lambda x: 1 / Sqrt()(x), b.inexact(x))


@TF.macro("formulas.reciprocal")
def reciprocal(b: Builder, x: Any) -> Any:
    """``1 / x``.  Convention: derivative 0 for an upstream of 0, else infinite at 0."""
    return formulas.reciprocal(b.inexact(x))


@TF.macro("formulas.log")
def log(b: Builder, x: Any) -> Any:
    """Natural logarithm, by ``1 / x``, whose own derivative is 0 for an upstream of 0."""
    return by_formula("log", Log(), b.inexact(x))


@TF.macro("formulas.log1p")
def log1p(b: Builder, x: Any) -> Any:
    """``ln(1 + x)``, by ``1 / (1 + x)``, whose own derivative is 0 for an upstream of 0."""
    return by_formula("log1p", Log1p(), b.inexact(x))


@TF.macro("formulas.floormod")
def floormod(b: Builder, x: Any, y: Any) -> Any:
    """The remainder of ``x``, with derivative 1 in ``x`` and ``-floor(x / y)`` in ``y``."""
    return by_formula("remainder", lambda x, y: recorded("remainder")(b, x, y), *b.promote(x, y))


@TF.macro("formulas.digamma")
@staying_half
def digamma(b: Builder, x: Any) -> Any:
    """Derivative of ``ln Γ``.  Convention: NaN at all poles."""
    return formulas.digamma(*b.promote(x, rule=special_promoted))


@TF.macro("formulas.lgamma")
@staying_half
def lgamma(b: Builder, x: Any) -> Any:
    """``ln |Γ(x)|``, infinite at ``-inf``, too.  Convention: derivative NaN at all poles."""

    def finite(x: Var) -> Var:
        infinity = x.builder.scalar(math.inf, x.dtype)
        return Where()(x.equals(-math.inf), infinity, recorded("gammaln")(b, x))

    return by_formula("gammaln", finite, *b.promote(x, rule=special_promoted))


@TF.macro("formulas.pow")
def pow(b: Builder, x: Any, y: Any) -> Any:
    """``x ** y``, by ``y x^(y-1)`` and ``z ln x``.

    Convention: the logarithm is 0 where ``x <= 0``; ``x ** 0`` has derivative NaN at 0.
    """
    return formulas.power(*b.promote(x, y))


@TF.macro("formulas.atan2")
def atan2(b: Builder, y: Any, x: Any) -> Any:
    """Angle of the point ``(y, x)``.  Convention: derivatives NaN at the origin."""
    return by_formula("arctan2", Arctan2(), *b.promote(y, x, rule=inexact_promoted))


@TF.macro("formulas.asin")
def asin(b: Builder, x: Any) -> Any:
    """Inverse sine, by ``1 / sqrt(1 - x²)``."""
    return by_formula("arcsin", Arcsin(), b.inexact(x))


@TF.macro("formulas.acos")
def acos(b: Builder, x: Any) -> Any:
    """Inverse cosine, by ``-1 / sqrt(1 - x²)``."""
    return by_formula("arccos", Arccos(), b.inexact(x))


@TF.macro("formulas.acosh")
def acosh(b: Builder, x: Any) -> Any:
    """Inverse hyperbolic cosine, by ``1 / sinh z``."""
    return by_formula("arccosh", Arccosh(), b.inexact(x))


@TF.macro("formulas.atanh")
def atanh(b: Builder, x: Any) -> Any:
    """Inverse hyperbolic tangent, by ``1 / (1 - x²)``."""
    return by_formula("arctanh", Arctanh(), b.inexact(x))


@TF.macro("formulas.multiply_no_nan")
def multiply_no_nan(b: Builder, x: Any, y: Any) -> Any:
    """``x y``, and 0 where ``y`` is 0.  Convention: derivative ``x`` in ``y`` there."""
    return formulas.multiply_no_nan(*b.promote(x, y, rule=inexact_promoted))


@TF.macro("formulas.xdivy")
def xdivy(b: Builder, x: Any, y: Any) -> Any:
    """``x / y``, and 0 where ``x`` is 0.  Convention: derivatives 0 there."""
    return formulas.xdivy(*b.promote(x, y, rule=inexact_promoted))


@TF.macro("formulas.relu")
def relu(b: Builder, features: Any) -> Any:
    """``max(x, 0)``.  Convention: derivative 0 at 0 and NaN; a second derivative of 0."""
    return by_formula("relu", _above_zero, b.array(features))


@TF.macro("formulas.relu6")
def relu6(b: Builder, features: Any) -> Any:
    """``min(max(x, 0), 6)``.  Convention: derivative 0 at 0, 6 and NaN; a second of 0."""

    def limited(x: Var) -> Var:
        return Minimum()(_above_zero(x), x.builder.scalar(6, x.dtype))

    return by_formula("relu6", limited, b.array(features))


@TF.macro("formulas.leaky_relu")
def leaky_relu(b: Builder, features: Any, alpha: Any = 0.2) -> Any:
    """``x`` where ``x > 0``, else ``alpha x``.

    Convention: derivative ``alpha`` at 0 and NaN; a second derivative of 0.
    """

    def leaking(x: Var, slope: Var) -> Var:
        return Where()(x.exceeds(0), x, slope * x)

    return by_formula("leaky_relu", leaking, *b.promote(features, alpha))


@TF.macro("formulas.elu")
def elu(b: Builder, features: Any) -> Any:
    """``x`` where ``x >= 0``, else ``exp(x) - 1``, by ``z + 1`` where ``z < 0``, else 1."""

    def curved(x: Var) -> Var:
        return Where()(Less()(x, x.builder.scalar(0, x.dtype)), Expm1()(x), x)

    return by_formula("elu", curved, b.inexact(features))


@TF.macro("formulas.softsign")
def softsign(b: Builder, features: Any) -> Any:
    """``x / (1 + |x|)``, by ``1 / (1 + |x|)²``."""
    return recorded("softsign")(b, features)


def _above_zero(x: Var) -> Var:
    return Maximum()(x, x.builder.scalar(0, x.dtype))
