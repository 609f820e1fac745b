"""Adam and its relatives: means of gradients, divided by means of their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import After, Optimizer, Slots, of_each, rounded

__all__ = ["Adam", "AdamW", "Adamax", "Nadam"]


@configurable
class Adam(Optimizer):
    """Kingma and Ba's: first and second moments, corrected for their first values."""

    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False

    def __post_init__(self) -> None:
        self._slots = ("momentum", "velocity", *(["velocity_hat"] if self.amsgrad else []))

    def _numbers(self, step: int, dtype: Any) -> tuple[float, ...]:
        correction = np.sqrt(complement(self.beta_2, step, dtype))
        return (float(correction / complement(self.beta_1, step, dtype)),)

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        first, second = slots["momentum"], slots["velocity"]
        first = first + (gradient - first) * (1.0 - self.beta_1)
        second = second + (of_each(tf.square, gradient) - second) * (1.0 - self.beta_2)
        after = {"momentum": first, "velocity": second}
        if self.amsgrad:
            second = after["velocity_hat"] = tf.maximum(slots["velocity_hat"], second)
        (scale,) = numbers
        return weight - first * (rate * scale) / (tf.sqrt(second) + self.epsilon), after


@configurable
class AdamW(Adam):
    """Adam with decay of the weights."""

    learning_rate: Any = 0.001
    weight_decay: float | None = 0.004
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7
    amsgrad: bool = False

    def __post_init__(self) -> None:
        if self.weight_decay is None:
            raise ValueError("`weight_decay` must be a float; got None")


@configurable
class Moments(Optimizer):
    """An optimizer by first and second moments."""

    _slots = ("momentum", "velocity")
    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7


class Adamax(Moments):
    """Adam by the greatest gradients."""

    _slots = ("momentum", "norm")

    def _numbers(self, step: int, dtype: Any) -> tuple[float, ...]:
        return (float(1.0 / complement(self.beta_1, step, dtype)),)

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        first, norm = slots["momentum"], slots["norm"]
        first = first + (gradient - first) * (1.0 - self.beta_1)
        norm = tf.maximum(norm * self.beta_2, of_each(tf.abs, gradient))
        (scale,) = numbers
        after = {"momentum": first, "norm": norm}
        return weight - first * (rate * scale) / (norm + self.epsilon), after


class Nadam(Moments):
    """Adam with Nesterov's momentum."""

    _product: float = 1.0
    _counted: int = -1

    def _numbers(self, step: int, dtype: Any) -> tuple[float, ...]:
        if self._counted != step:
            self._product *= self.beta_1 * (1.0 - 0.5 * 0.96**step)
            self._counted = step
        beta_1, decay = rounded(self.beta_1), rounded(0.96)
        now, after = (beta_1 * (1.0 - 0.5 * decay**t) for t in (step, step + 1))
        return (
            after / (1.0 - self._product * after),
            (1.0 - now) / (1.0 - self._product),
            float(complement(self.beta_2, step, dtype)),
        )

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        first, second = slots["momentum"], slots["velocity"]
        first = first + (gradient - first) * (1.0 - rounded(self.beta_1))
        second = second + (of_each(tf.square, gradient) - second) * (1.0 - rounded(self.beta_2))
        of_first, of_gradient, complement = numbers
        mean = first * of_first + tf.convert_to_tensor(gradient) * of_gradient
        change = mean * rate / (tf.sqrt(second / complement) + self.epsilon)
        return weight - change, {"momentum": first, "velocity": second}


def complement(beta: float, step: int, dtype: Any) -> Any:
    """``1 - beta^step`` with the rounding of the dtype, as TensorFlow has it."""
    number = dtype.as_numpy_dtype
    return number(1.0) - number(rounded(beta)) ** number(step)
