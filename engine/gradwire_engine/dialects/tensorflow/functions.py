"""TensorFlow's elementwise functions that mean something else, and clipping by norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.axes import integer
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import dtype_of, inexact_promoted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TF.macro("add_n math.add_n math.accumulate_n")
def add_n(b: Builder, inputs: Any) -> Any:
    """Sum of the arrays in a list, elementwise."""
    if not isinstance(inputs, list | tuple) or not inputs:
        raise BadArgument("add_n needs a list of at least one array")
    total = b.array(inputs[0])
    for item in inputs[1:]:
        total = recorded("add")(b, total, item)
    return total


@TF.macro("math.multiply_no_nan")
def multiply_no_nan(b: Builder, x: Any, y: Any) -> Any:
    """``z = x y``, and 0 where ``y`` is 0, whatever ``x`` is.

    Convention: where ``y`` is 0 its derivative is ``x`` where that is finite, else 0.
    """
    x, y = b.promote(x, y)
    hidden = recorded("logical_and")(
        b, recorded("equal")(b, y, 0), recorded("logical_not")(b, recorded("isfinite")(b, x))
    )
    return recorded("multiply")(b, recorded("where")(b, hidden, 0, x), y)


@TF.macro("nn.selu keras.activations.selu")
def selu(b: Builder, features: Any) -> Any:
    """Self-normalising exponential linear unit: ``z = λ x`` where ``x >= 0``, else ``λ elu(x, α)``.

    Convention: derivative ``λ`` at 0.
    """
    (x,) = b.promote(features, rule=inexact_promoted)
    curved = 1.6732632423543772 * recorded("expm1")(b, x)
    return recorded("where")(b, recorded("less")(b, x, 0), curved, x) * 1.0507009873554805


@TF.macro("math.xdivy")
def xdivy(b: Builder, x: Any, y: Any) -> Any:
    """``z = x / y``, and 0 where ``x`` is 0, whatever ``y`` is."""
    x, y = b.promote(x, y, rule=inexact_promoted)
    zero = recorded("equal")(b, x, 0)
    quotient = x / recorded("where")(b, zero, 1, y)
    return recorded("where")(b, zero, 0, quotient)


@TF.macro("math.reciprocal_no_nan")
def reciprocal_no_nan(b: Builder, x: Any) -> Any:
    """``z = 1 / x``, and 0 where ``x`` is 0."""
    return recorded("divide_no_nan")(b, 1, x)


@TF.macro("math.squared_difference")
def squared_difference(b: Builder, x: Any, y: Any) -> Any:
    """Square of a difference: ``z = (x - y)* (x - y)``."""
    x, y = b.promote(x, y)
    difference = x - y
    if difference.dtype.kind != "c":
        return recorded("square")(b, difference)
    return recorded("conj")(b, difference) * difference


@TF.macro("truncatediv")
def truncatediv(b: Builder, x: Any, y: Any) -> Any:
    """Quotient rounded towards zero."""
    x, y = b.promote(x, y)
    if x.dtype.kind == "f":
        return recorded("trunc")(b, x / y)
    sizes = [recorded("absolute")(b, v) for v in (x, y)]
    signs = [recorded("sign")(b, v) for v in (x, y)]
    return signs[0] * signs[1] * recorded("floor_divide")(b, *sizes)


@TF.macro("math.polyval")
def polyval(b: Builder, coeffs: Any, x: Any) -> Any:
    """Polynomial at ``x`` by Horner's rule; the list ``coeffs`` begins with the highest power."""
    if not isinstance(coeffs, list | tuple):
        raise BadArgument("polyval needs a list of coefficients")
    z: Any = 0
    for coefficient in coeffs:
        z = recorded("add")(b, recorded("multiply")(b, z, x), coefficient)
    return z


@TF.macro("math.polygamma")
def polygamma(b: Builder, a: Any, x: Any) -> Any:
    """Derivative of order ``a``, whole numbers, of digamma: ``z = (-1)^(a+1) a! ζ(a + 1, x)``.

    Convention: the order has no derivative.  Source: DLMF 5.15.1, 25.11.12.
    """
    if isinstance(a, int | float) and float(a).is_integer():
        return recorded("polygamma")(b, int(a), x)
    n, x = b.promote(recorded("stop_gradient")(b, a), x, rule=inexact_promoted)
    first, odd = n.equals(0), recorded("equal")(b, recorded("remainder")(b, n, 2), 1)
    order = recorded("where")(b, first, 1, n)
    size = recorded("gamma")(b, order + 1) * recorded("zeta")(b, order + 1, x)
    signed = recorded("where")(b, odd, size, -size)
    return recorded("where")(b, first, recorded("digamma")(b, x), signed)


@TF.macro("math.lbeta")
def lbeta(b: Builder, x: Any) -> Any:
    """Logarithm of the beta function along the last axis: ``z = sum ln Γ(x) - ln Γ(sum x)``."""
    parts = recorded("sum")(b, recorded("gammaln")(b, x), -1)
    return recorded("subtract")(b, parts, recorded("gammaln")(b, recorded("sum")(b, x, -1)))


@TF.macro("clip_by_norm")
def clip_by_norm(b: Builder, t: Any, clip_norm: Any, axes: Static = None) -> Any:
    """``t`` scaled down to a Euclidean norm of at most ``clip_norm`` over ``axes``."""
    length = recorded("vector_norm")(b, t, axes, keepdims=True)
    scale = recorded("divide")(b, clip_norm, recorded("maximum")(b, length, clip_norm))
    return recorded("multiply")(b, t, scale)


@TF.macro("linalg.global_norm")
def global_norm(b: Builder, t_list: Any) -> Any:
    """Euclidean norm of all arrays in a list as one vector."""
    squares = [recorded("vector_norm")(b, t) for t in _listed(t_list)]
    return recorded("vector_norm")(b, squares)


@TF.macro("clip_by_global_norm")
def clip_by_global_norm(b: Builder, t_list: Any, clip_norm: Any, use_norm: Any = None) -> Any:
    """A list of the arrays scaled down to a norm of at most ``clip_norm`` together, and that norm
    before, which ``use_norm`` may give.
    """
    length = global_norm(b, t_list) if use_norm is None else use_norm
    scale = recorded("divide")(b, clip_norm, recorded("maximum")(b, length, clip_norm))
    return [[recorded("multiply")(b, t, scale) for t in _listed(t_list)], length]


def _listed(arrays: Any) -> Any:
    if not isinstance(arrays, list | tuple) or not arrays:
        raise BadArgument("a list of at least one array is needed")
    return arrays


@TF.macro("math.zero_fraction nn.zero_fraction")
def zero_fraction(b: Builder, value: Any) -> Any:
    """Part of the elements that are zero, in single precision."""
    x = b.array(value)
    zeros = x.type.size - recorded("count_nonzero")(b, x)
    return recorded("astype")(b, recorded("divide")(b, zeros, x.type.size), "float32")


@TF.macro("math.special.fresnel_sin")
def fresnel_sin(b: Builder, x: Any) -> Any:
    """Fresnel's integral ``z = ∫ sin(π t² / 2) dt`` from 0 to ``x``."""
    return recorded("fresnel")(b, x)[0]


@TF.macro("math.special.fresnel_cos")
def fresnel_cos(b: Builder, x: Any) -> Any:
    """Fresnel's integral ``z = ∫ cos(π t² / 2) dt`` from 0 to ``x``."""
    return recorded("fresnel")(b, x)[1]


@TF.macro("math.special.bessel_k0e")
def bessel_k0e(b: Builder, x: Any) -> Any:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_0(x)``."""
    return recorded("kve")(b, 0, x)


@TF.macro("math.special.bessel_k1e")
def bessel_k1e(b: Builder, x: Any) -> Any:
    """Modified Bessel function of the second kind, scaled: ``z = exp(x) K_1(x)``."""
    return recorded("kve")(b, 1, x)


@TF.macro("histogram_fixed_width")
def histogram_fixed_width(
    b: Builder, values: Any, value_range: Any, nbins: Static = 100, dtype: Static = "int32"
) -> Any:
    """How many elements are in each of ``nbins`` equal bins over ``value_range``; what lies outside
    counts in the first or the last one.
    """
    limits = recorded("unstack")(b, value_range)
    if len(limits) != 2:
        raise BadArgument("value_range is a pair, the least and the largest")
    low, high = limits
    inside = recorded("clip")(b, values, low, high)
    counts = recorded("histogram")(b, inside, nbins, (low, high))[0]
    return recorded("astype")(b, counts, dtype)


@TF.macro("math.confusion_matrix")
def confusion_matrix(
    b: Builder,
    labels: Any,
    predictions: Any,
    num_classes: Static = None,
    weights: Any = None,
    dtype: Static = "int32",
) -> Any:
    """How often each prediction, a column, was made for each label, a row, or the ``weights``."""
    classes = integer(num_classes, "num_classes")
    places = recorded("stack")(b, [labels, predictions], 1)
    each = recorded("ones")(b, places.shape[:1]) if weights is None else weights
    each = recorded("astype")(b, each, dtype)
    zeros = recorded("zeros")(b, (classes, classes), dtype)
    return recorded("tensor_scatter_nd_add")(b, zeros, places, each)


@TF.macro("saturate_cast")
def saturate_cast(b: Builder, value: Any, dtype: Static) -> Any:
    """The array in another dtype, with what that cannot hold at its least or largest number."""
    x, target = b.array(value), dtype_of(dtype)
    limits = np.iinfo(target) if target.kind in "iu" else np.finfo(target)
    held = recorded("clip")(b, x, x.dtype.type(limits.min).item(), x.dtype.type(limits.max).item())
    return recorded("astype")(b, held, target)
