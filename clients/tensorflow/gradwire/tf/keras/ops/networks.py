"""Keras's operations of networks: classes, windows, convolutions, losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last, only
from gradwire.tf.keras import losses
from gradwire.tf.keras.ops.promotion import floating, pair, tensor
from gradwire.tf.keras.settings import floatx
from gradwire.tf.variants import variant


def one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    """1 at the place of a class, else 0."""
    only("keras.ops.one_hot", sparse=(sparse, False))
    return tf.one_hot(tf.cast(x, tf.int64), num_classes, axis=axis, dtype=dtype or floatx())


def _pooled(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Callable[..., Any]:
    channels_last("keras.ops", data_format)
    inputs = tensor(inputs)
    rank = len(inputs.shape) - 2
    sizes, steps = (
        [each] * rank if isinstance(each, int) else list(each)
        for each in (pool_size, pool_size if strides is None else strides)
    )
    return lambda kind: tf.nn.pool(inputs, sizes, kind, strides=steps, padding=padding.upper())


@variant(_pooled, "MAX")
def max_pool() -> Any:
    """The greatest of each window."""


@variant(_pooled, "AVG")
def average_pool() -> Any:
    """The mean of each window."""


def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Any:
    """A convolution."""
    channels_last("keras.ops.conv", data_format)
    inputs, kernel = pair(inputs, kernel)
    return tf.nn.convolution(
        inputs, kernel, strides=strides, padding=padding.upper(), dilations=dilation_rate
    )


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


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """``-target log(output) - (1 - target) log(1 - output)`` of each element."""
    target, output = tf.expand_dims(tensor(target), -1), tf.expand_dims(tensor(output), -1)
    return losses.binary_crossentropy(target, output, from_logits)


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """``-sum(target log(output))`` along an axis."""
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """``-log(output)`` of the class that an integer names."""
    return losses.sparse_categorical_crossentropy(target, output, from_logits, axis=axis)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """``(x - mean) / sqrt(variance + epsilon) scale + offset`` along an axis."""
    x = floating(x)
    lengths = [1] * len(x.shape)
    lengths[axis] = -1

    def wide(part: Any) -> Any:
        return None if part is None else tf.reshape(tensor(part), lengths)

    return tf.nn.batch_normalization(
        x, wide(mean), wide(variance), wide(offset), wide(scale), epsilon
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


def depth_to_space(x: Any, block_size: int) -> Any:
    """Channels as blocks of places."""
    return tf.nn.depth_to_space(tensor(x), block_size)


def space_to_depth(x: Any, block_size: int) -> Any:
    """Blocks of places as channels."""
    return tf.nn.space_to_depth(tensor(x), block_size)
