"""The scaling of losses whose gradients would vanish in half precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf import IndexedSlices as Slices
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object
from gradwire.tf.keras.optimizers.base import Optimizer
from gradwire.tf.steps import again

__all__ = ["LossScaleOptimizer"]

#: The arguments of optimizers that are for the one within.
_OF_INNER = {
    "weight_decay": None,
    "clipnorm": None,
    "global_clipnorm": None,
    "clipvalue": None,
    "use_ema": False,
    "ema_momentum": 0.99,
    "ema_overwrite_frequency": None,
    "loss_scale_factor": None,
    "gradient_accumulation_steps": None,
}


class LossScaleOptimizer(Optimizer):
    """An optimizer by the gradients of ``scale_loss(loss)``, which it divides by the scale.

    A step whose gradients are not finite is left out, and the scale halved. After
    ``dynamic_growth_steps`` steps in a row it is doubled.
    """

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float = 2.0**15,
        dynamic_growth_steps: int = 2000,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        if not kwargs.pop("dynamic", True):
            raise ValueError(
                "the scale is always dynamic; a fixed one is `loss_scale_factor` of the "
                "`inner_optimizer`"
            )
        for argument, value in kwargs.items():
            if argument not in _OF_INNER:
                raise TypeError(f"LossScaleOptimizer has no argument {argument!r}")
            if value != _OF_INNER[argument]:
                raise ValueError(f"set `{argument}` of the `inner_optimizer`; got {value!r} here")
        super().__init__(learning_rate=0.0, name=name)
        self.inner_optimizer: Optimizer = inner_optimizer
        self.initial_scale: float = initial_scale
        self.dynamic_growth_steps: int = dynamic_growth_steps
        inner_optimizer.loss_scale_factor = None  # else gradients would be divided twice

    def build(self, variables: Sequence[Any]) -> None:
        """Create the scale, the count of steps, and the slots of each variable."""
        self.step_counter: Any = self.add_variable((), "zeros", "int64", name="step_counter")
        self.dynamic_scale: Any = self.add_variable((), "zeros", name="dynamic_scale")
        self.dynamic_scale.assign(self.initial_scale)
        self.inner_optimizer.build(variables)
        self._variables = list(variables)

    @again()
    def apply(self, grads: Sequence[Any], trainable_variables: Sequence[Any] | None = None) -> None:
        """A step by gradients of the scaled loss, if all of them are finite."""
        if not self.built:
            self.build(trainable_variables or ())
        scale = self.dynamic_scale.read_value()
        if not _are_finite([each for each in grads if each is not None]):
            self.step_counter.assign(0)
            self.dynamic_scale.assign(scale * 0.5)
            return
        self.inner_optimizer.apply([_divided(each, scale) for each in grads], trainable_variables)
        if int(self.step_counter) == self.dynamic_growth_steps - 1:
            self.step_counter.assign(0)
            self.dynamic_scale.assign(scale * 2.0)
        else:
            self.step_counter.assign(int(self.step_counter) + 1)

    @property
    def variables(self) -> list[Any]:
        """Its own, then those of the optimizer within."""
        return [*super().variables, *self.inner_optimizer.variables]

    @property
    def learning_rate(self) -> Any:
        """That of the optimizer within."""
        return self.inner_optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        inner = vars(self).get("inner_optimizer")
        if inner is not None:  # else it is being made, and its own rate is for nothing
            inner.learning_rate = value

    @property
    def iterations(self) -> Any:
        """The number of steps of the optimizer within."""
        return self.inner_optimizer.iterations

    def scale_loss(self, loss: Any) -> Any:
        """The loss times the scale."""
        scale = self.dynamic_scale if self.built else self.initial_scale
        return loss * tf.cast(scale, loss.dtype)

    def finalize_variable_values(self, var_list: Any) -> None:
        """Give variables their moving averages, if the optimizer within keeps them."""
        self.inner_optimizer.finalize_variable_values(var_list)

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another."""
        return {
            "name": self.name,
            "inner_optimizer": serialize_keras_object(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Any:
        """An optimizer by such arguments."""
        return cls(**deserialize_keras_object(dict(config), custom_objects))


def _divided(gradient: Any, scale: Any) -> Any:
    if gradient is None:
        return None
    if isinstance(gradient, Slices):
        values = gradient.values / tf.cast(scale, gradient.values.dtype)
        return Slices(values, gradient.indices, gradient.dense_shape)
    gradient = tf.convert_to_tensor(gradient)
    return gradient / tf.cast(scale, gradient.dtype)


def _are_finite(gradients: Sequence[Any]) -> bool:
    """True if all gradients are finite, by one request."""
    parts = [each.values if isinstance(each, Slices) else each for each in gradients]
    finite = [tf.reduce_all(tf.math.is_finite(each)) for each in parts]
    return bool(tf.reduce_all(tf.stack(finite))) if finite else True
