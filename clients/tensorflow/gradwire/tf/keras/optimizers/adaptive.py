"""Optimizers with a rate for each element, by its earlier gradients."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Unpack

import gradwire.tf as tf
from gradwire.tf.keras.optimizers.base import Optimizer, Options, of_each


class RMSprop(Optimizer):
    """Gradients divided by the root of a moving mean of their squares."""

    _slots: Mapping[str, float] = MappingProxyType({"velocity": 0.0})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho: float = rho
        self.momentum: float = momentum
        self.epsilon: float = epsilon
        self.centered: bool = centered
        if momentum:
            self._slots = {**self._slots, "momentum": 0.0}
        if centered:
            self._slots = {**self._slots, "average_gradient": 0.0}

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        squares = of_each(tf.square, gradient) * (1.0 - self.rho)
        velocity = slots["velocity"] * self.rho + squares
        after, divisor = {"velocity": velocity}, velocity + self.epsilon
        if self.centered:
            gradient = tf.convert_to_tensor(gradient)
            average = slots["average_gradient"] * self.rho + gradient * (1.0 - self.rho)
            after["average_gradient"] = average
            divisor = velocity - tf.square(average) + self.epsilon
        change = rate * gradient / tf.sqrt(divisor)
        if self.momentum:
            change = after["momentum"] = slots["momentum"] * self.momentum + change
        return weight - change, after


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.epsilon: float = epsilon
        self._slots = {"accumulator": initial_accumulator_value}

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        accumulator = slots["accumulator"] + of_each(tf.square, gradient)
        root = tf.sqrt(accumulator + self.epsilon)
        return weight - rate * gradient / root, {"accumulator": accumulator}


class Adadelta(Optimizer):
    """Steps in the units of the steps before."""

    _slots: Mapping[str, float] = MappingProxyType(
        {"accumulated_grad": 0.0, "accumulated_delta_var": 0.0}
    )

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho: float = rho
        self.epsilon: float = epsilon

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        squares, steps = slots["accumulated_grad"], slots["accumulated_delta_var"]
        squares = squares * self.rho + of_each(tf.square, gradient) * (1.0 - self.rho)
        ratio = tf.sqrt(steps + self.epsilon) / tf.sqrt(squares + self.epsilon)
        changes = of_each(tf.square, gradient) * tf.square(ratio)
        steps = steps * self.rho + changes * (1.0 - self.rho)
        after = {"accumulated_grad": squares, "accumulated_delta_var": steps}
        return weight - rate * (gradient * ratio), after


class Ftrl(Optimizer):
    """McMahan's: follow the regularised leader."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Unpack[Options],
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self._power: float = learning_rate_power
        self._l1: float = l1_regularization_strength
        self._l2: float = l2_regularization_strength
        self._shrinkage: float = l2_shrinkage_regularization_strength
        self._beta: float = beta
        self._slots = {"accumulator": initial_accumulator_value, "linear": 0.0}

    def _updated(
        self, gradient: Any, weight: Any, rate: Any, slots: Mapping[str, Any], *numbers: Any
    ) -> tuple[Any, Mapping[str, Any]]:
        accumulator, linear = slots["accumulator"], slots["linear"]
        l2 = rate * (2.0 * self._l2) + self._beta
        shrunk = gradient + weight * (2.0 * self._shrinkage)
        new = accumulator + of_each(tf.square, gradient)
        after, before = new**-self._power, accumulator**-self._power
        linear = linear + (shrunk - (after - before) / rate * weight)
        quadratic = after / rate + l2 / rate
        clipped = tf.clip_by_value(linear, -self._l1, self._l1)
        return (clipped - linear) / quadratic, {"accumulator": new, "linear": linear}
