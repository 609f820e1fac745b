"""Operations of Keras whose arguments or results are not those of TensorFlow's of the same name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras.settings import floatx


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The places of the greatest elements along an axis, or among all."""
    return _place(tf.argmax, x, axis, keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The places of the least elements along an axis, or among all."""
    return _place(tf.argmin, x, axis, keepdims)


def _place(found: Callable[..., Any], x: Any, axis: int | None, keepdims: bool) -> Any:
    x = tf.convert_to_tensor(x)
    flat, along = (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)
    value = found(flat, axis=along, output_type=tf.int32)
    if not keepdims:
        return value
    return tf.reshape(value, [1] * len(x.shape)) if axis is None else tf.expand_dims(value, axis)


def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Sums of the first elements along an axis, or of all."""
    return _cumulated(tf.cumsum, x, axis, dtype)


def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Any:
    """Products of the first elements along an axis, or of all."""
    return _cumulated(tf.math.cumprod, x, axis, dtype)


def _cumulated(function: Callable[..., Any], x: Any, axis: int | None, dtype: Any) -> Any:
    x = tf.convert_to_tensor(x)
    x = x if dtype is None else tf.cast(x, dtype)
    return function(tf.reshape(x, [-1])) if axis is None else function(x, axis=axis)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean along axes, of integers as floats."""
    return tf.reduce_mean(_floating(x), axis=axis, keepdims=keepdims)


def divide(x1: Any, x2: Any) -> Any:
    """The quotient, of integers as floats."""
    return tf.divide(_floating(x1), _floating(x2))


def _floating(x: Any) -> Any:
    if isinstance(x, float):
        return x
    x = tf.convert_to_tensor(x)
    return tf.cast(x, floatx()) if x.dtype.is_integer or x.dtype == tf.bool else x


def count_nonzero(x: Any, axis: Any = None) -> Any:
    """How many elements are not 0."""
    return tf.math.count_nonzero(x, axis=axis, dtype=tf.int32)


def diag(x: Any, k: int = 0) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix; the k-th above the main one."""
    x = tf.convert_to_tensor(x)
    return tf.linalg.diag(x, k=k) if len(x.shape) == 1 else tf.linalg.diag_part(x, k=k)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """A matrix with ones on a diagonal, the k-th above the main one."""
    return tf.constant(np.eye(N, M, k), tf.as_dtype(dtype or floatx()))


def concatenate(xs: Any, axis: int = 0) -> Any:
    """Tensors behind one another along an axis."""
    return tf.concat(xs, axis=axis)


def tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Sums of products along axes: the last of the first and the first of the second, or these."""
    return tf.tensordot(x1, x2, axes)


def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def gelu(x: Any, approximate: bool = True) -> Any:
    """``x`` times the normal distribution function of ``x``, by an approximation."""
    return tf.nn.gelu(x, approximate=approximate)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers at equal distances, the last of them ``stop`` with ``endpoint``."""
    only("keras.ops.linspace", retstep=(retstep, False), axis=(axis, 0))
    kind = tf.as_dtype(dtype or floatx())
    start, stop = tf.cast(start, kind), tf.cast(stop, kind)
    value = tf.linspace(start, stop, num if endpoint else num + 1)
    return value if endpoint else value[:num]


def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> Any:
    """Mean and variance along axes; ``synchronized`` is for devices, of which there is one."""
    only("keras.ops.moments", synchronized=(synchronized, False))
    first, second = tf.nn.moments(x, axes=axes, keepdims=keepdims)
    return first, second


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """A norm, of vectors along one axis, of matrices along two; of all elements without both."""
    x = _floating(x)
    matrix = len(x.shape) == 2 if axis is None else isinstance(axis, (list, tuple))
    if matrix and ord not in (None, "fro"):
        raise NotImplementedError(
            f"keras.ops.norm does not implement ord={ord!r} of matrices; ord='fro' is possible"
        )
    kind = "euclidean" if ord in (None, "fro") else ord
    return tf.norm(x, ord=kind, axis=axis, keepdims=keepdims)


def normalize(x: Any, axis: int = -1, order: int = 2, epsilon: float | None = None) -> Any:
    """``x`` divided by its norm along an axis, which counts as ``epsilon`` at least."""
    x = _floating(x)
    least = 1e-7 if epsilon is None else epsilon
    if order == 2:
        squares = tf.reduce_sum(tf.square(x), axis=axis, keepdims=True)
        return x * tf.math.rsqrt(tf.maximum(squares, least**2))
    length = tf.norm(x, ord=order, axis=axis, keepdims=True)
    return x / tf.maximum(length, least)


def one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    """Integers as rows of zeros and a one, along an axis."""
    only("keras.ops.one_hot", sparse=(sparse, False))
    return tf.one_hot(x, num_classes, axis=axis, dtype=tf.as_dtype(dtype or floatx()))


def round(x: Any, decimals: int = 0) -> Any:
    """``x`` rounded to so many decimals."""
    if not decimals:
        return tf.round(x)
    scale = 10.0**decimals
    return tf.round(tf.convert_to_tensor(x) * scale) / scale


def _segments(name: str) -> Callable[..., Any]:
    def reduced(
        data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
    ) -> Any:
        del sorted  # for speed
        if num_segments is None:
            num_segments = int(tf.reduce_max(segment_ids)) + 1
        return getattr(tf.math, f"unsorted_{name}")(data, segment_ids, num_segments)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = "Elements with the same number reduced to one."
    return reduced


segment_sum: Callable[..., Any] = _segments("segment_sum")
segment_max: Callable[..., Any] = _segments("segment_max")
segment_min: Callable[..., Any] = _segments("segment_min")
segment_prod: Callable[..., Any] = _segments("segment_prod")


def shape(x: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return tuple(x.shape)


def size(x: Any) -> int:
    """The number of elements."""
    return math.prod(np.shape(x))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Parts along an axis: so many of one length, or those between indices."""
    x = tf.convert_to_tensor(x)
    if isinstance(indices_or_sections, int):
        return list(tf.split(x, indices_or_sections, axis=axis))
    bounds = [0, *(int(each) for each in indices_or_sections), x.shape[axis]]
    lengths = [end - begin for begin, end in itertools.pairwise(bounds)]
    return list(tf.split(x, lengths, axis=axis))


def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """``U``, the singular values, and the conjugate transpose of ``V``."""
    if not compute_uv:
        return tf.linalg.svd(x, compute_uv=False)
    values, left, right = tf.linalg.svd(x, full_matrices=full_matrices)
    return left, values, tf.linalg.adjoint(right)


def take(x: Any, indices: Any, axis: int | None = None) -> Any:
    """The elements at indices along an axis, or among all."""
    x = tf.reshape(x, [-1]) if axis is None else x
    return tf.gather(x, indices, axis=axis or 0)


def unravel_index(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    """Places in all elements, a vector of them, as indices along axes."""
    if not np.ndim(indices):
        raise NotImplementedError("keras.ops.unravel_index does not implement a single index")
    return tuple(tf.unstack(tf.unravel_index(indices, shape)))


def unique(x: Any) -> Any:
    """The different elements, in order."""
    return tf.sort(tf.unique(tf.reshape(tf.convert_to_tensor(x), [-1]))[0])


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """The first value where a condition holds, else the second."""
    if x1 is None or x2 is None:
        raise NotImplementedError("keras.ops.where does not implement x1=None; three arguments are")
    return tf.where(condition, x1, x2)


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int = 1,
) -> Any:
    """``carry, y = f(carry, x)`` for each x: the last carry, and the ys behind one another."""
    del unroll  # for speed
    steps = range(len(tf.nest.flatten(xs)[0]) if xs is not None else int(length or 0))
    found = {}
    for step in reversed(steps) if reverse else steps:
        part = tf.nest.map_structure(lambda each, step=step: each[step], xs)
        init, found[step] = f(init, part)
    return init, tf.nest.map_structure(lambda *each: tf.stack(each), *(found[s] for s in steps))


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 0.001,
) -> Any:
    """``scale (x - mean) / sqrt(variance + epsilon) + offset``, each for the places of an axis."""
    x = tf.convert_to_tensor(x)
    lengths = [1] * len(x.shape)
    lengths[axis] = -1
    centre, spread = tf.reshape(mean, lengths), tf.reshape(variance, lengths)
    moved = None if offset is None else tf.reshape(offset, lengths)
    scaled = None if scale is None else tf.reshape(scale, lengths)
    return tf.nn.batch_normalization(x, centre, spread, moved, scaled, epsilon)


def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The greatest of each window along axes of space."""
    channels_last("keras.ops.max_pool", data_format)
    sizes, steps = (
        [each] * (len(inputs.shape) - 2) if isinstance(each, int) else list(each)
        for each in (pool_size, pool_size if strides is None else strides)
    )
    return tf.nn.pool(inputs, sizes, "MAX", strides=steps, padding=padding.upper())


def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """The transpose of a convolution: what its gradient in the input is."""
    name = "keras.ops.conv_transpose"
    channels_last(name, data_format)
    only(name, output_padding=(output_padding, None), dilation_rate=(dilation_rate, 1))
    batch, *space, _ = tuple(inputs.shape)
    steps = [strides] * len(space) if isinstance(strides, int) else list(strides)
    wanted = [
        length * step + (max(size - step, 0) if padding == "valid" else 0)
        for length, step, size in zip(space, steps, kernel.shape, strict=False)
    ]
    return tf.nn.conv_transpose(
        inputs,
        kernel,
        output_shape=[batch, *wanted, kernel.shape[-2]],
        strides=steps,
        padding=padding.upper(),
    )


def ctc_loss(
    target: Any, output: Any, target_length: Any, output_length: Any, mask_index: int = 0
) -> Any:
    """Connectionist temporal classification's loss of each example."""
    return tf.nn.ctc_loss(
        labels=target,
        logits=output,
        label_length=target_length,
        logit_length=output_length,
        blank_index=mask_index,
        logits_time_major=False,
    )


def extract_patches(
    images: Any,
    size: Any,
    strides: Any = None,
    dilation_rate: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The pixels of windows of images, each as a row."""
    channels_last("keras.ops.image.extract_patches", data_format)
    height, width = (size, size) if isinstance(size, int) else size
    down, right = (strides, strides) if isinstance(strides, int) else strides or (height, width)
    return tf.image.extract_patches(
        images,
        [1, height, width, 1],
        [1, down, right, 1],
        [1, dilation_rate, dilation_rate, 1],
        padding.upper(),
    )
