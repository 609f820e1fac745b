"""Optimizers that step along the gradient, or by its sign: SGD and Lion."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import Optimizer, rounded

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

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        if not self.momentum:
            variable.assign_sub(learning_rate * gradient)
            return
        slots = self._slots_of(variable)
        velocity, momentum = slots["momentum"], rounded(self.momentum)
        velocity.assign(velocity * momentum - learning_rate * gradient)
        if self.nesterov:
            variable.assign_add(velocity * momentum - learning_rate * gradient)
        else:
            variable.assign_add(velocity)


@configurable
class Lion(Optimizer):
    """Steps of one size, by the sign of a mean of the gradients."""

    _slots = ("momentum",)
    learning_rate: Any = 0.001
    beta_1: float = 0.9
    beta_2: float = 0.99

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        mean, beta_1, beta_2 = slots["momentum"], rounded(self.beta_1), rounded(self.beta_2)
        gradient = tf.convert_to_tensor(gradient)
        direction = tf.sign(mean * beta_1 + gradient * (1.0 - beta_1))
        variable.assign_sub(learning_rate * direction)
        mean.assign(mean * beta_2 + gradient * (1.0 - beta_2))
