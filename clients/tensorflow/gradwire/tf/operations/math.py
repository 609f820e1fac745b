"""``tf.math``: elementwise functions."""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.declaring import operation
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


@operation(rules.unary, "tf.formulas.acos", "Acos", kinds.INEXACT)
def acos(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse cosine: ``cos z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.8."""


@operation(rules.unary, "tf.formulas.acosh", "Acosh", kinds.INEXACT)
def acosh(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse hyperbolic cosine: ``cosh z = x``; infinite slope at 1. Source: DLMF 4.40.5."""


@operation(rules.unary, "tf.formulas.asin", "Asin", kinds.INEXACT)
def asin(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse sine: ``sin z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.7."""


@operation(rules.unary, "tf.asinh", "Asinh", kinds.INEXACT)
def asinh(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse hyperbolic sine: ``sinh z = x``. Source: DLMF 4.40.4."""


@operation(rules.unary, "tf.atan", "Atan", kinds.INEXACT)
def atan(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse tangent: ``tan z = x``. Source: DLMF 4.24.9."""


@operation(rules.unary, "tf.formulas.atanh", "Atanh", kinds.INEXACT)
def atanh(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse hyperbolic tangent: ``tanh z = x``; infinite slope at ±1. Source: DLMF 4.40.6."""


@operation(rules.unary, "tf.cos", "Cos", kinds.INEXACT)
def cos(x: TensorLike, name: Name = None) -> Tensor:
    """Cosine: ``z = cos x``. Source: DLMF 4.14.2."""


@operation(rules.unary, "tf.cosh", "Cosh", kinds.INEXACT)
def cosh(x: TensorLike, name: Name = None) -> Tensor:
    """Hyperbolic cosine: ``z = cosh x``. Source: DLMF 4.28.2."""


@operation(rules.unary, "tf.sin", "Sin", kinds.INEXACT)
def sin(x: TensorLike, name: Name = None) -> Tensor:
    """Sine: ``z = sin x``. Source: DLMF 4.14.1."""


@operation(rules.unary, "tf.sinh", "Sinh", kinds.INEXACT)
def sinh(x: TensorLike, name: Name = None) -> Tensor:
    """Hyperbolic sine: ``z = sinh x``. Source: DLMF 4.28.1."""


@operation(rules.unary, "tf.tan", "Tan", kinds.INEXACT)
def tan(x: TensorLike, name: Name = None) -> Tensor:
    """Tangent: ``z = tan x``. Source: DLMF 4.20.3."""


@operation(rules.unary, "tf.tanh", "Tanh", kinds.INEXACT)
def tanh(x: TensorLike, name: Name = None) -> Tensor:
    """Hyperbolic tangent: ``z = tanh x``. Source: DLMF 4.34.3."""


@operation(rules.unary, "tf.exp", "Exp", kinds.INEXACT)
def exp(x: TensorLike, name: Name = None) -> Tensor:
    """Exponential: ``z = e ** x``. Source: DLMF 4.2.19."""


@operation(rules.unary, "tf.math.expm1", "Expm1", kinds.INEXACT)
def expm1(x: TensorLike, name: Name = None) -> Tensor:
    """Exponential less 1, exact near 0: ``z = e ** x - 1``."""


@operation(rules.unary, "tf.formulas.log", "Log", kinds.INEXACT)
def log(x: TensorLike, name: Name = None) -> Tensor:
    """Natural logarithm: ``z = ln x``, the principal branch."""


@operation(rules.unary, "tf.formulas.log1p", "Log1p", kinds.INEXACT)
def log1p(x: TensorLike, name: Name = None) -> Tensor:
    """Logarithm of ``1 + x``, exact near 0: ``z = ln(1 + x)``."""


@operation(rules.unary, "tf.formulas.sqrt", "Sqrt", kinds.INEXACT)
def sqrt(x: TensorLike, name: Name = None) -> Tensor:
    """Square root: ``z = x ** (1/2)``. Convention: infinite slope at 0, NaN below for reals."""


@operation(rules.unary, "tf.formulas.rsqrt", "Rsqrt", kinds.INEXACT)
def rsqrt(x: TensorLike, name: Name = None) -> Tensor:
    """Reciprocal of the square root: ``z = x ** (-1/2)``."""


@operation(rules.unary, "tf.square", "Square", kinds.ARITHMETIC)
def square(x: TensorLike, name: Name = None) -> Tensor:
    """Square: ``z = x x``."""


@operation(rules.unary, "tf.sigmoid", "Sigmoid", kinds.INEXACT)
def sigmoid(x: TensorLike, name: Name = None) -> Tensor:
    """Logistic function: ``z = 1 / (1 + exp(-x))``."""


@operation(rules.unary, "tf.math.log_sigmoid", "Softplus", kinds.FLOATS)
def log_sigmoid(x: TensorLike, name: Name = None) -> Tensor:
    """Logarithm of the logistic function: ``z = -ln(1 + exp(-x))``, without overflow."""


@operation(rules.unary, "tf.sign", "Sign", kinds.SIGNED)
def sign(x: TensorLike, name: Name = None) -> Tensor:
    """Sign: ``z = x / |x|``, and 0 at 0. Convention: derivative 0 everywhere for real ``x``."""


@operation(rules.unary, "tf.formulas.reciprocal", "Reciprocal", kinds.SIGNED)
def reciprocal(x: TensorLike, name: Name = None) -> Tensor:
    """Reciprocal: ``z = 1 / x``; of integers a float, as ``1 / x`` is."""


@operation(rules.unary, "tf.math.reciprocal_no_nan", "DivNoNan", kinds.DIVISIBLE)
def reciprocal_no_nan(x: TensorLike, name: Name = None) -> Tensor:
    """``z = 1 / x``, and 0 where ``x`` is 0."""


@operation(rules.unary, "tf.floor", "Floor", kinds.FLOATS)
def floor(x: TensorLike, name: Name = None) -> Tensor:
    """Largest whole number that is at most ``x``; piecewise constant, so no gradient."""


@operation(rules.unary, "tf.math.ceil", "Ceil", kinds.FLOATS)
def ceil(x: TensorLike, name: Name = None) -> Tensor:
    """Smallest whole number that is at least ``x``; piecewise constant, so no gradient."""


@operation(rules.unary, "tf.round", "Round", kinds.SIGNED)
def round(x: TensorLike, name: Name = None) -> Tensor:
    """Round to ``decimals`` places, halves to even; piecewise constant, so no gradient."""


@operation(rules.unary, "tf.math.rint", "Rint", kinds.FLOATS)
def rint(x: TensorLike, name: Name = None) -> Tensor:
    """Nearest whole number, halves to even, as a float; piecewise constant, so no gradient."""


@operation(rules.unary, "tf.math.erf", "Erf", kinds.FLOATS)
def erf(x: TensorLike, name: Name = None) -> Tensor:
    """Error function: ``z = 2 / sqrt(π) ∫ exp(-t²) dt`` from 0 to ``x``. Source: DLMF 7.2.1."""


@operation(rules.unary, "tf.math.erfc", "Erfc", kinds.FLOATS)
def erfc(x: TensorLike, name: Name = None) -> Tensor:
    """Complementary error function, exact for large ``x``: ``z = 1 - erf x``."""


@operation(rules.unary, "tf.math.erfinv", "Erfinv", kinds.FLOATS)
def erfinv(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse error function: ``erf z = x``; infinite slope at ±1. Source: DLMF 7.17.1."""


@operation(rules.unary, "tf.math.erfcinv", "Ndtri", kinds.FLOATS)
def erfcinv(x: TensorLike, name: Name = None) -> Tensor:
    """Inverse of erfc, exact for small ``x``: ``erfc z = x``; infinite slope at 0 and 2."""


@operation(rules.unary, "tf.math.ndtri", "Ndtri", kinds.FLOATS)
def ndtri(x: TensorLike, name: Name = None) -> Tensor:
    """Quantile of the standard normal: ``Φ(z) = x``; infinite slope at 0 and 1."""


@operation(rules.unary, "tf.formulas.lgamma", "Lgamma", kinds.FLOATS)
def lgamma(x: TensorLike, name: Name = None) -> Tensor:
    """Logarithm of the gamma function's size: ``z = ln |Γ(x)|``, infinite at 0, -1, -2, …."""


@operation(rules.unary, "tf.formulas.digamma", "Digamma", kinds.FLOATS)
def digamma(x: TensorLike, name: Name = None) -> Tensor:
    """Slope of the logarithm of gamma: ``z = ψ(x) = Γ'(x) / Γ(x)``."""


@operation(rules.bool_unary, "tf.math.is_finite", "IsFinite", kinds.FLOATS)
def is_finite(x: TensorLike, name: Name = None) -> Tensor:
    """True where ``x`` is neither infinite nor NaN, in both parts if complex."""


@operation(rules.bool_unary, "tf.math.is_inf", "IsInf", kinds.FLOATS)
def is_inf(x: TensorLike, name: Name = None) -> Tensor:
    """True where ``x`` is infinite, in either part if complex."""


@operation(rules.bool_unary, "tf.math.is_nan", "IsNan", kinds.FLOATS)
def is_nan(x: TensorLike, name: Name = None) -> Tensor:
    """True where ``x`` is NaN, in either part if complex."""


@operation(rules.unary, "tf.math.softplus", "Softplus", kinds.LAYER)
def softplus(features: TensorLike, name: Name = None) -> Tensor:
    """Smooth rectifier: ``z = ln(1 + exp(beta x)) / beta``, without overflow."""


@operation(rules.unary, "tf.formulas.softsign", "Softsign", kinds.LAYER)
def softsign(features: TensorLike, name: Name = None) -> Tensor:
    """``z = x / (1 + |x|)``. Convention: derivative 1 at 0."""


@operation(rules.binary, "tf.realdiv", "RealDiv", kinds.MULTIPLIABLE)
def realdiv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Quotient: ``z = x / y``. Infinite at ``y = 0``, with an entry in ``nonfinite``."""


@operation(rules.binary, "tf.math.divide_no_nan", "DivNoNan", kinds.DIVISIBLE)
def divide_no_nan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Quotient: ``z = x / y``, and 0 where ``y = 0``. Convention: derivatives 0 there."""


@operation(rules.binary, "tf.formulas.multiply_no_nan", "MulNoNan", kinds.INEXACT)
def multiply_no_nan(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """``z = x y``, and 0 where ``y`` is 0, whatever ``x`` is."""


@operation(rules.binary, "tf.truncatediv", "TruncateDiv", kinds.MULTIPLIABLE)
def truncatediv(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Quotient rounded towards zero."""


@operation(rules.binary, "tf.truncatemod", "TruncateMod", kinds.TRUNCATED, registered=False)
def truncatemod(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Remainder with the dividend's sign: ``z = x - y trunc(x / y)``."""


@operation(rules.binary, "tf.maximum", "Maximum", kinds.ORDERED_BINARY)
def maximum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Larger of two: ``z = max(x, y)``, NaN if either is."""


@operation(rules.binary, "tf.minimum", "Minimum", kinds.ORDERED_BINARY)
def minimum(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Smaller of two: ``z = min(x, y)``, NaN if either is."""


@operation(rules.binary, "tf.formulas.atan2", "Atan2", kinds.FLOATS)
def atan2(y: TensorLike, x: TensorLike, name: Name = None) -> Tensor:
    """Angle of the point ``(y, x)``, the vertical coordinate first: ``tan z = x1 / x2``."""


@operation(rules.binary, "tf.math.squared_difference", "SquaredDifference", kinds.DIFFERENCES)
def squared_difference(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Square of a difference: ``z = (x - y)* (x - y)``."""


@operation(rules.binary, "tf.formulas.xlogy", "Xlogy", kinds.LOGARITHMIC)
def xlogy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Product with a logarithm: ``z = x ln y``, and 0 where ``x`` is 0."""


@operation(rules.binary, "tf.formulas.xlog1py", "Xlog1py", kinds.LOGARITHMIC)
def xlog1py(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
    """Product with a logarithm: ``z = x ln(1 + y)``, and 0 where ``x`` is 0."""


@operation(rules.binary, "tf.formulas.xdivy", "Xdivy", kinds.LOGARITHMIC)
def xdivy(x: TensorLike, y: TensorLike, name: Name = None) -> Tensor:
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
