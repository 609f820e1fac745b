"""``tf.math``: elementwise functions, reductions, running totals.

Written by clients/tensorflow/tools/operations.py.
"""

from __future__ import annotations

from gradwire.tf.operations import kinds, rules
from gradwire.tf.operations.types import Axis, TensorLike
from gradwire.tf.tensors import Tensor
from gradwire.tf.unregistered import unregistered

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "betainc",
    "ceil",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "digamma",
    "divide_no_nan",
    "erf",
    "erfc",
    "erfcinv",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "igamma",
    "igammac",
    "in_top_k",
    "invert_permutation",
    "is_finite",
    "is_inf",
    "is_nan",
    "lbeta",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "maximum",
    "minimum",
    "multiply_no_nan",
    "ndtri",
    "polygamma",
    "realdiv",
    "reciprocal",
    "reciprocal_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "square",
    "squared_difference",
    "tan",
    "tanh",
    "truncatediv",
    "truncatemod",
    "xdivy",
    "xlog1py",
    "xlogy",
    "zero_fraction",
    "zeta",
]


def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse cosine: ``cos z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.8."""
    return rules.unary("tf.formulas.acos", "Acos", kinds.INEXACT, x)


def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse hyperbolic cosine: ``cosh z = x``; infinite slope at 1. Source: DLMF 4.40.5."""
    return rules.unary("tf.formulas.acosh", "Acosh", kinds.INEXACT, x)


def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse sine: ``sin z = x``. Convention: infinite slope at ±1. Source: DLMF 4.24.7."""
    return rules.unary("tf.formulas.asin", "Asin", kinds.INEXACT, x)


def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse hyperbolic sine: ``sinh z = x``. Source: DLMF 4.40.4."""
    return rules.unary("tf.asinh", "Asinh", kinds.INEXACT, x)


def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse tangent: ``tan z = x``. Source: DLMF 4.24.9."""
    return rules.unary("tf.atan", "Atan", kinds.INEXACT, x)


def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse hyperbolic tangent: ``tanh z = x``; infinite slope at ±1. Source: DLMF 4.40.6."""
    return rules.unary("tf.formulas.atanh", "Atanh", kinds.INEXACT, x)


def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Cosine: ``z = cos x``. Source: DLMF 4.14.2."""
    return rules.unary("tf.cos", "Cos", kinds.INEXACT, x)


def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Hyperbolic cosine: ``z = cosh x``. Source: DLMF 4.28.2."""
    return rules.unary("tf.cosh", "Cosh", kinds.INEXACT, x)


def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Sine: ``z = sin x``. Source: DLMF 4.14.1."""
    return rules.unary("tf.sin", "Sin", kinds.INEXACT, x)


def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Hyperbolic sine: ``z = sinh x``. Source: DLMF 4.28.1."""
    return rules.unary("tf.sinh", "Sinh", kinds.INEXACT, x)


def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """Tangent: ``z = tan x``. Source: DLMF 4.20.3."""
    return rules.unary("tf.tan", "Tan", kinds.INEXACT, x)


def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Hyperbolic tangent: ``z = tanh x``. Source: DLMF 4.34.3."""
    return rules.unary("tf.tanh", "Tanh", kinds.INEXACT, x)


def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """Exponential: ``z = e ** x``. Source: DLMF 4.2.19."""
    return rules.unary("tf.exp", "Exp", kinds.INEXACT, x)


def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """Exponential less 1, exact near 0: ``z = e ** x - 1``."""
    return rules.unary("tf.math.expm1", "Expm1", kinds.INEXACT, x)


def log(x: TensorLike, name: str | None = None) -> Tensor:
    """Natural logarithm: ``z = ln x``, the principal branch."""
    return rules.unary("tf.formulas.log", "Log", kinds.INEXACT, x)


def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of ``1 + x``, exact near 0: ``z = ln(1 + x)``."""
    return rules.unary("tf.formulas.log1p", "Log1p", kinds.INEXACT, x)


def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Square root: ``z = x ** (1/2)``. Convention: infinite slope at 0, NaN below for reals."""
    return rules.unary("tf.formulas.sqrt", "Sqrt", kinds.INEXACT, x)


def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Reciprocal of the square root: ``z = x ** (-1/2)``."""
    return rules.unary("tf.formulas.rsqrt", "Rsqrt", kinds.INEXACT, x)


def square(x: TensorLike, name: str | None = None) -> Tensor:
    """Square: ``z = x x``."""
    return rules.unary("tf.square", "Square", kinds.ARITHMETIC, x)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Logistic function: ``z = 1 / (1 + exp(-x))``."""
    return rules.unary("tf.sigmoid", "Sigmoid", kinds.INEXACT, x)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of the logistic function: ``z = -ln(1 + exp(-x))``, without overflow."""
    return rules.unary("tf.math.log_sigmoid", "Softplus", kinds.REAL, x)


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """Sign: ``z = x / |x|``, and 0 at 0. Convention: derivative 0 everywhere for real ``x``."""
    return rules.unary("tf.sign", "Sign", kinds.SIGNED, x)


def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """Reciprocal: ``z = 1 / x``; of integers a float, as ``1 / x`` is."""
    return rules.unary("tf.formulas.reciprocal", "Reciprocal", kinds.SIGNED, x)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """``z = 1 / x``, and 0 where ``x`` is 0."""
    return rules.unary("tf.math.reciprocal_no_nan", "DivNoNan", kinds.DIVISIBLE, x)


def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """Largest whole number that is at most ``x``; piecewise constant, so no gradient."""
    return rules.unary("tf.floor", "Floor", kinds.REAL, x)


def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """Smallest whole number that is at least ``x``; piecewise constant, so no gradient."""
    return rules.unary("tf.math.ceil", "Ceil", kinds.REAL, x)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """Round to ``decimals`` places, halves to even; piecewise constant, so no gradient."""
    return rules.unary("tf.round", "Round", kinds.SIGNED, x)


def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """Nearest whole number, halves to even, as a float; piecewise constant, so no gradient."""
    return rules.unary("tf.math.rint", "Rint", kinds.REAL, x)


def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """Error function: ``z = 2 / sqrt(π) ∫ exp(-t²) dt`` from 0 to ``x``. Source: DLMF 7.2.1."""
    return rules.unary("tf.math.erf", "Erf", kinds.REAL, x)


def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """Complementary error function, exact for large ``x``: ``z = 1 - erf x``."""
    return rules.unary("tf.math.erfc", "Erfc", kinds.REAL, x)


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse error function: ``erf z = x``; infinite slope at ±1. Source: DLMF 7.17.1."""
    return rules.unary("tf.math.erfinv", "Erfinv", kinds.REAL, x)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Inverse of erfc, exact for small ``x``: ``erfc z = x``; infinite slope at 0 and 2."""
    return rules.unary("tf.math.erfcinv", "Ndtri", kinds.REAL, x)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """Quantile of the standard normal: ``Φ(z) = x``; infinite slope at 0 and 1."""
    return rules.unary("tf.math.ndtri", "Ndtri", kinds.REAL, x)


def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of the gamma function's size: ``z = ln |Γ(x)|``, infinite at 0, -1, -2, …."""
    return rules.unary("tf.formulas.lgamma", "Lgamma", kinds.REAL, x)


def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Slope of the logarithm of gamma: ``z = ψ(x) = Γ'(x) / Γ(x)``."""
    return rules.unary("tf.formulas.digamma", "Digamma", kinds.REAL, x)


def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """True where ``x`` is neither infinite nor NaN, in both parts if complex."""
    return rules.bool_unary("tf.math.is_finite", "IsFinite", kinds.REAL, x)


def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """True where ``x`` is infinite, in either part if complex."""
    return rules.bool_unary("tf.math.is_inf", "IsInf", kinds.REAL, x)


def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """True where ``x`` is NaN, in either part if complex."""
    return rules.bool_unary("tf.math.is_nan", "IsNan", kinds.REAL, x)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """Smooth rectifier: ``z = ln(1 + exp(beta x)) / beta``, without overflow."""
    return rules.unary("tf.math.softplus", "Softplus", kinds.LAYER, features)


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """``z = x / (1 + |x|)``. Convention: derivative 1 at 0."""
    return rules.unary("tf.formulas.softsign", "Softsign", kinds.LAYER, features)


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient: ``z = x / y``. Infinite at ``y = 0``, with an entry in ``nonfinite``."""
    return rules.binary("tf.realdiv", "RealDiv", kinds.MULTIPLIABLE, x, y)


def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient: ``z = x / y``, and 0 where ``y = 0``. Convention: derivatives 0 there."""
    return rules.binary("tf.math.divide_no_nan", "DivNoNan", kinds.DIVISIBLE, x, y)


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``z = x y``, and 0 where ``y`` is 0, whatever ``x`` is."""
    return rules.binary("tf.formulas.multiply_no_nan", "MulNoNan", kinds.INEXACT, x, y)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Quotient rounded towards zero."""
    return rules.binary("tf.truncatediv", "TruncateDiv", kinds.MULTIPLIABLE, x, y)


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Remainder with the dividend's sign: ``z = x - y trunc(x / y)``."""
    return unregistered(
        "TruncateMod",
        [x, y],
        lambda: rules.binary("tf.truncatemod", "TruncateMod", kinds.TRUNCATED, x, y),
    )


def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Larger of two: ``z = max(x, y)``, NaN if either is."""
    return rules.binary("tf.maximum", "Maximum", kinds.ORDERED_BINARY, x, y)


def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Smaller of two: ``z = min(x, y)``, NaN if either is."""
    return rules.binary("tf.minimum", "Minimum", kinds.ORDERED_BINARY, x, y)


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Angle of the point ``(y, x)``, the vertical coordinate first: ``tan z = x1 / x2``."""
    return rules.binary("tf.formulas.atan2", "Atan2", kinds.REAL, y, x)


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Square of a difference: ``z = (x - y)* (x - y)``."""
    return rules.binary("tf.math.squared_difference", "SquaredDifference", kinds.DIFFERENCES, x, y)


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product with a logarithm: ``z = x ln y``, and 0 where ``x`` is 0."""
    return rules.binary("tf.formulas.xlogy", "Xlogy", kinds.LOGARITHMIC, x, y)


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Product with a logarithm: ``z = x ln(1 + y)``, and 0 where ``x`` is 0."""
    return rules.binary("tf.formulas.xlog1py", "Xlog1py", kinds.LOGARITHMIC, x, y)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """``z = x / y``, and 0 where ``x`` is 0, whatever ``y`` is."""
    return rules.binary("tf.formulas.xdivy", "Xdivy", kinds.LOGARITHMIC, x, y)


def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Regularised lower incomplete gamma function: ``z = P(a, x) = ∫ tᵃ⁻¹ exp(-t) dt / Γ(a)``."""
    return rules.binary("tf.math.igamma", "Igamma", kinds.REAL, a, x)


def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Regularised upper incomplete gamma function: ``z = Q(a, x) = 1 - P(a, x)``."""
    return rules.binary("tf.math.igammac", "Igammac", kinds.REAL, a, x)


def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Zeta function of Hurwitz's: ``z = ζ(x, q) = Σ (k + q)⁻ˣ`` over ``k ≥ 0``; Riemann's: q =
    1.
    """
    return rules.binary("tf.formulas.zeta", "Zeta", kinds.FLOAT_DOUBLE, x, q)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Derivative of order ``a``, whole numbers, of digamma: ``z = (-1)^(a+1) a! ζ(a + 1, x)``."""
    return rules.binary("tf.math.polygamma", "Polygamma", kinds.FLOAT_DOUBLE, a, x)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Regularised incomplete beta function: ``I_x(a, b) = ∫ tᵃ⁻¹ (1 - t)ᵇ⁻¹ dt / B(a, b)``."""
    return rules.ternary("tf.formulas.betainc", "Betainc", kinds.FLOAT_DOUBLE, a, b, x)


def reduce_sum(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Sum over ``axis`` (all axes by default): ``z = sum x``; integers add up in 64 bits."""
    return rules.reduce(
        "tf.reduce_sum",
        "Sum",
        kinds.SUMS,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_mean(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Mean over ``axis``: ``z = sum x / n``; in float64 for integers, NaN of no elements."""
    return rules.reduce(
        "tf.reduce_mean",
        "Mean",
        kinds.SUMS,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_prod(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Product over ``axis``: ``z = prod x``; integers multiply in 64 bits."""
    return rules.reduce(
        "tf.reduce_prod",
        "Prod",
        kinds.SUMS,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_max(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Largest element over ``axis``; NaN if there is one."""
    return rules.reduce(
        "tf.reduce_max",
        "Max",
        kinds.EXTREMES,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_min(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Smallest element over ``axis``; NaN if there is one."""
    return rules.reduce(
        "tf.reduce_min",
        "Min",
        kinds.EXTREMES,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_all(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True if every element over ``axis`` is nonzero."""
    return rules.reduce(
        "tf.reduce_all",
        "All",
        kinds.BOOL,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_any(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True if some element over ``axis`` is nonzero."""
    return rules.reduce(
        "tf.reduce_any",
        "Any",
        kinds.BOOL,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Logarithm of a sum of exponentials over ``axis`` (all by default): ``z = ln sum(b
    exp(a))``.
    """
    return rules.reduce(
        "tf.formulas.reduce_logsumexp",
        "IsFinite",
        kinds.REAL,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Norm ``ord`` of all elements over ``axis`` (one, several, or all) as one vector."""
    return rules.reduce(
        "tf.formulas.reduce_euclidean_norm",
        "EuclideanNorm",
        kinds.SUMS,
        {"input_tensor": input_tensor},
        {"axis": axis, "keepdims": keepdims},
    )


def cumsum(
    x: TensorLike,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running sum along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """
    return rules.scan(
        "tf.cumsum",
        "Cumsum",
        kinds.SUMS,
        {"x": x},
        {"axis": axis, "exclusive": exclusive, "reverse": reverse},
    )


def cumprod(
    x: TensorLike,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running product along ``axis``, without the element itself if ``exclusive``, from the end
    if ``reverse``.
    """
    return rules.scan(
        "tf.math.cumprod",
        "Cumprod",
        kinds.SUMS,
        {"x": x},
        {"axis": axis, "exclusive": exclusive, "reverse": reverse},
    )


def cumulative_logsumexp(
    x: TensorLike,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Logarithm of the running sum of exponentials along ``axis``; ``-inf`` of none."""
    return rules.scan(
        "tf.math.cumulative_logsumexp",
        "CumulativeLogsumexp",
        kinds.REAL,
        {"x": x},
        {"axis": axis, "exclusive": exclusive, "reverse": reverse},
    )


def softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Exponentials normalised to sum 1 over ``axis``: ``z = exp(x) / sum exp(x)``."""
    return rules.same(
        "tf.math.softmax",
        "Softmax",
        kinds.LAYER,
        {"logits": logits},
        {"axis": -1 if axis is None else axis},
    )


def log_softmax(logits: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Logarithm of softmax over ``axis``: ``z = x - ln sum exp(x)``."""
    return rules.same(
        "tf.math.log_softmax",
        "LogSoftmax",
        kinds.LAYER,
        {"logits": logits},
        {"axis": -1 if axis is None else axis},
    )


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """Logarithm of the beta function along the last axis: ``z = sum ln Γ(x) - ln Γ(sum x)``."""
    return rules.like("tf.formulas.lbeta", "Lgamma", kinds.REAL, {"x": x}, {})


def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: int, name: str | None = None
) -> Tensor:
    """True where fewer than ``k`` predictions of a row exceed that of its target."""
    return rules.typed(
        "bool",
        "tf.math.in_top_k",
        "InTopKV2",
        kinds.NUMBER,
        {"targets": targets, "predictions": predictions},
        {"k": k},
        places=("targets", "predictions"),
    )


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The place of each of ``0 … n - 1`` in ``x``."""
    return rules.like("tf.math.invert_permutation", "InvertPermutation", kinds.NUMBER, {"x": x}, {})


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Part of the elements that are zero, in single precision."""
    return rules.typed(
        "float32", "tf.math.zero_fraction", "ZeroFraction", None, {"value": value}, {}
    )
