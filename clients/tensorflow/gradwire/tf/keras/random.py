"""``keras.random``: TensorFlow's stateless draws, with Keras's seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.seeds import SeedGenerator, drawn_seed
from gradwire.tf.keras.settings import floatx
from gradwire.tf.operations.types import DTypeLike, Shape
from gradwire.tf.variants import variant

__all__ = [
    "SeedGenerator", "categorical", "dropout", "normal", "randint", "shuffle", "truncated_normal",
    "uniform",
]  # fmt: skip


def _scaled(
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: Any = None,
) -> Callable[..., tf.Tensor]:
    return lambda draw: draw(shape, drawn_seed(seed), mean, stddev, _kind(dtype))


@variant(_scaled, tf.random.stateless_normal)
def normal() -> tf.Tensor:
    """Normal numbers."""


@variant(_scaled, tf.random.stateless_truncated_normal)
def truncated_normal() -> tf.Tensor:
    """Normal numbers at most two standard deviations from the mean."""


def uniform(
    shape: Shape,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: Any = None,
) -> tf.Tensor:
    """Numbers evenly from ``minval`` to below ``maxval``, which are of ``dtype``, too."""
    kind = _kind(dtype)
    least, most = (tf.cast(bound, kind).numpy() for bound in (minval, maxval))
    return tf.random.stateless_uniform(shape, drawn_seed(seed), least, most, kind)


def randint(
    shape: Shape, minval: int, maxval: int, dtype: DTypeLike = "int32", seed: Any = None
) -> tf.Tensor:
    """Integers evenly from ``minval`` to below ``maxval``."""
    return tf.random.stateless_uniform(shape, drawn_seed(seed), minval, maxval, dtype)


def shuffle(x: Any, axis: int = 0, seed: Any = None) -> tf.Tensor:
    """The elements along an axis in the order of uniform numbers."""
    tensor = tf.convert_to_tensor(x)
    length = tensor._lengths()[axis]
    drawn = tf.random.stateless_uniform([length], drawn_seed(seed))
    found: tf.Tensor = tf.gather(tensor, tf.argsort(drawn), axis=axis)
    return found


def categorical(
    logits: Any, num_samples: int, dtype: DTypeLike = "int32", seed: Any = None
) -> tf.Tensor:
    """Classes for each row of ``logits``, a matrix."""
    return tf.random.stateless_categorical(logits, num_samples, drawn_seed(seed), dtype)


def dropout(inputs: Any, rate: float, noise_shape: Any = None, seed: Any = None) -> tf.Tensor:
    """Elements zeroed with probability ``rate``, the others divided by ``1 - rate``."""
    return tf.nn.experimental.stateless_dropout(
        inputs, rate, drawn_seed(seed), noise_shape=noise_shape
    )


def _kind(dtype: DTypeLike | None) -> Any:
    return tf.as_dtype(floatx() if dtype is None else dtype)
