"""Layers whose state is computed from data before training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.settings import epsilon

__all__ = ["Normalization"]


class Normalization(Layer):
    """``(x - mean) / max(sqrt(variance), epsilon)``, along all axes but ``axis``, or its inverse.

    Mean and variance are given, or computed from data by ``adapt``.
    """

    supports_masking = True

    def __init__(
        self,
        axis: Any = -1,
        mean: Any = None,
        variance: Any = None,
        invert: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        axes = () if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError(
                "Give `mean` and `variance` together, or neither; "
                f"got mean={mean}, variance={variance}"
            )
        if np.shape(mean) != np.shape(variance):
            raise ValueError(
                f"`mean` of shape {np.shape(mean)} needs a `variance` of that shape; "
                f"got {np.shape(variance)}"
            )
        self.axis: tuple[int, ...] = axes
        self.invert: bool = invert
        self.input_mean: Any = mean
        self.input_variance: Any = variance
        self.adapt_mean: Any = None
        self.adapt_variance: Any = None
        self.count: Any = None
        self._kept: tuple[int, ...] = ()
        self._broadcast: tuple[int, ...] = ()

    def build(self, input_shape: Any) -> None:
        ndim = len(input_shape)
        if any(not -ndim <= axis < ndim for axis in self.axis):
            raise ValueError(
                f"`axis` names an axis that inputs of {ndim} axes do not have; got {self.axis}"
            )
        self._kept = tuple(sorted(axis % ndim for axis in self.axis))
        self._broadcast = tuple(n if i in self._kept else 1 for i, n in enumerate(input_shape))
        if self.input_mean is not None or self.adapt_mean is not None:
            return
        shape = [input_shape[axis] for axis in self._kept]
        self.adapt_mean = self.add_weight(shape, "zeros", trainable=False, name="mean")
        self.adapt_variance = self.add_weight(shape, "ones", trainable=False, name="variance")
        self.count = self.add_weight((), "zeros", "int32", trainable=False, name="count")

    def adapt(self, data: Any) -> None:
        """Compute mean and variance of an array, a tensor, or batches of a data set."""
        if self.input_mean is not None:
            raise ValueError(
                "Normalization was made with `mean` and `variance`, so `adapt` has nothing to "
                "compute. Make it without them first."
            )
        count, mean, square = 0.0, np.zeros(()), np.zeros(())
        for batch in _batches(data):
            if not self.built:
                self.build(batch.shape)
            axes = tuple(i for i in range(batch.ndim) if i not in self._kept)
            part = batch.mean(axis=axes)
            total = count + len(batch)
            share = len(batch) / total
            distance = part - mean
            spread = batch.var(axis=axes)
            square = (1 - share) * (square + (share * distance) ** 2) + share * (
                spread + ((1 - share) * distance) ** 2
            )
            mean, count = mean + share * distance, total
        if not count:
            raise ValueError("adapt() received no data: at least one batch is needed")
        self.adapt_mean.assign(tf.constant(mean, self.dtype))
        self.adapt_variance.assign(tf.constant(square, self.dtype))

    def _statistic(self, given: Any, adapted: Any) -> Any:
        if given is None:
            return tf.cast(tf.reshape(adapted, self._broadcast), self.compute_dtype)
        array = np.asarray(given)
        shape = [1] * len(self._broadcast)
        for place, length in zip(self._kept[::-1], array.shape[::-1], strict=False):
            shape[place] = length
        return tf.constant(
            np.broadcast_to(array.reshape(shape), self._broadcast), self.compute_dtype
        )

    @property
    def mean(self) -> Any:
        """The mean, with axes of 1 where it is the same."""
        return self._statistic(self.input_mean, self.adapt_mean) if self.built else None

    @property
    def variance(self) -> Any:
        """The variance, with axes of 1 where it is the same."""
        return self._statistic(self.input_variance, self.adapt_variance) if self.built else None

    def call(self, inputs: Any) -> Any:
        inputs = tf.cast(inputs, self.compute_dtype)
        least = tf.constant(epsilon(), self.compute_dtype)
        deviation = tf.maximum(tf.sqrt(self.variance), least)
        if self.invert:
            return inputs * deviation + self.mean
        return (inputs - self.mean) / deviation

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another; what data gave are its weights."""
        return self._basic_config() | {
            "axis": self.axis,
            "invert": self.invert,
            "mean": _listed(self.input_mean),
            "variance": _listed(self.input_variance),
        }


def _batches(data: Any) -> Iterator[Any]:
    """Batches as arrays of float64; the first part of those that are tuples."""
    if hasattr(data, "__array__"):
        yield np.asarray(data, np.float64)
        return
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise TypeError(f"`data` is {type(data)}, not an array, a tensor or batches of them")
    for batch in data:
        part = np.asarray(batch[0] if isinstance(batch, tuple) else batch, np.float64)
        single = isinstance(data, tf.data.Dataset) and part.ndim == 1  # an example, not a batch
        yield part[None] if single else part


def _listed(value: Any) -> Any:
    return None if value is None else np.asarray(value).tolist()
