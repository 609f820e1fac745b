"""Optimizers that step along the gradient, or by its sign: SGD and Lion."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import After, Optimizer, Slots, rounded

__all__ = ["SGD", "Lion"]


@configurable
class SGD(Optimizer):
    """``v = momentum v - rate g``, ``w = w + v``; with Nesterov's, ``w + momentum v - rate g``."""

    learning_rate: Any = 0.01
    momentum: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        if self.momentum:
            self._slots = ("momentum",)

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        if not self.momentum:
            return weight - rate * gradient, {}
        momentum = rounded(self.momentum)
        velocity = slots["momentum"] * momentum - rate * gradient
        change = velocity * momentum - rate * gradient if self.nesterov else velocity
        return weight + change, {"momentum": velocity}


@configurable
class Lion(Optimizer):
    """Steps of one size, by the sign of a mean of the gradients."""

    _slots = ("momentum",)
    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.99

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        mean, beta_1, beta_2 = slots["momentum"], rounded(self.beta_1), rounded(self.beta_2)
        gradient = tf.convert_to_tensor(gradient)
        direction = tf.sign(mean * beta_1 + gradient * (1.0 - beta_1))
        return weight - rate * direction, {"momentum": mean * beta_2 + gradient * (1.0 - beta_2)}
