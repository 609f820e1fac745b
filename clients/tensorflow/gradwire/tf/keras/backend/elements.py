"""Functions of elements and axes by the names of Keras's first backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf import (
    abs,
    cast,
    cos,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
    name_scope,
    not_equal,
    ones_like,
    reshape,
    round,
    sigmoid,
    sign,
    sin,
    square,
    stack,
    tanh,
    zeros_like,
)
from gradwire.tf.keras.settings import floatx
from gradwire.tf.variants import variant

__all__ = [
    "abs", "all", "any", "arange", "argmax", "argmin", "batch_dot", "batch_flatten", "cast", "clip",
    "concatenate", "cos", "cumprod", "cumsum", "dot", "equal", "exp", "expand_dims", "flatten",
    "gather", "greater", "greater_equal", "less", "less_equal", "log", "max", "maximum", "mean",
    "min", "minimum", "name_scope", "not_equal", "one_hot", "ones_like", "permute_dimensions",
    "pow", "prod", "repeat", "repeat_elements", "reshape", "reverse", "round", "sigmoid", "sign",
    "sin", "sqrt", "square", "squeeze", "stack", "std", "sum", "tanh", "tile", "transpose", "var",
    "zeros_like",
]  # fmt: skip

Axis: TypeAlias = Any


def _itself(x: Any) -> Any:
    return x


def _number(x: Any) -> Any:
    return tf.cast(x, floatx()) if x.dtype == tf.bool else x


def _logical(x: Any) -> Any:
    return tf.cast(x, tf.bool)


def _reduction(x: Any, axis: Axis = None, keepdims: bool = False) -> Callable[..., Any]:
    return lambda reduced, operand=_itself: reduced(operand(x), axis, keepdims)


@variant(_reduction, tf.reduce_sum)
def sum() -> Any:
    """The sum along axes."""


@variant(_reduction, tf.reduce_prod)
def prod() -> Any:
    """The product along axes."""


@variant(_reduction, tf.reduce_max)
def max() -> Any:
    """The greatest along axes."""


@variant(_reduction, tf.reduce_min)
def min() -> Any:
    """The least along axes."""


@variant(_reduction, tf.reduce_mean, _number)
def mean() -> Any:
    """The mean along axes; booleans are 0 and 1."""


@variant(_reduction, tf.math.reduce_std, _number)
def std() -> Any:
    """The standard deviation along axes."""


@variant(_reduction, tf.math.reduce_variance, _number)
def var() -> Any:
    """The variance along axes."""


@variant(_reduction, tf.reduce_any, _logical)
def any() -> Any:
    """True where any element along the axes is true."""


@variant(_reduction, tf.reduce_all, _logical)
def all() -> Any:
    """True where all elements along the axes are true."""


def argmax(x: Any, axis: int = -1) -> Any:
    """The index of the greatest element along an axis."""
    return tf.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """The index of the least element along an axis."""
    return tf.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    """Running sums along an axis."""
    return tf.cumsum(x, axis)


def cumprod(x: Any, axis: int = 0) -> Any:
    """Running products along an axis."""
    return tf.math.cumprod(x, axis)


def sqrt(x: Any) -> Any:
    """The square root, 0 below 0."""
    x = tf.convert_to_tensor(x)
    return tf.sqrt(tf.clip_by_value(x, tf.cast(0.0, x.dtype), tf.cast(float("inf"), x.dtype)))


def log(x: Any) -> Any:
    """The natural logarithm."""
    return tf.math.log(x)


def pow(x: Any, a: Any) -> Any:
    """``x ** a``."""
    return tf.pow(x, a)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """``min(max(x, min_value), max_value)``."""
    numbers = isinstance(min_value, (int, float)) and isinstance(max_value, (int, float))
    if numbers and max_value < min_value:
        max_value = min_value
    least = -np.inf if min_value is None else min_value
    return tf.clip_by_value(x, least, np.inf if max_value is None else max_value)


def dot(x: Any, y: Any) -> Any:
    """The sum of products over the last axis of ``x`` and the last but one of ``y``."""
    if len(x.shape) > 2 or len(y.shape) > 2:
        return tf.tensordot(x, y, [[-1], [-2]])
    return tf.matmul(x, y)


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The sum of products over an axis of each, by default the last and ``y``'s last but one.

    Raises:
        ValueError: Other numbers of examples, or axes that are the examples'.
    """
    ranks = (len(x.shape), len(y.shape))
    if ranks[0] < 2 or ranks[1] < 2:
        raise ValueError(
            "batch_dot takes tensors with an axis of examples and one more; got shapes "
            f"{x.shape} and {y.shape}"
        )
    if axes is None:
        axes = (ranks[0] - 1, ranks[1] - (1 if ranks[1] == 2 else 2))
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = first % ranks[0], second % ranks[1]
    if 0 in (first, second):
        raise ValueError(
            "`axes` must not include 0, the axis of examples; K.expand_dims(x, 0) adds one where "
            "it is missing"
        )
    letters = "abcdefghijklmnopqrstuvwxyz"
    of_x = letters[: ranks[0]]
    of_y = list(letters[ranks[0] : ranks[0] + ranks[1]])
    of_y[0], of_y[second] = of_x[0], of_x[first]
    left = of_x.replace(of_x[first], "")
    right = "".join(letter for i, letter in enumerate(of_y) if i not in (0, second))
    value = tf.einsum(f"{of_x},{''.join(of_y)}->{left}{right}", x, y)
    return tf.expand_dims(value, 1) if value.shape.rank == 1 else value


def transpose(x: Any) -> Any:
    """The axes in reverse order."""
    return tf.transpose(x)


def permute_dimensions(x: Any, pattern: Sequence[int]) -> Any:
    """The axes in another order."""
    return tf.transpose(x, pattern)


def expand_dims(x: Any, axis: int = -1) -> Any:
    """Another axis of length 1."""
    return tf.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Without an axis of length 1."""
    return tf.squeeze(x, [axis])


def flatten(x: Any) -> Any:
    """All elements in one axis."""
    return tf.reshape(x, [-1])


def batch_flatten(x: Any) -> Any:
    """The elements of each example in one axis."""
    return tf.reshape(x, [tf.shape(x)[0], -1])


def concatenate(tensors: Sequence[Any], axis: int = -1) -> Any:
    """One after another along an axis."""
    return tf.concat(tensors, axis)


def tile(x: Any, n: Any) -> Any:
    """The whole several times."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def repeat(x: Any, n: int) -> Any:
    """Each row of a matrix ``n`` times, along a new axis."""
    if len(x.shape) != 2:
        raise ValueError(f"repeat takes a matrix; got shape {x.shape}")
    return tf.tile(tf.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each element ``rep`` times along an axis."""
    return tf.repeat(x, rep, axis)


def reverse(x: Any, axes: Any) -> Any:
    """In reverse order along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def gather(reference: Any, indices: Any) -> Any:
    """Rows by their places."""
    return tf.gather(reference, indices)


def one_hot(indices: Any, num_classes: int) -> Any:
    """1 at the place of a class, else 0."""
    return tf.one_hot(indices, num_classes)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Numbers from ``start``, 0 if it is the only one, to before ``stop``."""
    if stop is None and start < 0:
        start = 0
    found = tf.range(start, delta=step) if stop is None else tf.range(start, stop, step)
    return found if dtype == "int32" else tf.cast(found, dtype)
