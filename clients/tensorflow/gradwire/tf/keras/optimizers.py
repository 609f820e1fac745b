"""Optimizers: their steps are ordinary operations on the variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import schedules
from gradwire.tf.keras.names import snake_case, unique_name


class Optimizer:
    """Changes variables by their gradients: ``apply_gradients(zip(gradients, variables))``."""

    #: What is kept for each variable, by name, with its first value.
    _slots: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
        **_: Any,
    ) -> None:
        self.name: str = unique_name(snake_case(type(self).__name__)) if name is None else name
        self.iterations: Any = tf.Variable(0, dtype=tf.int64, trainable=False, name="iteration")
        self._schedule = (
            learning_rate if isinstance(learning_rate, schedules.LearningRateSchedule) else None
        )
        first = 0.0 if self._schedule is not None else learning_rate
        self._rate: Any = tf.Variable(
            first, dtype=tf.float32, trainable=False, name="learning_rate"
        )
        self.weight_decay: float | None = weight_decay
        self.clipnorm: float | None = clipnorm
        self.clipvalue: float | None = clipvalue
        self.global_clipnorm: float | None = global_clipnorm
        self._kept: dict[int, dict[str, Any]] = {}
        self._variables: list[Any] = []

    @property
    def learning_rate(self) -> Any:
        """How far to go; also where a schedule says so."""
        return self._rate if self._schedule is None else self._schedule(self.iterations)

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._rate.assign(tf.cast(value, tf.float32))

    lr = learning_rate

    @property
    def variables(self) -> list[Any]:
        """The step, the rate, and what is kept for each variable."""
        kept = [value for slots in self._kept.values() for value in slots.values()]
        return [self.iterations, self._rate, *kept]

    def build(self, variables: Sequence[Any]) -> None:
        """Make what is kept for each variable."""
        for variable in variables:
            self._slots_of(variable)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], **_: Any) -> Any:
        """Change each variable by its gradient; those without one stay as they are."""
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        return self.iterations

    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """The same for two lists; without variables, for those it was built with."""
        variables = self._variables if trainable_variables is None else list(trainable_variables)
        self._variables = list(variables)
        pairs = [
            (tf.convert_to_tensor(gradient), variable)
            for gradient, variable in zip(grads, variables, strict=True)
            if gradient is not None
        ]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        rate = self.learning_rate
        gradients = self._clipped([gradient for gradient, _ in pairs])
        for gradient, (_, variable) in zip(gradients, pairs, strict=True):
            slots = self._slots_of(variable)
            step = tf.cast(rate, variable.dtype)
            if self.weight_decay:
                variable.assign_sub(variable * self.weight_decay * step)
            self.update_step(gradient, variable, step, slots)
            constraint = getattr(variable, "constraint", None)
            if constraint is not None:
                variable.assign(constraint(variable))
        # A number that is known here: adding to it would be asked of the service.
        self.iterations.assign(int(self.iterations.numpy()) + 1)

    def minimize(self, loss: Any, var_list: Sequence[Any], tape: Any = None) -> Any:
        """One step on a loss: a function without arguments, or a value with its tape."""
        if tape is None:
            with tf.GradientTape() as tape:
                loss = loss()
        gradients = tape.gradient(loss, list(var_list))
        return self.apply_gradients(zip(gradients, var_list, strict=True))

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        """Change one variable."""
        raise NotImplementedError(f"{type(self).__name__} must have a method update_step")

    def get_config(self) -> dict[str, Any]:
        """Its name and its rate."""
        return {"name": self.name, "learning_rate": float(self._rate.numpy())}

    def _slots_of(self, variable: Any) -> dict[str, Any]:
        if id(variable) not in self._kept:
            self._kept[id(variable)] = {
                name: tf.Variable(
                    np.full(tuple(variable.shape), first, variable.dtype.as_numpy_dtype),
                    trainable=False,
                    name=f"{variable.name.removesuffix(':0')}_{name}",
                )
                for name, first in self._slots.items()
            }
        return self._kept[id(variable)]

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if self.clipnorm:
            return [tf.clip_by_norm(gradient, self.clipnorm) for gradient in gradients]
        if self.global_clipnorm:
            return list(tf.clip_by_global_norm(gradients, self.global_clipnorm)[0])
        if self.clipvalue:
            limit = self.clipvalue
            return [tf.clip_by_value(gradient, -limit, limit) for gradient in gradients]
        return gradients


class SGD(Optimizer):
    """``v = momentum v - rate g``, ``w = w + v``; with Nesterov's, ``w + momentum v - rate g``."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.momentum: float = momentum
        self.nesterov: bool = nesterov
        if momentum:
            self._slots = {"momentum": 0.0}

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        if not self.momentum:
            variable.assign_sub(rate * gradient)
            return
        velocity = slots["momentum"]
        velocity.assign(velocity * self.momentum - rate * gradient)
        if self.nesterov:
            variable.assign_add(velocity * self.momentum - rate * gradient)
        else:
            variable.assign_add(velocity)


class Adam(Optimizer):
    """Kingma and Ba's: first and second moments, corrected for their first values."""

    _slots: Mapping[str, float] = MappingProxyType({"momentum": 0.0, "velocity": 0.0})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1: float = beta_1
        self.beta_2: float = beta_2
        self.epsilon: float = epsilon
        self.amsgrad: bool = amsgrad
        if amsgrad:
            self._slots = {**self._slots, "velocity_hat": 0.0}

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        step = float(self.iterations.numpy()) + 1.0
        first, second = slots["momentum"], slots["velocity"]
        first.assign_add((gradient - first) * (1.0 - self.beta_1))
        second.assign_add((tf.square(gradient) - second) * (1.0 - self.beta_2))
        correction = np.sqrt(1.0 - self.beta_2**step) / (1.0 - self.beta_1**step)
        if self.amsgrad:
            slots["velocity_hat"].assign(tf.maximum(slots["velocity_hat"], second))
            second = slots["velocity_hat"]
        scale = tf.constant(correction, dtype=variable.dtype)
        variable.assign_sub(first * (rate * scale) / (tf.sqrt(second) + self.epsilon))


class AdamW(Adam):
    """Adam with decay of the weights."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: float = 0.004, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, weight_decay=weight_decay, **kwargs)


class Adamax(Optimizer):
    """Adam by the greatest gradients."""

    _slots: Mapping[str, float] = MappingProxyType({"momentum": 0.0, "norm": 0.0})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1: float = beta_1
        self.beta_2: float = beta_2
        self.epsilon: float = epsilon

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        step = float(self.iterations.numpy()) + 1.0
        first, norm = slots["momentum"], slots["norm"]
        first.assign_add((gradient - first) * (1.0 - self.beta_1))
        norm.assign(tf.maximum(norm * self.beta_2, tf.abs(gradient)))
        scale = tf.constant(1.0 / (1.0 - self.beta_1**step), dtype=variable.dtype)
        variable.assign_sub(first * (rate * scale) / (norm + self.epsilon))


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
        **kwargs: Any,
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

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        velocity = slots["velocity"]
        velocity.assign(velocity * self.rho + tf.square(gradient) * (1.0 - self.rho))
        divisor = velocity + self.epsilon
        if self.centered:
            average = slots["average_gradient"]
            average.assign(average * self.rho + gradient * (1.0 - self.rho))
            divisor = velocity - tf.square(average) + self.epsilon
        change = rate * gradient / tf.sqrt(divisor)
        if self.momentum:
            slots["momentum"].assign(slots["momentum"] * self.momentum + change)
            change = slots["momentum"]
        variable.assign_sub(change)


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.epsilon: float = epsilon
        self._slots = {"accumulator": initial_accumulator_value}

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        slots["accumulator"].assign_add(tf.square(gradient))
        root = tf.sqrt(slots["accumulator"] + self.epsilon)
        variable.assign_sub(rate * gradient / root)


class Adadelta(Optimizer):
    """Steps in the units of the steps before."""

    _slots: Mapping[str, float] = MappingProxyType(
        {"accumulated_grad": 0.0, "accumulated_delta_var": 0.0}
    )

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-7, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.rho: float = rho
        self.epsilon: float = epsilon

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        squares, steps = slots["accumulated_grad"], slots["accumulated_delta_var"]
        squares.assign(squares * self.rho + tf.square(gradient) * (1.0 - self.rho))
        change = gradient * tf.sqrt(steps + self.epsilon) / tf.sqrt(squares + self.epsilon)
        steps.assign(steps * self.rho + tf.square(change) * (1.0 - self.rho))
        variable.assign_sub(rate * change)


class Nadam(Adam):
    """Adam with Nesterov's momentum."""

    _slots: Mapping[str, float] = MappingProxyType({"momentum": 0.0, "velocity": 0.0})

    def __init__(self, learning_rate: Any = 0.001, **kwargs: Any) -> None:
        super().__init__(learning_rate, **kwargs)
        self._product: float = 1.0
        self._counted: int = -1

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        step = int(self.iterations.numpy()) + 1
        now, after = (self.beta_1 * (1.0 - 0.5 * 0.96**t) for t in (step, step + 1))
        if self._counted != step:
            self._counted, self._product = step, self._product * now
        first, second = slots["momentum"], slots["velocity"]
        first.assign_add((gradient - first) * (1.0 - self.beta_1))
        second.assign_add((tf.square(gradient) - second) * (1.0 - self.beta_2))
        mean = first * (after / (1.0 - self._product * after))
        mean = mean + gradient * ((1.0 - now) / (1.0 - self._product))
        variance = second * (1.0 / (1.0 - self.beta_2**step))
        variable.assign_sub(mean * rate / (tf.sqrt(variance) + self.epsilon))


class Lion(Optimizer):
    """Steps of one size, by the sign of a mean of the gradients."""

    _slots: Mapping[str, float] = MappingProxyType({"momentum": 0.0})

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.99, **kwargs: Any
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self.beta_1: float = beta_1
        self.beta_2: float = beta_2

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        mean = slots["momentum"]
        direction = tf.sign(mean * self.beta_1 + gradient * (1.0 - self.beta_1))
        variable.assign_sub(rate * direction)
        mean.assign(mean * self.beta_2 + gradient * (1.0 - self.beta_2))


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
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, **kwargs)
        self._power: float = learning_rate_power
        self._l1: float = l1_regularization_strength
        self._l2: float = l2_regularization_strength
        self._shrinkage: float = l2_shrinkage_regularization_strength
        self._beta: float = beta
        self._slots = {"accumulator": initial_accumulator_value, "linear": 0.0}

    def update_step(self, gradient: Any, variable: Any, rate: Any, slots: dict[str, Any]) -> None:
        accumulator, linear = slots["accumulator"], slots["linear"]
        l2 = rate * (2.0 * self._l2) + self._beta
        shrunk = gradient + variable * (2.0 * self._shrinkage)
        new = accumulator + tf.square(gradient)
        after, before = new**-self._power, accumulator**-self._power
        linear.assign_add(shrunk - (after - before) / rate * variable)
        quadratic = after / rate + l2 / rate
        clipped = tf.clip_by_value(linear, -self._l1, self._l1)
        variable.assign((clipped - linear) / quadratic)
        accumulator.assign(new)


_BY_NAME: dict[str, type[Optimizer]] = {
    kind.__name__.lower(): kind
    for kind in (SGD, Adam, AdamW, Adamax, RMSprop, Adagrad, Adadelta, Nadam, Lion, Ftrl)
}


def get(identifier: Any) -> Any:
    """An optimizer by its name, or as it is."""
    if isinstance(identifier, Optimizer):
        return identifier
    if str(identifier).lower() not in _BY_NAME:
        raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
    return _BY_NAME[str(identifier).lower()]()
