"""Keras's operations along axes; without an axis, of all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.ops.promotion import counted, floating, pair, tensor

Axis = Any


def sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum."""
    return tf.reduce_sum(counted(x), axis, keepdims)


def prod(x: Any, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The product."""
    x = counted(x)
    return tf.reduce_prod(x if dtype is None else tf.cast(x, dtype), axis, keepdims)


def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean."""
    return tf.reduce_mean(floating(x), axis, keepdims)


def var(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean square of the distance from the mean."""
    return tf.math.reduce_variance(floating(x), axis, keepdims)


def std(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The square root of ``var``."""
    return tf.math.reduce_std(floating(x), axis, keepdims)


def max(x: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The greatest, and at least ``initial``."""
    found = tf.reduce_max(tensor(x), axis, keepdims)
    return found if initial is None else tf.maximum(found, tf.cast(initial, found.dtype))


def min(x: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The least, and at most ``initial``."""
    found = tf.reduce_min(tensor(x), axis, keepdims)
    return found if initial is None else tf.minimum(found, tf.cast(initial, found.dtype))


def amax(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The greatest."""
    return max(x, axis, keepdims)


def amin(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The least."""
    return min(x, axis, keepdims)


def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """True where all elements along the axes are true."""
    return tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims)


def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """True where any element along the axes is true."""
    return tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims)


def count_nonzero(x: Any, axis: Axis = None) -> Any:
    """The number of elements that are not 0."""
    return tf.math.count_nonzero(tensor(x), axis, dtype=tf.int32)


def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))``."""
    return tf.reduce_logsumexp(floating(x), axis, keepdims)


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the greatest element, among all in their order without an axis."""
    return _placed(tf.argmax, tensor(x), axis, keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the least element, among all in their order without an axis."""
    return _placed(tf.argmin, tensor(x), axis, keepdims)


def _placed(function: Callable[..., Any], x: Any, axis: int | None, keepdims: bool) -> Any:
    if axis is None:
        found = function(tf.reshape(x, [-1]), output_type=tf.int32)
        return tf.reshape(found, [1] * len(x.shape)) if keepdims else found
    found = function(x, axis, output_type=tf.int32)
    return tf.expand_dims(found, axis) if keepdims else found


def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Running sums, of all in their order without an axis."""
    return _running(tf.cumsum, x, axis, dtype)


def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Running products, of all in their order without an axis."""
    return _running(tf.math.cumprod, x, axis, dtype)


def _running(function: Callable[..., Any], x: Any, axis: int | None, dtype: Any) -> Any:
    x = tensor(x)
    x = tf.cast(x, dtype or (tf.int32 if x.dtype == tf.bool else x.dtype))
    return function(tf.reshape(x, [-1]), 0) if axis is None else function(x, axis)


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
