"""Parts of networks by the names of Keras's first backend: activations, draws, losses, windows."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras.settings import epsilon, floatx
from gradwire.tf.keras.symbolic import KerasTensor

__all__ = [
    "batch_normalization", "binary_crossentropy", "categorical_crossentropy", "conv2d", "dropout",
    "elu", "hard_sigmoid", "in_top_k", "is_keras_tensor", "l2_normalize", "pool2d",
    "random_bernoulli", "random_normal", "random_uniform", "relu", "softmax", "softplus",
    "softsign", "sparse_categorical_crossentropy", "spatial_2d_padding", "temporal_padding",
    "truncated_normal",
]  # fmt: skip


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
        raise ValueError(f"softmax needs two axes or more; got {x}")
    return tf.nn.softmax(x, axis)


def l2_normalize(x: Any, axis: Any = None) -> Any:
    """``x`` divided by its length."""
    return tf.linalg.l2_normalize(x, axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    """True for targets among the ``k`` largest predictions."""
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
        raise ValueError(f"`pool_mode` is 'max' or 'avg', not {pool_mode!r}")
    return tf.nn.pool(x, pool_size, pool_mode.upper(), strides, padding.upper())


def is_keras_tensor(x: Any) -> bool:
    """True if a value is symbolic."""
    return isinstance(x, KerasTensor)
