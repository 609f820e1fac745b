"""Functions of Keras's first backend, which losses and layers of older programs are written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.settings import epsilon, floatx
from gradwire.tf.keras.symbolic import KerasTensor

Axis = Any

#: TensorFlow's functions under the same names.
abs = tf.abs
cos = tf.cos
equal = tf.equal
exp = tf.exp
greater = tf.greater
greater_equal = tf.greater_equal
less = tf.less
less_equal = tf.less_equal
maximum = tf.maximum
minimum = tf.minimum
not_equal = tf.not_equal
round = tf.round
sigmoid = tf.sigmoid
sign = tf.sign
sin = tf.sin
square = tf.square
stack = tf.stack
tanh = tf.tanh
cast = tf.cast
reshape = tf.reshape
zeros_like = tf.zeros_like
ones_like = tf.ones_like
name_scope = tf.name_scope


def sum(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum along axes."""
    return tf.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The product along axes."""
    return tf.reduce_prod(x, axis, keepdims)


def max(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The greatest along axes."""
    return tf.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The least along axes."""
    return tf.reduce_min(x, axis, keepdims)


def mean(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean along axes; booleans are 0 and 1."""
    return tf.reduce_mean(_number(x), axis, keepdims)


def std(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The standard deviation along axes."""
    return tf.math.reduce_std(_number(x), axis, keepdims)


def var(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """The variance along axes."""
    return tf.math.reduce_variance(_number(x), axis, keepdims)


def _number(x: Any) -> Any:
    return tf.cast(x, floatx()) if x.dtype == tf.bool else x


def any(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether one is true along axes."""
    return tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims)


def all(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Whether all are true along axes."""
    return tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Any:
    """Where the greatest is along an axis."""
    return tf.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Where the least is along an axis."""
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
            "Cannot do batch_dot on inputs with rank < 2. Received inputs with tf.shapes "
            f"{x.shape} and {y.shape}."
        )
    if axes is None:
        axes = (ranks[0] - 1, ranks[1] - (1 if ranks[1] == 2 else 2))
    first, second = (axes, axes) if isinstance(axes, int) else axes
    first, second = first % ranks[0], second % ranks[1]
    if 0 in (first, second):
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy "
            "batch dimension to your inputs using K.expand_dims(x, 0)"
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
        raise ValueError(f"Expected input `x` to have rank 2. Received: rank(x)={len(x.shape)}")
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


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """What stands for true or false: functions or values, for each element of a condition."""
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
    """How many axes there are."""
    return len(x.shape)


def dtype(x: Any) -> str:
    """The name of the dtype."""
    return str(tf.as_dtype(x.dtype).name)


def count_params(x: Any) -> int:
    """How many elements there are."""
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


def relu(x: Any, alpha: float = 0.0, max_value: Any = None, threshold: float = 0.0) -> Any:
    """``max(x, 0)``; ``alpha (x - threshold)`` below a threshold, at most ``max_value``."""
    x = tf.convert_to_tensor(x)
    if alpha and max_value is None and not threshold:
        return tf.nn.leaky_relu(x, alpha)
    below = tf.nn.relu(threshold - x) if alpha else None
    if threshold:
        x = x * tf.cast(x > threshold, x.dtype)
    else:
        x = tf.nn.relu6(x) if max_value == 6 else tf.nn.relu(x)
    if max_value is not None and (threshold or max_value != 6):
        x = tf.clip_by_value(x, tf.cast(0, x.dtype), tf.cast(max_value, x.dtype))
    return x if below is None else x - tf.cast(alpha, x.dtype) * below


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` above 0, and ``alpha (exp(x) - 1)`` below."""
    value = tf.nn.elu(x)
    return value if alpha == 1 else tf.where(x > 0, value, alpha * value)


def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``."""
    return tf.math.softplus(x)


def softsign(x: Any) -> Any:
    """``x / (1 + |x|)``."""
    return tf.math.softsign(x)


def hard_sigmoid(x: Any) -> Any:
    """``0.2 x + 0.5`` within 0 and 1."""
    return tf.clip_by_value(x * 0.2 + 0.5, 0.0, 1.0)


def softmax(x: Any, axis: int = -1) -> Any:
    """``exp(x)`` divided by its sum along an axis."""
    if len(x.shape) <= 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return tf.nn.softmax(x, axis)


def l2_normalize(x: Any, axis: Axis = None) -> Any:
    """``x`` divided by its length."""
    return tf.linalg.l2_normalize(x, axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """Whether targets are among the largest predictions."""
    return tf.math.in_top_k(targets, predictions, k)


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Any:
    """``(x - mean) / sqrt(var + epsilon) gamma + beta``; ``axis`` is the last one."""
    if axis not in (-1, len(x.shape) - 1):
        raise NotImplementedError(f"batch_normalization does not implement axis={axis}")
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def dropout(x: Any, level: float, noise_shape: Any = None, seed: int | None = None) -> Any:
    """Zeros at random places, the others larger for that."""
    return tf.nn.dropout(x, level, noise_shape, _seed(seed))


def random_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normally distributed numbers."""
    return tf.random.normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_uniform(
    shape: Any, minval: float = 0.0, maxval: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Evenly distributed numbers."""
    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), _seed(seed))


def truncated_normal(
    shape: Any, mean: float = 0.0, stddev: float = 1.0, dtype: Any = None, seed: Any = None
) -> Any:
    """Normally distributed numbers within two standard deviations."""
    return tf.random.truncated_normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_bernoulli(shape: Any, p: float = 0.0, dtype: Any = None, seed: Any = None) -> Any:
    """1 with a probability, else 0."""
    drawn = random_uniform(shape, dtype=dtype, seed=seed)
    return tf.cast(drawn <= p, drawn.dtype)


def _seed(seed: Any) -> Any:
    """A seed; by NumPy's generator if there is none, as Keras has it."""
    return np.random.randint(10e6) if seed is None else seed  # type: ignore[call-overload]


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """``-target log(output) - (1 - target) log(1 - output)`` of each element."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    if from_logits:
        return tf.nn.sigmoid_cross_entropy_with_logits(target, output)
    p, least = _probable(output), epsilon()
    return -(target * tf.math.log(p + least) + (1 - target) * tf.math.log(1 - p + least))


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """``-sum(target log(output))`` along an axis, of outputs that are divided by their sum."""
    target, output = tf.convert_to_tensor(target), tf.convert_to_tensor(output)
    if from_logits:
        return tf.nn.softmax_cross_entropy_with_logits(target, output, axis)
    p = _probable(output / tf.reduce_sum(output, axis, keepdims=True))
    return -tf.reduce_sum(target * tf.math.log(p), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1, ignore_class: Any = None
) -> Any:
    """``-log(output)`` of the class that an integer names."""
    if ignore_class is not None or axis not in (-1, len(output.shape) - 1):
        raise NotImplementedError(
            "keras.backend.sparse_categorical_crossentropy does not implement "
            f"axis={axis}, ignore_class={ignore_class}"
        )
    target, output = tf.cast(target, tf.int64), tf.convert_to_tensor(output)
    logits = output if from_logits else tf.math.log(_probable(output))
    labels = tf.reshape(target, tuple(logits.shape)[:-1])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def _probable(output: Any) -> Any:
    least = tf.cast(epsilon(), output.dtype)
    return tf.clip_by_value(output, least, 1 - least)


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Any:
    """Zeros around pictures."""
    rows, columns = (list(pair) for pair in padding)
    if data_format == "channels_first":
        return tf.pad(x, [[0, 0], [0, 0], rows, columns])
    return tf.pad(x, [[0, 0], rows, columns, [0, 0]])


def temporal_padding(x: Any, padding: tuple[int, int] = (1, 1)) -> Any:
    """Zeros before and after steps."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution along two axes."""
    channels_last("keras.backend.conv2d", data_format)
    return tf.nn.convolution(x, kernel, strides, padding.upper(), dilations=dilation_rate)


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The greatest or the mean of each window along two axes."""
    channels_last("keras.backend.pool2d", data_format)
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    return tf.nn.pool(x, pool_size, pool_mode.upper(), strides, padding.upper())


def is_keras_tensor(x: Any) -> bool:
    """Whether a value is symbolic."""
    return isinstance(x, KerasTensor)


__all__ = [
    "abs",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "batch_dot",
    "batch_flatten",
    "batch_get_value",
    "batch_normalization",
    "batch_set_value",
    "binary_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "clip",
    "concatenate",
    "constant",
    "conv2d",
    "cos",
    "count_params",
    "cumprod",
    "cumsum",
    "dot",
    "dropout",
    "dtype",
    "elu",
    "equal",
    "eval",
    "exp",
    "expand_dims",
    "eye",
    "flatten",
    "foldl",
    "foldr",
    "gather",
    "get_value",
    "greater",
    "greater_equal",
    "hard_sigmoid",
    "in_top_k",
    "int_shape",
    "is_keras_tensor",
    "l2_normalize",
    "less",
    "less_equal",
    "log",
    "map_fn",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "moving_average_update",
    "name_scope",
    "ndim",
    "not_equal",
    "one_hot",
    "ones",
    "ones_like",
    "permute_dimensions",
    "pool2d",
    "pow",
    "prod",
    "random_bernoulli",
    "random_normal",
    "random_uniform",
    "relu",
    "repeat",
    "repeat_elements",
    "reshape",
    "reverse",
    "round",
    "set_value",
    "shape",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "spatial_2d_padding",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stop_gradient",
    "sum",
    "switch",
    "tanh",
    "temporal_padding",
    "tile",
    "transpose",
    "truncated_normal",
    "update",
    "update_add",
    "update_sub",
    "var",
    "variable",
    "zeros",
    "zeros_like",
]
