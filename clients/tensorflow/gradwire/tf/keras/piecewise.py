"""Activation functions in pieces, or with gates: shrinking, hard and sparse ones."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf


def hard_silu(x: Any) -> Any:
    """``x`` times ``x / 6 + 0.5`` within 0 and 1."""
    return x * (tf.nn.relu6(tf.convert_to_tensor(x) + 3.0) / 6.0)


hard_swish = hard_silu


def hard_tanh(x: Any) -> Any:
    """``x`` within -1 and 1."""
    return tf.clip_by_value(x, -1.0, 1.0)


def hard_shrink(x: Any, threshold: float = 0.5) -> Any:
    """``x`` where its size is above the threshold, else 0."""
    x = tf.convert_to_tensor(x)
    return tf.where(tf.abs(x) > threshold, x, tf.zeros_like(x))


def soft_shrink(x: Any, threshold: float = 0.5) -> Any:
    """``x`` nearer to 0 by the threshold, 0 within it."""
    x = tf.convert_to_tensor(x)
    below = tf.where(x < -threshold, x + threshold, tf.zeros_like(x))
    return tf.where(x > threshold, x - threshold, below)


def tanh_shrink(x: Any) -> Any:
    """``x - tanh(x)``."""
    return x - tf.tanh(x)


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """``x`` above the threshold, else the default."""
    x = tf.convert_to_tensor(x)
    return tf.where(x > threshold, x, default_value * tf.ones_like(x))


def log_sigmoid(x: Any) -> Any:
    """The logarithm of ``sigmoid``."""
    return tf.math.log_sigmoid(x)


def celu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` above 0, and ``alpha (exp(x / alpha) - 1)`` below."""
    x = tf.convert_to_tensor(x)
    return tf.maximum(x, 0.0) + alpha * (tf.exp(tf.minimum(x, 0.0) / alpha) - 1.0)


def glu(x: Any, axis: int = -1) -> Any:
    """One half times the sigmoid of the other."""
    first, second = tf.split(x, 2, axis=axis)
    return first * tf.sigmoid(second)


def squareplus(x: Any, b: float = 4.0) -> Any:
    """``(x + sqrt(x^2 + b)) / 2``."""
    x = tf.convert_to_tensor(x)
    return (x + tf.sqrt(tf.square(x) + b)) / 2.0


def sparse_plus(x: Any) -> Any:
    """0 below -1, ``x`` above 1, and ``(x + 1)^2 / 4`` between."""
    x = tf.convert_to_tensor(x)
    middle = tf.where(x < 1.0, 0.25 * tf.square(x + 1.0), x)
    return tf.where(x <= -1.0, tf.zeros_like(x), middle)


def sparse_sigmoid(x: Any) -> Any:
    """``(x + 1) / 2`` within 0 and 1."""
    x = tf.convert_to_tensor(x)
    middle = tf.where(x >= 1.0, tf.ones_like(x), 0.5 * (x + 1.0))
    return tf.where(x <= -1.0, tf.zeros_like(x), middle)
