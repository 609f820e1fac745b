"""``tf.math``: elementwise functions."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
from gradwire.tf.operations.families import activation, binary, real, unary
from gradwire.tf.operations.types import Name, TensorLike
from gradwire.tf.tensors import Tensor

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "betainc", "ceil", "cos", "cosh",
    "digamma", "divide_no_nan", "erf", "erfc", "erfcinv", "erfinv", "exp", "expm1", "floor",
    "igamma", "igammac", "is_finite", "is_inf", "is_nan", "lgamma", "log", "log1p", "log_sigmoid",
    "maximum", "minimum", "multiply_no_nan", "ndtri", "polygamma", "reciprocal",
    "reciprocal_no_nan", "rint", "round", "rsqrt", "sign", "sin", "sinh", "softplus", "softsign",
    "sqrt", "square", "squared_difference", "tan", "tanh", "xdivy", "xlog1py", "xlogy", "zeta",
]  # fmt: skip


@unary("tf.formulas.acos", "Acos")
def acos() -> None:
    """Inverse cosine: ``cos z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.8."""


@unary("tf.formulas.acosh", "Acosh")
def acosh() -> None:
    """Inverse hyperbolic cosine: ``cosh z = x``; infinite slope at 1. Source: DLMF 4.40.5."""


@unary("tf.formulas.asin", "Asin")
def asin() -> None:
    """Inverse sine: ``sin z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.7."""


@unary("tf.asinh", "Asinh")
def asinh() -> None:
    """Inverse hyperbolic sine: ``sinh z = x``. Source: DLMF 4.40.4."""


@unary("tf.atan", "Atan")
def atan() -> None:
    """Inverse tangent: ``tan z = x``. Source: DLMF 4.24.9."""


@unary("tf.formulas.atanh", "Atanh")
def atanh() -> None:
    """Inverse hyperbolic tangent: ``tanh z = x``; infinite slope at ±1. Source: DLMF 4.40.6."""


@unary("tf.cos", "Cos")
def cos() -> None:
    """Cosine: ``z = cos x``. Source: DLMF 4.14.2."""


@unary("tf.cosh", "Cosh")
def cosh() -> None:
    """Hyperbolic cosine: ``z = cosh x``. Source: DLMF 4.28.2."""


@unary("tf.sin", "Sin")
def sin() -> None:
    """Sine: ``z = sin x``. Source: DLMF 4.14.1."""


@unary("tf.sinh", "Sinh")
def sinh() -> None:
    """Hyperbolic sine: ``z = sinh x``. Source: DLMF 4.28.1."""


@unary("tf.tan", "Tan")
def tan() -> None:
    """Tangent: ``z = tan x``. Source: DLMF 4.20.3."""


@unary("tf.tanh", "Tanh")
def tanh() -> None:
    """Hyperbolic tangent: ``z = tanh x``. Source: DLMF 4.34.3."""


@unary("tf.exp", "Exp")
def exp() -> None:
    """Exponential: ``z = e ** x``. Source: DLMF 4.2.19."""


@unary("tf.math.expm1", "Expm1")
def expm1() -> None:
    """Exponential less 1, exact near 0: ``z = e ** x - 1``."""


@unary("tf.formulas.log", "Log")
def log() -> None:
    """Natural logarithm: ``z = ln x``, the principal branch."""


@unary("tf.formulas.log1p", "Log1p")
def log1p() -> None:
    """Logarithm of ``1 + x``, exact near 0: ``z = ln(1 + x)``."""


@unary("tf.formulas.sqrt", "Sqrt")
def sqrt() -> None:
    """Square root: ``z = x ** (1/2)``. Convention: infinite slope at 0, NaN below for reals."""


@unary("tf.formulas.rsqrt", "Rsqrt")
def rsqrt() -> None:
    """Reciprocal of the square root: ``z = x ** (-1/2)``."""


@unary("tf.square", "Square", kinds.ARITHMETIC)
def square() -> None:
    """Square: ``z = x x``."""


@unary("tf.sigmoid", "Sigmoid")
def sigmoid() -> None:
    """Logistic function: ``z = 1 / (1 + exp(-x))``."""


@real("tf.math.log_sigmoid", "Softplus")
def log_sigmoid() -> None:
    """Logarithm of the logistic function: ``z = -ln(1 + exp(-x))``, without overflow."""


@unary("tf.sign", "Sign", kinds.SIGNED)
def sign() -> None:
    """Sign: ``z = x / |x|``, and 0 at 0. Convention: derivative 0 everywhere for real ``x``."""


@unary("tf.formulas.reciprocal", "Reciprocal", kinds.SIGNED)
def reciprocal() -> None:
    """Reciprocal: ``z = 1 / x``; of integers a float, as ``1 / x`` is."""


@unary("tf.math.reciprocal_no_nan", "DivNoNan", kinds.DIVISIBLE)
def reciprocal_no_nan() -> None:
    """``z = 1 / x``, and 0 where ``x`` is 0."""


@real("tf.floor", "Floor")
def floor() -> None:
    """Largest whole number that is at most ``x``; piecewise constant, so no gradient."""


@real("tf.math.ceil", "Ceil")
def ceil() -> None:
    """Smallest whole number that is at least ``x``; piecewise constant, so no gradient."""


@unary("tf.round", "Round", kinds.SIGNED)
def round() -> None:
    """Round to ``decimals`` places, halves to even; piecewise constant, so no gradient."""


@real("tf.math.rint", "Rint")
def rint() -> None:
    """Nearest whole number, halves to even, as a float; piecewise constant, so no gradient."""


@real("tf.math.erf", "Erf")
def erf() -> None:
    """Error function: ``z = 2 / sqrt(π) ∫ exp(-t²) dt`` from 0 to ``x``. Source: DLMF 7.2.1."""


@real("tf.math.erfc", "Erfc")
def erfc() -> None:
    """Complementary error function, exact for large ``x``: ``z = 1 - erf x``."""


@real("tf.math.erfinv", "Erfinv")
def erfinv() -> None:
    """Inverse error function: ``erf z = x``; infinite slope at ±1. Source: DLMF 7.17.1."""


@real("tf.math.erfcinv", "Ndtri")
def erfcinv() -> None:
    """Inverse of erfc, exact for small ``x``: ``erfc z = x``; infinite slope at 0 and 2."""


@real("tf.math.ndtri", "Ndtri")
def ndtri() -> None:
    """Quantile of the standard normal: ``Φ(z) = x``; infinite slope at 0 and 1."""


@real("tf.formulas.lgamma", "Lgamma")
def lgamma() -> None:
    """Logarithm of the gamma function's size: ``z = ln |Γ(x)|``, infinite at 0, -1, -2, …."""


@real("tf.formulas.digamma", "Digamma")
def digamma() -> None:
    """Slope of the logarithm of gamma: ``z = ψ(x) = Γ'(x) / Γ(x)``."""


@real("tf.math.is_finite", "IsFinite", rule=rules.bool_unary)
def is_finite() -> None:
    """True where ``x`` is neither infinite nor NaN, in both parts if complex."""


@real("tf.math.is_inf", "IsInf", rule=rules.bool_unary)
def is_inf() -> None:
    """True where ``x`` is infinite, in either part if complex."""


@real("tf.math.is_nan", "IsNan", rule=rules.bool_unary)
def is_nan() -> None:
    """True where ``x`` is NaN, in either part if complex."""


@activation("tf.math.softplus", "Softplus")
def softplus() -> None:
    """Smooth rectifier: ``z = ln(1 + exp(beta x)) / beta``, without overflow."""


@activation("tf.formulas.softsign", "Softsign")
def softsign() -> None:
    """``z = x / (1 + |x|)``. Convention: derivative 1 at 0."""


@binary("tf.realdiv", "RealDiv", kinds.MULTIPLIABLE)
def realdiv() -> None:
    """Quotient: ``z = x / y``. Infinite at ``y = 0``, with an entry in ``nonfinite``."""


@binary("tf.math.divide_no_nan", "DivNoNan", kinds.DIVISIBLE)
def divide_no_nan() -> None:
    """Quotient: ``z = x / y``, and 0 where ``y = 0``. Convention: derivatives 0 there."""


@binary("tf.formulas.multiply_no_nan", "MulNoNan", kinds.INEXACT)
def multiply_no_nan() -> None:
    """``z = x y``, and 0 where ``y`` is 0, whatever ``x`` is."""


@binary("tf.truncatediv", "TruncateDiv", kinds.MULTIPLIABLE)
def truncatediv() -> None:
    """Quotient rounded towards zero."""


@binary("tf.truncatemod", "TruncateMod", kinds.TRUNCATED, registered=False)
def truncatemod() -> None:
    """Remainder with the dividend's sign: ``z = x - y trunc(x / y)``."""


@binary("tf.maximum", "Maximum", kinds.ORDERED_BINARY)
def maximum() -> None:
    """Larger of two: ``z = max(x, y)``, NaN if either is."""


@binary("tf.minimum", "Minimum", kinds.ORDERED_BINARY)
def minimum() -> None:
    """Smaller of two: ``z = min(x, y)``, NaN if either is."""


@operation(rules.binary, "tf.formulas.atan2", "Atan2", kinds.FLOATS)
def atan2(y: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Angle of the point ``(y, x)``, the vertical coordinate first: ``tan z = x1 / x2``."""


@binary("tf.math.squared_difference", "SquaredDifference", kinds.DIFFERENCES)
def squared_difference() -> None:
    """Square of a difference: ``z = (x - y)* (x - y)``."""


@binary("tf.formulas.xlogy", "Xlogy", kinds.LOGARITHMIC)
def xlogy() -> None:
    """Product with a logarithm: ``z = x ln y``, and 0 where ``x`` is 0."""


@binary("tf.formulas.xlog1py", "Xlog1py", kinds.LOGARITHMIC)
def xlog1py() -> None:
    """Product with a logarithm: ``z = x ln(1 + y)``, and 0 where ``x`` is 0."""


@binary("tf.formulas.xdivy", "Xdivy", kinds.LOGARITHMIC)
def xdivy() -> None:
    """``z = x / y``, and 0 where ``x`` is 0, whatever ``y`` is."""


@operation(rules.binary, "tf.math.igamma", "Igamma", kinds.FLOATS)
def igamma(a: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Regularised lower incomplete gamma function: ``z = P(a, x) = ∫ tᵃ⁻¹ exp(-t) dt / Γ(a)``."""


@operation(rules.binary, "tf.math.igammac", "Igammac", kinds.FLOATS)
def igammac(a: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Regularised upper incomplete gamma function: ``z = Q(a, x) = 1 - P(a, x)``."""


@operation(rules.binary, "tf.formulas.zeta", "Zeta", kinds.FLOAT_DOUBLE)
def zeta(x: TensorLike, q: TensorLike, name: Name = None) -> Tensor:
    """Zeta function of Hurwitz's: ``z = ζ(x, q) = Σ (k + q)⁻ˣ`` over ``k ≥ 0``; Riemann's: q =
    1.
    """


@operation(rules.binary, "tf.math.polygamma", "Polygamma", kinds.FLOAT_DOUBLE)
def polygamma(a: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Derivative of order ``a``, whole numbers, of digamma: ``z = (-1)^(a+1) a! ζ(a + 1, x)``."""


@operation(rules.ternary, "tf.formulas.betainc", "Betainc", kinds.FLOAT_DOUBLE)
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Regularised incomplete beta function: ``I_x(a, b) = ∫ tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt / B(a, b)``."""
