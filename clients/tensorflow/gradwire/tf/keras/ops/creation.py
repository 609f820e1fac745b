"""Keras's operations that make tensors, and what is known of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.ops.promotion import floating, pair, tensor, together
from gradwire.tf.keras.settings import floatx


def convert_to_tensor(x: Any, dtype: Any = None, sparse: Any = None, ragged: Any = None) -> Any:
    """A value as a tensor; sparse and ragged ones stay what they are unless that is False."""
    del sparse, ragged
    return tensor(x) if dtype is None else tf.cast(tensor(x), dtype)


def convert_to_numpy(x: Any) -> Any:
    """The elements as an array."""
    return np.array(tensor(x).numpy())


def is_tensor(x: Any) -> bool:
    """True if a value is a tensor."""
    return bool(tf.is_tensor(x))


def shape(x: Any) -> tuple[int, ...]:
    """The lengths of the axes."""
    return tuple(x.shape if hasattr(x, "shape") else tensor(x).shape)


def size(x: Any) -> int:
    """The number of elements."""
    return math.prod(shape(x))


def ndim(x: Any) -> int:
    """The number of axes."""
    return len(shape(x))


def zeros(shape: Any, dtype: Any = None) -> Any:
    """All zeros."""
    return tf.zeros(shape, dtype or floatx())


def ones(shape: Any, dtype: Any = None) -> Any:
    """All ones."""
    return tf.ones(shape, dtype or floatx())


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """The same value everywhere."""
    return tf.broadcast_to(tf.cast(tensor(fill_value), dtype or floatx()), shape)


def zeros_like(x: Any, dtype: Any = None) -> Any:
    """Zeros in a tensor's shape."""
    return tf.zeros_like(tensor(x), dtype)


def ones_like(x: Any, dtype: Any = None) -> Any:
    """Ones in a tensor's shape."""
    return tf.ones_like(tensor(x), dtype)


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Any:
    """The same value everywhere in a tensor's shape."""
    x = tensor(x)
    return full(x.shape, fill_value, dtype or x.dtype)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones on a diagonal."""
    rows = np.eye(N, M, k)
    return tf.constant(rows, dtype or floatx())


def identity(n: int, dtype: Any = None) -> Any:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from ``start``, 0 if it is the only one, to before ``stop``."""
    if dtype is None:
        given = [each for each in (start, stop, step) if each is not None]
        dtype = together(given)[0].dtype
    first, last = (0, start) if stop is None else (start, stop)
    delta = tf.cast(1 if step is None else step, dtype)
    return tf.range(tf.cast(first, dtype), tf.cast(last, dtype), delta)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers at equal distances from ``start`` to ``stop``."""
    only("keras.ops.linspace", retstep=(retstep, False))
    first, last = (floating(each) for each in pair(start, stop))
    if not endpoint:
        last = last - (last - first) / float(num)
    found = tf.linspace(first, last, num, axis=axis)
    return found if dtype is None else tf.cast(found, dtype)
