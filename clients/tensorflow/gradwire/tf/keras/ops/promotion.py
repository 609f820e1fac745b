"""Operands of Keras's operations: tensors of one dtype, by Keras's rules."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.settings import floatx


def tensor(x: Any) -> Any:
    """A value as a tensor; Python's floats are of ``floatx``."""
    if isinstance(x, float):
        return tf.constant(x, floatx())
    return tf.convert_to_tensor(x)


def floating(x: Any) -> Any:
    """A value as a tensor of floats; integers become ``floatx``."""
    x = tensor(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, floatx())


def counted(x: Any) -> Any:
    """A value as a tensor that can be summed: booleans and short integers become 32 bits long."""
    x = tensor(x)
    if x.dtype in (tf.bool, tf.int8, tf.int16):
        return tf.cast(x, tf.int32)
    return tf.cast(x, tf.uint32) if x.dtype in (tf.uint8, tf.uint16) else x


def logical(x: Any) -> Any:
    """A value as a tensor of true and false."""
    return tf.cast(x, tf.bool)


def pair(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Two values as tensors of one dtype.

    Python's numbers take the other's, but floats make floats of integers. Of tensors, booleans
    yield to integers, integers to floats, shorter to longer ones.
    """
    if isinstance(x1, (bool, int, float)) and isinstance(x2, (bool, int, float)):
        return pair(tensor(x1), tensor(x2))
    if isinstance(x1, (bool, int, float)):
        other, one = pair(x2, x1)
        return one, other
    x1 = tensor(x1)
    if isinstance(x2, (bool, int, float)):
        if isinstance(x2, float):
            x1 = floating(x1)
        elif x1.dtype == tf.bool and not isinstance(x2, bool):
            x1 = tf.cast(x1, tf.int32)
        return x1, tf.cast(tf.constant(x2), x1.dtype)
    x2 = tensor(x2)
    if x1.dtype == x2.dtype:
        return x1, x2
    ranks = [(each.dtype.is_floating, each.dtype.is_integer) for each in (x1, x2)]
    if ranks[0] != ranks[1]:
        dtype = (x1 if ranks[0] > ranks[1] else x2).dtype
    else:
        kinds = (each.dtype.as_numpy_dtype for each in (x1, x2))
        dtype = tf.as_dtype(np.promote_types(*kinds))
    return tf.cast(x1, dtype), tf.cast(x2, dtype)


def together(xs: Any) -> list[Any]:
    """Several values as tensors of one dtype."""
    found = [tensor(x) for x in xs]
    longest = found[0]
    for x in found[1:]:
        longest = pair(longest, x)[0]
    return [tf.cast(x, longest.dtype) for x in found]
