"""Activation functions by Keras's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.piecewise import (
    celu,
    glu,
    hard_shrink,
    hard_silu,
    hard_tanh,
    log_sigmoid,
    soft_shrink,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    tanh_shrink,
    threshold,
)
from gradwire.tf.keras.symbolic import with_symbols
from gradwire.tf.logits import remember


def linear(x: Any) -> Any:
    """``x`` itself."""
    return x


def relu(
    x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Any:
    """``max(x, 0)``; with a slope below 0, and at most ``max_value``, if they are given.

    Below a ``threshold`` it is 0, or the slope times what is missing to it.
    """
    x = tf.convert_to_tensor(x)
    if negative_slope and max_value is None and not threshold:
        return tf.nn.leaky_relu(x, negative_slope)
    missing = tf.nn.relu(threshold - x if threshold else -x) if negative_slope else None
    if threshold:
        value = tf.where(x > threshold, x, tf.zeros_like(x))
    else:
        value = tf.nn.relu6(x) if max_value == 6 else tf.nn.relu(x)
    if max_value is not None and (threshold or max_value != 6):
        value = tf.clip_by_value(value, 0.0, tf.cast(max_value, x.dtype))
    return value if missing is None else value - negative_slope * missing


def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``."""
    return tf.nn.relu6(x)


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """``x`` above 0, and ``negative_slope`` times it below."""
    return tf.nn.leaky_relu(x, negative_slope)


def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    x = tf.convert_to_tensor(x)
    return remember(tf.nn.sigmoid(x), x)


def hard_sigmoid(x: Any) -> Any:
    """``x / 6 + 0.5`` within 0 and 1."""
    return tf.nn.relu6(tf.convert_to_tensor(x) + 3.0) / 6.0


def tanh(x: Any) -> Any:
    """``tanh(x)``."""
    return tf.nn.tanh(x)


def softmax(x: Any, axis: Any = -1) -> Any:
    """``exp(x)`` divided by its sum along an axis."""
    x = tf.convert_to_tensor(x)
    output = tf.nn.softmax(x, axis=axis)
    return remember(output, x) if not isinstance(axis, (list, tuple)) else output


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of ``softmax``."""
    return tf.nn.log_softmax(x, axis=axis)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``."""
    return tf.nn.softplus(x)


def softsign(x: Any) -> Any:
    """``x / (1 + |x|)``."""
    return tf.nn.softsign(x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` above 0, and ``alpha (exp(x) - 1)`` below."""
    value = tf.nn.elu(x)
    if alpha == 1.0:
        return value
    return tf.where(tf.convert_to_tensor(x) > 0, value, alpha * value)


def selu(x: Any) -> Any:
    """The scaled ``elu`` that keeps mean and variance."""
    return tf.nn.selu(x)


def silu(x: Any) -> Any:
    """``x sigmoid(x)``."""
    return tf.nn.silu(x)


swish = silu


def gelu(x: Any, approximate: bool = False) -> Any:
    """``x`` times the normal distribution function of ``x``."""
    return tf.nn.gelu(x, approximate=approximate)


def mish(x: Any) -> Any:
    """``x tanh(softplus(x))``."""
    return x * tf.nn.tanh(tf.nn.softplus(x))


def exponential(x: Any) -> Any:
    """``exp(x)``."""
    return tf.exp(x)


_BY_NAME: dict[str, Callable[..., Any]] = {
    f.__name__: with_symbols(f.__name__, f)
    for f in (
        linear, relu, relu6, leaky_relu, sigmoid, hard_sigmoid, tanh, softmax, log_softmax,
        softplus, softsign, elu, selu, silu, gelu, mish, exponential,
        celu, glu, hard_shrink, hard_silu, hard_tanh, log_sigmoid, soft_shrink, sparse_plus,
        sparse_sigmoid, squareplus, tanh_shrink, threshold,
    )
}  # fmt: skip
_BY_NAME |= {"swish": _BY_NAME["silu"], "hard_swish": _BY_NAME["hard_silu"]}
globals().update(_BY_NAME)


def get(identifier: Any) -> Callable[..., Any]:
    """An activation by its name, or as it is; without one, ``linear``."""
    if identifier is None:
        return linear
    if callable(identifier):
        found: Callable[..., Any] = identifier
        return found
    if identifier not in _BY_NAME:
        raise ValueError(f"Could not interpret activation function identifier: {identifier}")
    return _BY_NAME[identifier]
