"""Layers that draw: what is left out or added in training."""

from __future__ import annotations

import math
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import channels_last
from gradwire.tf.keras import random, regularizers
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.specs import InputSpec
from gradwire.tf.keras.seeds import SeedGenerator


class _Drawing(Layer):
    supports_masking = True

    def __init__(self, seed: int | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seed: int | None = seed

    def _draw_seed(self, share: float) -> None:
        if share > 0:  # else nothing is drawn, and no seed either
            self.seed_generator: SeedGenerator = SeedGenerator(self.seed)


class Dropout(_Drawing):
    """In training, zeros for a share of elements, the others scaled up; else the input.

    Where ``noise_shape`` has a length of 1, all elements along that axis are left out together.
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        _assert_share(rate)
        super().__init__(seed, **kwargs)
        self._draw_seed(rate)
        self.rate: float = rate
        self.noise_shape: Any = noise_shape

    def _noise_shape(self, inputs: Any) -> Any:
        return self.noise_shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        if self.rate == 1:
            return tf.zeros_like(inputs)
        return random.dropout(inputs, self.rate, self._noise_shape(inputs), self.seed_generator)


class SpatialDropout(Dropout):
    """In training, zeros for a share of channels, at all places of an example."""

    _left_out: tuple[str, ...] = ("noise_shape",)
    _rank: int = 1

    def __init__(
        self,
        rate: float,
        data_format: str | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        channels_last(type(self).__name__, data_format)
        self.data_format: str = "channels_last"
        self.input_spec: Any = InputSpec(ndim=self._rank + 2)

    def _noise_shape(self, inputs: Any) -> Any:
        return (inputs.shape[0], *(1,) * self._rank, inputs.shape[-1])


class SpatialDropout1D(SpatialDropout):
    """In training, zeros for a share of channels along an axis of space."""

    _left_out = ("noise_shape", "data_format")

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(rate, None, seed, **kwargs)


class SpatialDropout2D(SpatialDropout):
    """In training, zeros for a share of channels along two axes of space."""

    _rank = 2


class SpatialDropout3D(SpatialDropout):
    """In training, zeros for a share of channels along three axes of space."""

    _rank = 3


class GaussianNoise(_Drawing):
    """In training, normally distributed noise added."""

    def __init__(self, stddev: float, seed: int | None = None, **kwargs: Any) -> None:
        if not 0 <= stddev <= 1:
            raise ValueError(
                "Invalid value received for argument `stddev`. Expected a float value between 0 "
                f"and 1. Received: stddev={stddev}"
            )
        super().__init__(seed, **kwargs)
        self._draw_seed(stddev)
        self.stddev: float = stddev

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.stddev == 0:
            return inputs
        shape = tuple(inputs.shape)
        return inputs + random.normal(shape, 0.0, self.stddev, inputs.dtype, self.seed_generator)


class GaussianDropout(_Drawing):
    """In training, times normally distributed noise, of variance ``rate / (1 - rate)``."""

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        _assert_share(rate)
        super().__init__(seed, **kwargs)
        self._draw_seed(rate)
        self.rate: float = rate

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        deviation = math.sqrt(self.rate / (1.0 - self.rate))
        shape = tuple(inputs.shape)
        return inputs * random.normal(shape, 1.0, deviation, inputs.dtype, self.seed_generator)


class AlphaDropout(_Drawing):
    """In training, a share of elements at SELU's least value, scaled to keep mean and variance."""

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        _assert_share(rate)
        super().__init__(seed, **kwargs)
        self._draw_seed(rate)
        self.rate: float = rate
        self.noise_shape: Any = noise_shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
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


def _assert_share(rate: float) -> None:
    if not 0 <= rate <= 1:
        raise ValueError(
            "Invalid value received for argument `rate`. Expected a float value between 0 and 1. "
            f"Received: rate={rate}"
        )
