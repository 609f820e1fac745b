"""Policies on dtypes, and the scaling of losses whose gradients would vanish."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras.objects import Configured
from gradwire.tf.keras.optimizers import Optimizer
from gradwire.tf.keras.settings import layer_dtype, set_layer_dtype


class Policy(Configured):
    """The dtypes that a layer computes in and keeps its weights in."""

    _class_name = "DTypePolicy"

    def __init__(self, name: str) -> None:
        mixed = name.startswith("mixed_")
        self.name: str = name
        self.compute_dtype: str = name.removeprefix("mixed_")
        self.variable_dtype: str = "float32" if mixed else name


def global_policy() -> Policy:
    """The policy of layers that are given none."""
    return Policy(layer_dtype())


dtype_policy = global_policy


def set_global_policy(policy: Any) -> None:
    """Say what layers compute in that are given no dtype.

    Raises:
        ValueError: for mixed policies; layers compute in the dtype of their weights.
    """
    chosen = policy if isinstance(policy, Policy) else Policy(str(policy))
    if chosen.compute_dtype != chosen.variable_dtype:
        raise ValueError(f"layers compute in the dtype of their weights: {chosen.name}")
    set_layer_dtype(chosen.name)


set_dtype_policy = set_global_policy


class LossScaleOptimizer:
    """An optimizer of gradients of a loss that was scaled; steps with infinite ones are left out.

    The scale is halved after such a step, and doubled after ``dynamic_growth_steps`` without one.
    """

    def __init__(
        self,
        inner_optimizer: Optimizer,
        initial_scale: float = 2.0**15,
        dynamic_growth_steps: int = 2000,
        name: str | None = None,
    ) -> None:
        self.name: str = name or "loss_scale_optimizer"
        self.inner_optimizer: Optimizer = inner_optimizer
        self.dynamic_scale: Any = tf.Variable(initial_scale, trainable=False, name="dynamic_scale")
        self.step_counter: Any = tf.Variable(0, trainable=False, name="step_counter")
        self.dynamic_growth_steps: int = dynamic_growth_steps

    @property
    def learning_rate(self) -> Any:
        """The optimizer's own."""
        return self.inner_optimizer.learning_rate

    def scale_loss(self, loss: Any) -> Any:
        """The loss times the scale."""
        return loss * tf.cast(self.dynamic_scale, loss.dtype)

    def apply_gradients(self, grads_and_vars: Any) -> None:
        """A step by the gradients divided by the scale."""
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars]
        scale = self.dynamic_scale.read_value()
        if not all(bool(tf.reduce_all(tf.math.is_finite(gradient))) for gradient, _ in pairs):
            self.dynamic_scale.assign(scale / 2.0)
            self.step_counter.assign(0)
            return
        self.inner_optimizer.apply_gradients(
            [(gradient / tf.cast(scale, gradient.dtype), variable) for gradient, variable in pairs]
        )
        self.step_counter.assign_add(1)
        if int(self.step_counter) >= self.dynamic_growth_steps:
            self.dynamic_scale.assign(scale * 2.0)
            self.step_counter.assign(0)
