"""Keras's operations on each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import activations
from gradwire.tf.keras.ops.promotion import floating, logical, pair, tensor

#: Those that are made of TensorFlow's and of activations.
MADE: dict[str, Callable[..., Any]] = {}


def _of_one(name: str, function: Callable[..., Any], operand: Callable[[Any], Any]) -> None:
    def applied(x: Any) -> Any:
        return function(operand(x))

    MADE[name] = _named(applied, name, f"``{name}(x)`` of each element.")


def _of_two(name: str, function: Callable[..., Any], operand: Callable[[Any], Any]) -> None:
    def applied(x1: Any, x2: Any) -> Any:
        one, other = pair(x1, x2)
        return function(operand(one), operand(other))

    MADE[name] = _named(applied, name, f"``{name}(x1, x2)`` of each element of both.")


def _named(function: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


_NAMES: dict[Callable[..., Any], dict[Callable[..., Any], str]] = {
    _of_one: {
        tensor: "abs absolute:abs conj conjugate:math.conj imag:math.imag real:math.real negative "
        "sign square relu:nn.relu relu6:nn.relu6",
        floating: "angle:math.angle arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh "
        "arctan:atan arctanh:atanh ceil:math.ceil cos cosh erf:math.erf erfc:math.erfc "
        "erfinv:math.erfinv exp expm1:math.expm1 floor isfinite:math.is_finite isinf:math.is_inf "
        "isnan:math.is_nan log:math.log log1p:math.log1p reciprocal:math.reciprocal "
        "rsqrt:math.rsqrt selu:nn.selu silu:nn.silu sin sinh softplus:nn.softplus "
        "softsign:nn.softsign sqrt swish:nn.silu tan tanh",
        logical: "logical_not",
    },
    _of_two: {
        tensor: "add equal floor_divide:math.floordiv greater greater_equal less less_equal "
        "maximum minimum mod:math.floormod multiply not_equal power:pow subtract",
        floating: "arctan2:atan2 divide:truediv divide_no_nan:math.divide_no_nan "
        "true_divide:truediv",
        logical: "logical_and logical_or logical_xor:math.logical_xor",
    },
}


def _found(path: str) -> Callable[..., Any]:
    found: Any = tf
    for part in path.split("."):
        found = getattr(found, part)
    function: Callable[..., Any] = found
    return function


for _kind, _operands in _NAMES.items():
    for _operand, _names in _operands.items():
        for _entry in _names.split():
            _name, _colon, _path = _entry.partition(":")
            _kind(_name, _found(_path or _name.replace("conj", "math.conj")), _operand)

for _name in (
    "celu", "elu", "glu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh",
    "leaky_relu", "log_sigmoid", "log_softmax", "sigmoid", "soft_shrink", "softmax", "sparse_plus",
    "sparse_sigmoid", "squareplus", "tanh_shrink", "threshold",
):  # fmt: skip
    MADE[_name] = getattr(activations, _name)


def gelu(x: Any, approximate: bool = True) -> Any:
    """``x`` times the normal distribution function of ``x``, or an approximation to it."""
    return tf.nn.gelu(floating(x), approximate=approximate)


def clip(x: Any, x_min: Any, x_max: Any) -> Any:
    """``min(max(x, x_min), x_max)``."""
    x = tensor(x)
    return tf.clip_by_value(x, tf.cast(x_min, x.dtype), tf.cast(x_max, x.dtype))


def stop_gradient(variable: Any) -> Any:
    """The value without a gradient."""
    return tf.stop_gradient(tensor(variable))


def exp2(x: Any) -> Any:
    """``2 ** x``."""
    x = floating(x)
    return tf.pow(tf.constant(2, x.dtype), x)


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    x = floating(x)
    return tf.math.log(x) / tf.math.log(tf.constant(2, x.dtype))


def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    x = floating(x)
    return tf.math.log(x) / tf.math.log(tf.constant(10, x.dtype))


def logaddexp(x1: Any, x2: Any) -> Any:
    """``log(exp(x1) + exp(x2))``."""
    one, other = (floating(x) for x in pair(x1, x2))
    difference = one - other
    return tf.where(
        tf.math.is_nan(difference),
        one + other,
        tf.maximum(one, other) + tf.math.log1p(tf.exp(-tf.abs(difference))),
    )


def round(x: Any, decimals: int = 0) -> Any:
    """The nearest number with so many decimals, even ones at ties."""
    x = tensor(x)
    if decimals == 0:
        return tf.round(x)
    factor = tf.cast(math.pow(10, decimals), x.dtype)
    return tf.round(x * factor) / factor


def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of NaN and the infinities: the largest ones, unless they are given."""
    x = tensor(x)
    if not x.dtype.is_floating:
        return x
    largest = x.dtype.max if posinf is None else posinf
    least = x.dtype.min if neginf is None else neginf
    x = tf.where(tf.math.is_nan(x), tf.constant(nan, x.dtype), x)
    x = tf.where(x == float("inf"), tf.constant(largest, x.dtype), x)
    return tf.where(x == float("-inf"), tf.constant(least, x.dtype), x)


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """``x1`` where a condition holds, else ``x2``; alone, where it holds, by axis."""
    condition = tf.cast(condition, tf.bool)
    if (x1 is None) != (x2 is None):
        raise ValueError("pass both `x1` and `x2`, or neither")
    if x1 is None:
        return tuple(tf.cast(each, tf.int32) for each in tf.unstack(tf.where(condition), axis=1))
    return tf.where(condition, *pair(x1, x2))


def cast(x: Any, dtype: Any) -> Any:
    """A tensor of another dtype."""
    return tf.cast(tensor(x), dtype)


def isclose(
    x1: Any, x2: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """``|x1 - x2| <= atol + rtol |x2|``, or the same."""
    one, other = (floating(x) for x in pair(x1, x2))
    near = tf.abs(one - other) <= atol + rtol * tf.abs(other)
    found = tf.where(tf.math.is_finite(one) & tf.math.is_finite(other), near, one == other)
    return found | (tf.math.is_nan(one) & tf.math.is_nan(other)) if equal_nan else found
