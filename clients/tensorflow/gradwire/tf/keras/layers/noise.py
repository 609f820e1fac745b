"""Layers that draw: what is left out or added in training."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gradwire.tf as tf
from gradwire.tf.keras import random, regularizers
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.spatial import Spatial
from gradwire.tf.keras.seeds import SeedGenerator

__all__ = [
    "ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
]  # fmt: skip


class _Drawing(Layer):
    """A layer that draws in training, unless its share is 0; else it gives the input."""

    supports_masking = True
    #: The argument that says how much is left out or added.
    _share: ClassVar[str] = "rate"
    seed: int | None

    def __post_init__(self) -> None:
        share = getattr(self, self._share)
        if not 0 <= share <= 1:
            raise ValueError(f"`{self._share}` must be from 0 to 1; got {share}")
        if share > 0:  # else nothing is drawn, and no seed either
            self.seed_generator: SeedGenerator = SeedGenerator(self.seed)

    def call(self, inputs: Any, training: bool = False) -> Any:
        return self._drawn(inputs) if training and getattr(self, self._share) else inputs

    def _drawn(self, inputs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must have a method _drawn")


@configurable
class Dropout(_Drawing):
    """In training, zeros for a share of elements, the others scaled up; else the input.

    Where ``noise_shape`` has a length of 1, all elements along that axis are left out together.
    """

    rate: float
    noise_shape: Any = None
    seed: int | None = None

    def _drawn(self, inputs: Any) -> Any:
        if self.rate == 1:
            return tf.zeros_like(inputs)
        return random.dropout(inputs, self.rate, self._noise_shape(inputs), self.seed_generator)

    def _noise_shape(self, inputs: Any) -> Any:
        return self.noise_shape


class _SpatialDropout(Dropout, Spatial):
    """In training, zeros for a share of channels, at all places of an example."""

    _left_out: tuple[str, ...] = ("noise_shape",)

    def _noise_shape(self, inputs: Any) -> Any:
        return (inputs.shape[0], *(1,) * self._rank, inputs.shape[-1])


@configurable
class SpatialDropout1D(_SpatialDropout, rank=1):
    """In training, zeros for a share of channels along an axis of space."""

    rate: float
    seed: int | None = None


@configurable
class SpatialDropout2D(_SpatialDropout):
    """In training, zeros for a share of channels along two axes of space."""

    rate: float
    data_format: str | None = None
    seed: int | None = None


@configurable
class SpatialDropout3D(_SpatialDropout, rank=3):
    """In training, zeros for a share of channels along three axes of space."""

    rate: float
    data_format: str | None = None
    seed: int | None = None


@configurable
class GaussianNoise(_Drawing):
    """In training, normally distributed noise added."""

    _share = "stddev"
    stddev: float
    seed: int | None = None

    def _drawn(self, inputs: Any) -> Any:
        return inputs + _normal(inputs, 0.0, self.stddev, self.seed_generator)


@configurable
class GaussianDropout(_Drawing):
    """In training, times normally distributed noise, of variance ``rate / (1 - rate)``."""

    rate: float
    seed: int | None = None

    def _drawn(self, inputs: Any) -> Any:
        deviation = math.sqrt(self.rate / (1.0 - self.rate))
        return inputs * _normal(inputs, 1.0, deviation, self.seed_generator)


@configurable
class AlphaDropout(_Drawing):
    """In training, a share of elements at SELU's least value, scaled to keep mean and variance."""

    rate: float
    noise_shape: Any = None
    seed: int | None = None

    def _drawn(self, inputs: Any) -> Any:
        shape = tuple(inputs.shape) if self.noise_shape is None else tuple(self.noise_shape)
        least = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717
        kept = random.uniform(shape, seed=self.seed_generator) >= self.rate
        scale = ((1.0 - self.rate) * (1.0 + self.rate * least**2)) ** -0.5
        shift = -scale * least * self.rate
        value = tf.where(kept, inputs, tf.constant(least, inputs.dtype))
        return scale * value + shift


class ActivityRegularization(Layer):
    """The input, penalised by ``l1 sum(|x|) + l2 sum(x^2)``."""

    supports_masking = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1, l2), **kwargs)
        self.l1: float = l1
        self.l2: float = l2

    def call(self, inputs: Any) -> Any:
        return inputs

    def _basic_config(self) -> dict[str, Any]:
        config = super()._basic_config()
        del config["activity_regularizer"]  # which l1 and l2 say
        return config


def _normal(inputs: Any, mean: float, deviation: float, seed: SeedGenerator) -> Any:
    return random.normal(tuple(inputs.shape), mean, deviation, inputs.dtype, seed)
