"""Optimizers with a rate for each element, by its earlier gradients."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import Optimizer, of_each

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

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        velocity = slots["velocity"]
        velocity.assign(velocity * self.rho + of_each(tf.square, gradient) * (1.0 - self.rho))
        divisor = velocity + self.epsilon
        if self.centered:
            average = slots["average_gradient"]
            gradient = tf.convert_to_tensor(gradient)
            average.assign(average * self.rho + gradient * (1.0 - self.rho))
            divisor = velocity - tf.square(average) + self.epsilon
        change = learning_rate * gradient / tf.sqrt(divisor)
        if self.momentum:
            slots["momentum"].assign(slots["momentum"] * self.momentum + change)
            change = slots["momentum"]
        variable.assign_sub(change)


@configurable
class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    _slots = ("accumulator",)
    learning_rate: Any = 0.001
    initial_accumulator_value: float = 0.1
    epsilon: float = 1e-7

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        slots["accumulator"].assign_add(of_each(tf.square, gradient))
        root = tf.sqrt(slots["accumulator"] + self.epsilon)
        variable.assign_sub(learning_rate * gradient / root)


@configurable
class Adadelta(Optimizer):
    """Steps in the units of the steps before."""

    _slots = ("accumulated_grad", "accumulated_delta_var")
    learning_rate: Any = 0.001
    rho: float = 0.95
    epsilon: float = 1e-7

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        squares, steps = slots["accumulated_grad"], slots["accumulated_delta_var"]
        squares.assign(squares * self.rho + of_each(tf.square, gradient) * (1.0 - self.rho))
        ratio = tf.sqrt(steps + self.epsilon) / tf.sqrt(squares + self.epsilon)
        changes = of_each(tf.square, gradient) * tf.square(ratio)
        steps.assign(steps * self.rho + changes * (1.0 - self.rho))
        variable.assign_sub(learning_rate * (gradient * ratio))


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

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        slots = self._slots_of(variable)
        accumulator, linear = slots["accumulator"], slots["linear"]
        l2 = learning_rate * (2.0 * self.l2_regularization_strength) + self.beta
        shrunk = gradient + variable * (2.0 * self.l2_shrinkage_regularization_strength)
        new = accumulator + of_each(tf.square, gradient)
        after, before = new**-self.learning_rate_power, accumulator**-self.learning_rate_power
        linear.assign_add(shrunk - (after - before) / learning_rate * variable)
        quadratic = after / learning_rate + l2 / learning_rate
        clipped = tf.clip_by_value(
            linear, -self.l1_regularization_strength, self.l1_regularization_strength
        )
        variable.assign((clipped - linear) / quadratic)
        accumulator.assign(new)
