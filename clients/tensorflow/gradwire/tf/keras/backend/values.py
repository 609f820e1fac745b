"""Values by the names of Keras's first backend: shapes, variables, loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.settings import floatx

__all__ = [
    "batch_get_value", "batch_set_value", "cast_to_floatx", "constant", "count_params", "dtype",
    "eval", "eye", "foldl", "foldr", "get_value", "int_shape", "map_fn", "moving_average_update",
    "ndim", "ones", "set_value", "shape", "stop_gradient", "switch", "update", "update_add",
    "update_sub", "variable", "zeros",
]  # fmt: skip


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two functions or values, for each element of a condition."""
    condition = tf.cast(condition, tf.bool)
    true, false = (
        expression if callable(expression) else lambda expression=expression: expression
        for expression in (then_expression, else_expression)
    )
    if not len(condition.shape):
        return tf.cond(condition, true, false)
    values = (true(), false())
    if len(condition.shape) > 1:  # as Keras: a vector is along the last axis
        ones = [1] * (len(values[0].shape) - len(condition.shape))
        condition = tf.reshape(condition, [*condition.shape, *ones])
    return tf.where(condition, *values)


def shape(x: Any) -> Any:
    """The lengths of the axes, as a tensor."""
    return tf.shape(x)


def int_shape(x: Any) -> tuple[Any, ...]:
    """The lengths of the axes, as a tuple."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """The number of axes."""
    return len(x.shape)


def dtype(x: Any) -> str:
    """The name of the dtype."""
    return str(tf.as_dtype(x.dtype).name)


def count_params(x: Any) -> int:
    """The number of elements."""
    return int(np.prod(tuple(x.shape)))


def cast_to_floatx(x: Any) -> Any:
    """A tensor, or an array, of ``floatx``."""
    return tf.cast(x, floatx()) if tf.is_tensor(x) else np.asarray(x, floatx())


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A tensor of ``floatx`` by default."""
    return tf.constant(value, dtype or floatx(), shape, name or "Const")


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable of ``floatx`` by default."""
    return tf.Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros, a tensor if it is empty."""
    return _filled(tf.zeros(shape, dtype or floatx()), name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones, a tensor if it is empty."""
    return _filled(tf.ones(shape, dtype or floatx()), name)


def _filled(value: Any, name: str | None) -> Any:
    return value if 0 in value.shape else tf.Variable(value, name=name)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable: the identity matrix."""
    return tf.Variable(tf.eye(size, dtype=dtype or floatx()), name=name)


def get_value(x: Any) -> Any:
    """The elements as an array; what is no tensor, as it is."""
    return x.numpy() if tf.is_tensor(x) else x


def eval(x: Any) -> Any:
    """The elements as an array."""
    return get_value(x)


def set_value(x: Any, value: Any) -> None:
    """Give a variable a value."""
    x.assign(np.asarray(value, tf.as_dtype(x.dtype).as_numpy_dtype))


def batch_get_value(tensors: Iterable[Any]) -> list[Any]:
    """The elements of each as an array."""
    return [x.numpy() for x in tensors]


def batch_set_value(tuples: Iterable[tuple[Any, Any]]) -> None:
    """Give each variable its value."""
    for x, value in tuples:
        set_value(x, value)


def update(x: Any, new_x: Any) -> Any:
    """Give a variable a value."""
    return x.assign(new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable."""
    return x.assign_add(increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Take from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """``x = momentum x + (1 - momentum) value``."""
    share = tf.cast(momentum, x.dtype)
    return x.assign_sub((x - tf.cast(value, x.dtype)) * (1 - share))


def stop_gradient(variables: Any) -> Any:
    """The values without gradients."""
    if isinstance(variables, (list, tuple)):
        return map(tf.stop_gradient, variables)
    return tf.stop_gradient(variables)


def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """A function of each row."""
    return tf.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """A function of what came before and each row, from the first on."""
    return tf.foldl(fn, elems, initializer, name=name)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """A function of what came before and each row, from the last on."""
    return tf.foldr(fn, elems, initializer, name=name)
