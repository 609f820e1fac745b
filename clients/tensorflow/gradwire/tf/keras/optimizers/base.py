"""The base of optimizers: clipped gradients, decay of weights, a step, moving averages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

import gradwire.tf as tf
from gradwire.tf import IndexedSlices as Slices
from gradwire.tf.calls import number
from gradwire.tf.keras.configurable import configurable, option, parameters
from gradwire.tf.keras.names import snake_case, unique_name
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object
from gradwire.tf.keras.optimizers.averages import Averages
from gradwire.tf.keras.optimizers.tracking import Tracking
from gradwire.tf.program_functions import ProgramFunction
from gradwire.tf.steps import again
from gradwire.tf.variables import replace

__all__ = ["Optimizer"]

#: The state that an optimizer keeps for a variable, by name.
Slots: TypeAlias = Mapping[str, Any]
#: A weight after a step, and its slots.
After: TypeAlias = "tuple[Any, Slots]"


@configurable
class Optimizer(Tracking):
    """Changes variables by their gradients: ``apply_gradients(zip(gradients, variables))``.

    ``weight_decay`` d: ``w = w - rate d w`` before a step. ``clipnorm``, ``global_clipnorm`` and
    ``clipvalue`` limit the norm of each gradient, of all, or each element; the first that is given
    counts. ``use_ema``: a moving average of the weights, ``a = m a + (1 - m) w``, takes their
    place after ``fit`` or each ``ema_overwrite_frequency`` steps. ``loss_scale_factor`` divides
    gradients of a loss from ``scale_loss``. ``gradient_accumulation_steps`` n: each n-th call
    steps by the mean of n gradients.
    """

    learning_rate: Any = 0.001
    weight_decay: float | None = option(default=None, kw_only=True)
    clipnorm: float | None = option(default=None, kw_only=True)
    clipvalue: float | None = option(default=None, kw_only=True)
    global_clipnorm: float | None = option(default=None, kw_only=True)
    use_ema: bool = option(default=False, kw_only=True)
    ema_momentum: float = option(default=0.99, kw_only=True)
    ema_overwrite_frequency: int | None = option(default=None, kw_only=True)
    loss_scale_factor: float | None = option(default=None, kw_only=True)
    gradient_accumulation_steps: int | None = option(default=None, kw_only=True)
    name: Any = option(default=None, kw_only=True)

    def __post_init__(self) -> None:
        limits = {
            name: getattr(self, name) for name in ("clipnorm", "clipvalue", "global_clipnorm")
        }
        if sum(limit is not None for limit in limits.values()) > 1:
            raise ValueError(
                "gradients are clipped in one way at most; got "
                + ", ".join(f"{name}={limit}" for name, limit in limits.items())
            )
        steps = self.gradient_accumulation_steps
        if steps is not None and steps < 2:
            raise ValueError(
                f"`gradient_accumulation_steps` must be at least 2, or None; got {steps}"
            )
        if self.name is None:
            self.name = unique_name(snake_case(type(self).__name__))
        self._averages = (
            Averages(self.ema_momentum, self.ema_overwrite_frequency) if self.use_ema else None
        )
        self._kept: dict[int, dict[str, Any]] = {}
        self._sums: dict[int, Any] = {}
        #: The step as a function of the program, by dtype and settings.
        self._recorded: dict[tuple[Any, ...], ProgramFunction] = {}
        #: The last step with such a key, and its numbers, which many variables have in common.
        self._last: tuple[Any, list[Any]] = (None, [])
        self._undecayed: Callable[[Any], bool] = lambda variable: False

    @property
    def iterations(self) -> Any:
        """The number of steps so far."""
        if self.gradient_accumulation_steps:
            return self._calls // self.gradient_accumulation_steps
        return self._calls

    @property
    def variables(self) -> list[Any]:
        """The step, the learning rate, the slots of each variable and its averages."""
        kept = [value for slots in self._kept.values() for value in slots.values()]
        averages = [] if self._averages is None else self._averages.variables
        return [self._calls, self._rate, *self._added, *kept, *averages, *self._sums.values()]

    @property
    def built(self) -> bool:
        """True if ``build`` was called."""
        return bool(self._variables)

    def build(self, variables: Sequence[Any]) -> None:
        """Create the slots of each variable."""
        self._variables = list(variables)
        for variable in variables:
            self._slots_of(variable)
        if self._averages is not None:
            self._averages.add(variables)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]]) -> Any:
        """Change each variable by its gradient; those without one stay as they are."""
        pairs = list(grads_and_vars)
        self.apply([gradient for gradient, _ in pairs], [variable for _, variable in pairs])
        return self._calls

    @again()
    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """The same for two lists; without variables, for those it was built with."""
        variables = self._variables if trainable_variables is None else list(trainable_variables)
        if not self._variables:
            self.build(variables)
        if self._averages is not None:
            self._averages.add(variables)
        pairs = [
            (gradient if isinstance(gradient, Slices) else tf.convert_to_tensor(gradient), variable)
            for gradient, variable in zip(grads, variables, strict=True)
            if gradient is not None
        ]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        if self.loss_scale_factor is not None:
            scale = self.loss_scale_factor
            pairs = [(tf.convert_to_tensor(each) / scale, variable) for each, variable in pairs]
        calls = int(self._calls.numpy()) + 1
        accumulated = self.gradient_accumulation_steps or 1
        if accumulated > 1:
            pairs = self._summed(pairs, mean_of=accumulated if calls % accumulated == 0 else None)
        if calls % accumulated == 0:
            self._step(pairs)
        if self._averages is not None:
            self._averages.update((calls - 1) // accumulated + 1)
        for _, variable in pairs:
            constraint = getattr(variable, "constraint", None)
            if constraint is not None:
                variable.assign(constraint(variable))
        # A number that is known here: adding to it would be asked of the service.
        self._calls.assign(calls)

    def _step(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        rate = self.learning_rate
        gradients = self._clipped([gradient for gradient, _ in pairs])
        for gradient, (_, variable) in zip(gradients, pairs, strict=True):
            step = tf.cast(rate, variable.dtype)
            if self.weight_decay and not self._undecayed(variable):
                variable.assign_sub(variable * rounded(self.weight_decay) * step)
            self.update_step(gradient, variable, step)

    def _summed(
        self, pairs: Sequence[tuple[Any, Any]], mean_of: int | None
    ) -> list[tuple[Any, Any]]:
        """Add gradients to those of earlier calls; their mean, after the last of them."""
        found = []
        for gradient, variable in pairs:
            if id(variable) not in self._sums:
                zeros = tf.zeros_like(variable)
                self._sums[id(variable)] = tf.Variable(zeros, trainable=False, name="accumulator")
            total = gradient + self._sums[id(variable)]
            self._sums[id(variable)].assign(tf.zeros_like(total) if mean_of else total)
            found.append((total / float(mean_of or 1), variable))
        return found

    def minimize(self, loss: Any, var_list: Sequence[Any], tape: Any = None) -> Any:
        """One step on a loss: a function without arguments, or a value with its tape."""
        if tape is None:
            with tf.GradientTape() as tape:
                loss = loss()
        gradients = tape.gradient(loss, list(var_list))
        return self.apply_gradients(zip(gradients, var_list, strict=True))

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Change one variable, by a tensor or by slices that may repeat rows: see ``of_each``.

        An optimizer of one's own has this method, or ``_updated``.
        """
        slots = self._slots_of(variable)
        held, names, dtype = [variable, *slots.values()], list(slots), variable.dtype
        key = dtype, *names, *[value for name, value in vars(self).items() if name[0] != "_"]

        def updated(gradient: Any, rate: Any, weight: Any, *rest: Any) -> list[Any]:
            now = dict(zip(names, rest, strict=False))
            weight, after = self._updated(gradient, weight, rate, now, *rest[len(names) :])
            return [weight, *[after[name] for name in names]]

        values = [each._to_tensor() for each in held]
        operands = [gradient, learning_rate, *values, *self._operands(self._next_step(), key)]
        if isinstance(gradient, Slices):
            for each, value in zip(held, updated(*operands), strict=True):
                each.assign(value)
            return
        if key not in self._recorded:
            self._recorded[key] = ProgramFunction(updated, operands)
        specs = [each._node.spec for each in values]
        replace(held, self._recorded[key](operands, specs))

    def _operands(self, step: int, key: tuple[Any, ...]) -> list[Any]:
        """The numbers of a step as tensors."""
        if self._last[0] != (step, key):
            dtype = key[0]
            numbers = [number(each, dtype) for each in self._numbers(step, dtype)]
            self._last = (step, key), numbers
        return self._last[1]

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        """The weight and the slots after a step."""
        raise NotImplementedError(f"{type(self).__name__} must have a method update_step")

    def _numbers(self, step: int, dtype: Any) -> Sequence[float]:
        """The numbers in a step's formula that change from step to step, the first being 1."""
        return ()

    def scale_loss(self, loss: Any) -> Any:
        """The loss times ``loss_scale_factor``, by which the gradients are divided again."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def exclude_from_weight_decay(
        self, var_list: Iterable[Any] | None = None, var_names: Iterable[str] | None = None
    ) -> None:
        """Let weights be without decay: these, and those in whose names one of the words is."""
        if self._kept:
            raise ValueError(
                "the optimizer is built already; call `exclude_from_weight_decay()` before its "
                "first step"
            )
        excluded = {id(variable) for variable in var_list or ()}
        words = list(var_names or ())
        self._undecayed = lambda variable: (
            id(variable) in excluded or any(re.search(word, variable.name) for word in words)
        )

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """Give variables their moving averages, if ``use_ema`` keeps them."""
        if self._averages is not None:
            self._averages.overwrite(var_list)

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        rate = float(self._rate.numpy()) if self._schedule is None else self._schedule
        own = {name: getattr(self, name) for name in parameters(type(self))}
        config: dict[str, Any] = serialize_keras_object(own | {"learning_rate": rate})
        return config

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """An optimizer by such arguments."""
        return cls(**deserialize_keras_object(dict(config), custom_objects))

    def _next_step(self) -> int:
        """The number of the step that is being made, from 1 on."""
        return int(self.iterations.numpy()) + 1

    def _slots_of(self, variable: Any) -> dict[str, Any]:
        if id(variable) not in self._kept:
            shape, kind = tuple(variable.shape), variable.dtype.as_numpy_dtype
            self._kept[id(variable)] = {
                name: tf.Variable(
                    np.full(shape, rounded(getattr(self, f"initial_{name}_value", 0.0)), kind),
                    trainable=False,
                    name=f"{variable.name.removesuffix(':0')}_{name}",
                )
                for name in self._slots
            }
        return self._kept[id(variable)]

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if self.clipnorm:
            return [tf.clip_by_norm(gradient, self.clipnorm) for gradient in gradients]
        if self.global_clipnorm:  # Keras adds slices that repeat a row here, and only here
            clipped, _ = tf.clip_by_global_norm(gradients, self.global_clipnorm)
            return [tf.convert_to_tensor(gradient) for gradient in clipped]
        if self.clipvalue:
            limit = self.clipvalue
            return [tf.clip_by_value(gradient, -limit, limit) for gradient in gradients]
        return gradients


def of_each(function: Callable[[Any], Any], gradient: Any) -> Any:
    """A function of a gradient's elements, as a tensor.

    Where slices repeat a row it is a function of each of these before they are added, as in Keras.
    """
    if not isinstance(gradient, Slices):
        return function(gradient)
    values = function(gradient.values)
    return tf.convert_to_tensor(Slices(values, gradient.indices, gradient.dense_shape))


def rounded(number: float) -> float:
    """A number with the rounding of float32, by way of which Keras casts it, to float64 too."""
    return float(np.float32(number))
