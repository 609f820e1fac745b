"""Adam and its relatives: means of gradients, divided by means of their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import Optimizer, of_each, rounded

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

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        step = self._next_step()
        first, second = slots["momentum"], slots["velocity"]
        first.assign_add((gradient - first) * (1.0 - self.beta_1))
        second.assign_add((of_each(tf.square, gradient) - second) * (1.0 - self.beta_2))
        correction = np.sqrt(_complement(self.beta_2, step, variable))
        correction = correction / _complement(self.beta_1, step, variable)
        if self.amsgrad:
            slots["velocity_hat"].assign(tf.maximum(slots["velocity_hat"], second))
            second = slots["velocity_hat"]
        scale = tf.constant(correction, dtype=variable.dtype)
        variable.assign_sub(first * (learning_rate * scale) / (tf.sqrt(second) + self.epsilon))


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
            raise ValueError("Argument `weight_decay` must be a float. Received: weight_decay=None")


@configurable
class Adamax(Optimizer):
    """Adam by the greatest gradients."""

    _slots = ("momentum", "norm")
    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        step = self._next_step()
        first, norm = slots["momentum"], slots["norm"]
        first.assign_add((gradient - first) * (1.0 - self.beta_1))
        norm.assign(tf.maximum(norm * self.beta_2, of_each(tf.abs, gradient)))
        scale = tf.constant(1.0 / _complement(self.beta_1, step, variable), dtype=variable.dtype)
        variable.assign_sub(first * (learning_rate * scale) / (norm + self.epsilon))


@configurable
class Nadam(Optimizer):
    """Adam with Nesterov's momentum."""

    _slots = ("momentum", "velocity")
    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-7

    def __post_init__(self) -> None:
        self._product: float = 1.0
        self._counted: int = -1

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        step = self._next_step()
        if self._counted != step:
            self._product *= self.beta_1 * (1.0 - 0.5 * 0.96**step)
            self._counted = step
        beta_1, decay = rounded(self.beta_1), rounded(0.96)
        now, after = (beta_1 * (1.0 - 0.5 * decay**t) for t in (step, step + 1))
        first, second = slots["momentum"], slots["velocity"]
        first.assign_add((gradient - first) * (1.0 - beta_1))
        second.assign_add((of_each(tf.square, gradient) - second) * (1.0 - rounded(self.beta_2)))
        mean = first * (after / (1.0 - self._product * after))
        mean = mean + tf.convert_to_tensor(gradient) * ((1.0 - now) / (1.0 - self._product))
        variance = second / _complement(self.beta_2, step, variable)
        variable.assign_sub(mean * learning_rate / (tf.sqrt(variance) + self.epsilon))


def _complement(beta: float, step: int, variable: Any) -> Any:
    """``1 - beta^step`` with the rounding of the variable's dtype, as TensorFlow has it."""
    number = variable.dtype.as_numpy_dtype
    return number(1.0) - number(rounded(beta)) ** number(step)
