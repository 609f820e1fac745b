"""Optimizers that step along the gradient, or by its sign: SGD and Lion."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Unpack

import gradwire.tf as tf
from gradwire.tf.keras.optimizers.base import Optimizer, Options, rounded


class SGD(Optimizer):
    """``v = momentum v - rate g``, ``w = w + v``; with Nesterov's, ``w + momentum v - rate g``."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.momentum: float = momentum
        self.nesterov: bool = nesterov
        if momentum:
            self._slots = {"momentum": 0.0}

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        if not self.momentum:
            return weight - rate * gradient, {}
        momentum = rounded(self.momentum)
        velocity = slots["momentum"] * momentum - rate * gradient
        change = velocity * momentum - rate * gradient if self.nesterov else velocity
        return weight + change, {"momentum": velocity}


class Lion(Optimizer):
    """Steps of one size, by the sign of a mean of the gradients."""

    _slots: Mapping[str, float] = MappingProxyType({"momentum": 0.0})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1: float = beta_1
        self.beta_2: float = beta_2

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        mean, beta_1, beta_2 = slots["momentum"], rounded(self.beta_1), rounded(self.beta_2)
        gradient = tf.convert_to_tensor(gradient)
        direction = tf.sign(mean * beta_1 + gradient * (1.0 - beta_1))
        return weight - rate * direction, {"momentum": mean * beta_2 + gradient * (1.0 - beta_2)}
