"""Losses of each example, as functions of truth and prediction."""

from __future__ import annotations

import warnings
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.losses.ranks import same_rank
from gradwire.tf.keras.masks import set_mask
from gradwire.tf.keras.settings import epsilon
from gradwire.tf.logits import logits_of

__all__ = [
    "KLD", "MAE", "MAPE", "MSE", "MSLE", "binary_crossentropy", "categorical_crossentropy",
    "categorical_hinge", "cosine_similarity", "hinge", "huber", "kl_divergence", "kld",
    "kullback_leibler_divergence", "log_cosh", "logcosh", "mae", "mape", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_squared_error", "mean_squared_logarithmic_error", "mse",
    "msle", "poisson", "sparse_categorical_crossentropy", "squared_hinge",
]  # fmt: skip


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """``mean((y_true - y_pred)^2)`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """``mean(|y_true - y_pred|)`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> Any:
    """``100 mean(|(y_true - y_pred) / y_true|)`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    share = (y_true - y_pred) / tf.maximum(tf.abs(y_true), _like(epsilon(), y_true))
    return 100.0 * tf.reduce_mean(tf.abs(share), axis=-1)


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> Any:
    """``mean((log(1 + y_true) - log(1 + y_pred))^2)`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    least = _like(epsilon(), y_pred)
    first = tf.math.log(tf.maximum(y_pred, least) + 1.0)
    second = tf.math.log(tf.maximum(y_true, least) + 1.0)
    return tf.reduce_mean(tf.square(first - second), axis=-1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> Any:
    """Quadratic within ``delta``, linear beyond; the mean along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    error = y_pred - y_true
    size = tf.abs(error)
    value = tf.where(size <= delta, 0.5 * tf.square(error), delta * size - 0.5 * delta * delta)
    return tf.reduce_mean(value, axis=-1)


def log_cosh(y_true: Any, y_pred: Any) -> Any:
    """``mean(log(cosh(y_pred - y_true)))`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    error = y_pred - y_true
    value = error + tf.math.softplus(-2.0 * error) - tf.math.log(_like(2.0, y_pred))
    return tf.reduce_mean(value, axis=-1)


def hinge(y_true: Any, y_pred: Any) -> Any:
    """``mean(max(1 - y_true y_pred, 0))``; labels of 0 and 1 are taken for -1 and 1."""
    y_true, y_pred = _signed(y_true, y_pred)
    return tf.reduce_mean(tf.maximum(1.0 - y_true * y_pred, 0.0), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> Any:
    """The mean of the squares of ``hinge``'s terms."""
    y_true, y_pred = _signed(y_true, y_pred)
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - y_true * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> Any:
    """``max(1 + the greatest other score - the true one's, 0)``."""
    y_true, y_pred = as_pair(y_true, y_pred)
    right = tf.reduce_sum(y_true * y_pred, axis=-1)
    wrong = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(wrong - right + 1.0, 0.0)


def poisson(y_true: Any, y_pred: Any) -> Any:
    """``mean(y_pred - y_true log(y_pred))`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    return tf.reduce_mean(y_pred - y_true * tf.math.log(y_pred + epsilon()), axis=-1)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """``sum(y_true log(y_true / y_pred))`` along the last axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    y_true, y_pred = _within(y_true), _within(y_pred)
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine of the angle between them, negated: the less, the more alike."""
    y_true, y_pred = as_pair(y_true, y_pred)
    first, second = (_normalized(y, axis) for y in (y_true, y_pred))
    return -tf.reduce_sum(first * second, axis=axis)


def _normalized(x: Any, axis: int) -> Any:
    """Vectors divided by their length, which counts as 1e-7 at least."""
    inverse = tf.math.rsqrt(tf.reduce_sum(tf.square(x), axis=axis, keepdims=True))
    return x * tf.minimum(inverse, 1e7)


def binary_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """``-mean(y_true log(p) + (1 - y_true) log(1 - p))`` along an axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    y_true = smoothed(y_true, label_smoothing, 2.0)
    return tf.reduce_mean(binary_terms(y_true, y_pred, from_logits), axis=axis)


def binary_terms(y_true: Any, y_pred: Any, from_logits: bool) -> Any:
    """The cross-entropy of yes and no of each element."""
    y_pred, from_logits = _logits(y_pred, from_logits, "Sigmoid", "binary_crossentropy")
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=y_pred)
    p = _within(y_pred, 1.0 - epsilon())
    return -(y_true * tf.math.log(p) + (1.0 - y_true) * tf.math.log(1.0 - p))


def smoothed(y_true: Any, share: float, classes: float) -> Any:
    """Truth of which a share is split evenly among the classes."""
    return y_true * (1.0 - share) + share / classes if share else y_true


def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: float = 0.0,
    axis: int = -1,
) -> Any:
    """``-sum(y_true log(p))`` along an axis."""
    y_true, y_pred = as_pair(y_true, y_pred)
    y_true = smoothed(y_true, label_smoothing, float(tuple(y_true.shape)[axis]))
    y_pred, from_logits = _logits(y_pred, from_logits, "Softmax", "categorical_crossentropy")
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(y_true, y_pred, axis=axis)
    p = y_pred / tf.reduce_sum(y_pred, axis=axis, keepdims=True)
    return -tf.reduce_sum(y_true * tf.math.log(_within(p, 1.0 - epsilon())), axis=axis)


def sparse_categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    ignore_class: int | None = None,
    axis: int = -1,
) -> Any:
    """``-log(p)`` of the class that an integer names, 0 where that is ``ignore_class``."""
    y_pred, from_logits = _logits(
        as_tensor(y_pred), from_logits, "Softmax", "sparse_categorical_crossentropy"
    )
    labels = tf.cast(as_tensor(y_true), tf.int32)
    if len(labels.shape) == len(y_pred.shape) and tuple(labels.shape)[-1] == 1:
        labels = tf.squeeze(labels, axis=-1)
    counts = None if ignore_class is None else tf.not_equal(labels, int(ignore_class))
    if counts is not None:
        labels = tf.where(counts, labels, tf.zeros_like(labels))
        y_pred = y_pred * tf.cast(tf.expand_dims(counts, -1), y_pred.dtype)
    value = _of_classes(labels, y_pred, from_logits, axis)
    if counts is not None:
        value = tf.where(counts, value, tf.zeros_like(value))
        set_mask(value, counts)
    return value


def _of_classes(labels: Any, y_pred: Any, from_logits: bool, axis: int) -> Any:
    classes = tf.one_hot(labels, tuple(y_pred.shape)[axis], dtype=y_pred.dtype)
    # A quotient of probabilities instead would have slopes that half precision lacks.
    logits = y_pred if from_logits else tf.math.log(_within(y_pred, 1.0 - epsilon()))
    return -tf.reduce_sum(classes * tf.nn.log_softmax(logits, axis=axis), axis=axis)


def as_tensor(value: Any) -> Any:
    """A value as a tensor."""
    return value if isinstance(value, tf.Tensor) else tf.convert_to_tensor(value)


def as_pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Truth and prediction as tensors of floats and of as many axes."""
    y_pred = as_tensor(y_pred)
    if not y_pred.dtype.is_floating:
        y_pred = tf.cast(y_pred, tf.float32)
    y_true = tf.cast(as_tensor(y_true), y_pred.dtype)
    return same_rank(y_true, y_pred)


def _logits(y_pred: Any, from_logits: bool, operation: str, function: str) -> tuple[Any, bool]:
    """The logits from which an activation computed its output, if known; else the output."""
    logits = logits_of(y_pred, operation)
    if logits is None:
        return y_pred, from_logits
    if from_logits:
        warnings.warn(
            f"`{function}` with `from_logits=True` takes logits, not the probabilities that "
            f"{operation} returns",
            stacklevel=3,
        )
    return logits, True


def _signed(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    y_true, y_pred = as_pair(y_true, y_pred)
    binary = bool(tf.reduce_all((y_true == 0.0) | (y_true == 1.0)))
    return (2.0 * y_true - 1.0 if binary else y_true), y_pred


def _like(value: float, tensor: Any) -> Any:
    return tf.constant(value, dtype=tensor.dtype)


def _within(value: Any, most: float = 1.0) -> Any:
    return tf.clip_by_value(value, epsilon(), most)


mse = mean_squared_error
MSE = mean_squared_error
mae = mean_absolute_error
MAE = mean_absolute_error
mape = mean_absolute_percentage_error
MAPE = mean_absolute_percentage_error
msle = mean_squared_logarithmic_error
MSLE = mean_squared_logarithmic_error
kld = kl_divergence
kullback_leibler_divergence = kl_divergence
KLD = kl_divergence
logcosh = log_cosh
