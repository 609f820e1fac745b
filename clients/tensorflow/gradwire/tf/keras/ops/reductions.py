"""Keras's operations along axes; without an axis, of all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.ops.promotion import counted, floating, logical, pair, tensor
from gradwire.tf.variants import variant

Axis = Any


def _reduction(x: Any, axis: Axis = None, keepdims: bool = False) -> Callable[..., Any]:
    return lambda reduced, operand: reduced(operand(x), axis, keepdims)


@variant(_reduction, tf.reduce_sum, counted)
def sum() -> Any:
    """The sum."""


def prod(x: Any, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The product."""
    x = counted(x)
    return tf.reduce_prod(x if dtype is None else tf.cast(x, dtype), axis, keepdims)


@variant(_reduction, tf.reduce_mean, floating)
def mean() -> Any:
    """The mean."""


@variant(_reduction, tf.math.reduce_variance, floating)
def var() -> Any:
    """The mean square of the distance from the mean."""


@variant(_reduction, tf.math.reduce_std, floating)
def std() -> Any:
    """The square root of ``var``."""


def max(x: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The greatest, and at least ``initial``."""
    found = tf.reduce_max(tensor(x), axis, keepdims)
    return found if initial is None else tf.maximum(found, tf.cast(initial, found.dtype))


def min(x: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The least, and at most ``initial``."""
    found = tf.reduce_min(tensor(x), axis, keepdims)
    return found if initial is None else tf.minimum(found, tf.cast(initial, found.dtype))


@variant(_reduction, tf.reduce_max, tensor)
def amax() -> Any:
    """The greatest."""


@variant(_reduction, tf.reduce_min, tensor)
def amin() -> Any:
    """The least."""


@variant(_reduction, tf.reduce_all, logical)
def all() -> Any:
    """True where all elements along the axes are true."""


@variant(_reduction, tf.reduce_any, logical)
def any() -> Any:
    """True where any element along the axes is true."""


def count_nonzero(x: Any, axis: Axis = None) -> Any:
    """The number of elements that are not 0."""
    return tf.math.count_nonzero(tensor(x), axis, dtype=tf.int32)


@variant(_reduction, tf.reduce_logsumexp, floating)
def logsumexp() -> Any:
    """``log(sum(exp(x)))``."""


def _placed(x: Any, axis: int | None = None, keepdims: bool = False) -> Callable[..., Any]:
    def placed(function: Callable[..., Any]) -> Any:
        values = tensor(x)
        if axis is None:
            found = function(tf.reshape(values, [-1]), output_type=tf.int32)
            return tf.reshape(found, [1] * len(values.shape)) if keepdims else found
        found = function(values, axis, output_type=tf.int32)
        return tf.expand_dims(found, axis) if keepdims else found

    return placed


@variant(_placed, tf.argmax)
def argmax() -> Any:
    """The index of the greatest element, among all in their order without an axis."""


@variant(_placed, tf.argmin)
def argmin() -> Any:
    """The index of the least element, among all in their order without an axis."""


def _running(x: Any, axis: int | None = None, dtype: Any = None) -> Callable[..., Any]:
    values = tensor(x)
    values = tf.cast(values, dtype or (tf.int32 if values.dtype == tf.bool else values.dtype))
    if axis is None:
        return lambda function: function(tf.reshape(values, [-1]), 0)
    return lambda function: function(values, axis)


@variant(_running, tf.cumsum)
def cumsum() -> Any:
    """Running sums, of all in their order without an axis."""


@variant(_running, tf.math.cumprod)
def cumprod() -> Any:
    """Running products, of all in their order without an axis."""


def average(x: Any, axis: Axis = None, weights: Any = None) -> Any:
    """The mean, weighted."""
    x = floating(x)
    if weights is None:
        return tf.reduce_mean(x, axis)
    x, weights = pair(x, weights)
    if axis is not None and len(weights.shape) != len(x.shape):
        lengths = [1] * len(x.shape)
        lengths[axis] = -1
        weights = tf.broadcast_to(tf.reshape(weights, lengths), x.shape)
    return tf.math.divide_no_nan(tf.reduce_sum(x * weights, axis), tf.reduce_sum(weights, axis))


def moments(
    x: Any, axes: Axis, keepdims: bool = False, synchronized: bool = False
) -> tuple[Any, Any]:
    """Mean and variance; there is one device, so that ``synchronized`` makes no difference."""
    mean, variance = tf.nn.moments(tensor(x), axes, keepdims=keepdims)
    return mean, variance


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares, or another norm of vectors.

    Raises:
        NotImplementedError: A norm of matrices other than Frobenius's.
    """
    x = floating(x)
    axes = list(range(len(x.shape))) if axis is None else axis
    several = isinstance(axes, (list, tuple)) and len(axes) > 1
    if ord is None or ord == "fro" or (ord == 2 and not several):
        return tf.sqrt(tf.reduce_sum(tf.abs(x) ** 2, axes, keepdims))
    if several:
        raise NotImplementedError(f"keras.ops.norm does not implement ord={ord!r} of matrices")
    if ord in (float("inf"), float("-inf")):
        return (tf.reduce_max if ord > 0 else tf.reduce_min)(tf.abs(x), axes, keepdims)
    if ord == 0:
        return tf.reduce_sum(tf.cast(tf.not_equal(x, 0), x.dtype), axes, keepdims)
    if ord == 1:
        return tf.reduce_sum(tf.abs(x), axes, keepdims)
    power = tf.cast(ord, x.dtype)
    return tf.pow(tf.reduce_sum(tf.pow(tf.abs(x), power), axes, keepdims), 1 / power)


def _segments(name: str) -> Callable[..., Any]:
    def reduced(
        data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
    ) -> Any:
        ids = tf.convert_to_tensor(segment_ids)
        count = tf.reduce_max(ids) + 1 if num_segments is None else num_segments
        return getattr(tf.math, f"unsorted_segment_{name}")(tensor(data), ids, count)

    reduced.__name__ = reduced.__qualname__ = f"segment_{name}"
    reduced.__doc__ = f"The {name} of each segment; ``sorted`` is a promise that is not needed."
    return reduced


MADE: dict[str, Callable[..., Any]] = {
    f"segment_{name}": _segments(name) for name in ("sum", "max", "min", "prod")
}
