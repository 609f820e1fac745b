"""Optimizers with a rate for each element, by its earlier gradients."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import After, Optimizer, Slots, of_each

__all__ = ["Adadelta", "Adagrad", "Ftrl", "RMSprop"]


@configurable
class RMSprop(Optimizer):
    """Gradients divided by the root of a moving mean of their squares."""

    learning_rate: Any = 0.001
    rho: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-7
    centered: bool = False

    def __post_init__(self) -> None:
        wanted = {"velocity": True, "momentum": self.momentum, "average_gradient": self.centered}
        self._slots = tuple(name for name, is_wanted in wanted.items() if is_wanted)

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
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


@configurable
class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    _slots = ("accumulator",)
    learning_rate: Any = 0.001
    initial_accumulator_value: float = 0.1
    epsilon: float = 1e-7

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        accumulator = slots["accumulator"] + of_each(tf.square, gradient)
        root = tf.sqrt(accumulator + self.epsilon)
        return weight - rate * gradient / root, {"accumulator": accumulator}


@configurable
class Adadelta(Optimizer):
    """Steps in the units of the steps before."""

    _slots = ("accumulated_grad", "accumulated_delta_var")
    learning_rate: Any = 0.001
    rho: float = 0.95
    epsilon: float = 1e-7

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        squares, steps = slots["accumulated_grad"], slots["accumulated_delta_var"]
        squares = squares * self.rho + of_each(tf.square, gradient) * (1.0 - self.rho)
        ratio = tf.sqrt(steps + self.epsilon) / tf.sqrt(squares + self.epsilon)
        changes = of_each(tf.square, gradient) * tf.square(ratio)
        steps = steps * self.rho + changes * (1.0 - self.rho)
        after = {"accumulated_grad": squares, "accumulated_delta_var": steps}
        return weight - rate * (gradient * ratio), after


@configurable
class Ftrl(Optimizer):
    """McMahan's: follow the regularised leader."""

    _slots = ("accumulator", "linear")
    learning_rate: Any = 0.001
    learning_rate_power: float = -0.5
    initial_accumulator_value: float = 0.1
    l1_regularization_strength: float = 0.0
    l2_regularization_strength: float = 0.0
    l2_shrinkage_regularization_strength: float = 0.0
    beta: float = 0.0

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        accumulator, linear = slots["accumulator"], slots["linear"]
        l2 = rate * (2.0 * self.l2_regularization_strength) + self.beta
        shrunk = gradient + weight * (2.0 * self.l2_shrinkage_regularization_strength)
        new = accumulator + of_each(tf.square, gradient)
        after, before = new**-self.learning_rate_power, accumulator**-self.learning_rate_power
        linear = linear + (shrunk - (after - before) / rate * weight)
        quadratic = after / rate + l2 / rate
        clipped = tf.clip_by_value(
            linear, -self.l1_regularization_strength, self.l1_regularization_strength
        )
        return (clipped - linear) / quadratic, {"accumulator": new, "linear": linear}
