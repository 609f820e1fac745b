"""``tf.compat.v1.train``: the optimizers of TensorFlow 1, where they run eagerly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import optimizers, schedules
from gradwire.tf.keras.configurable import configurable
from gradwire.tf.keras.optimizers.base import After, Slots, of_each

_GLOBAL_STEPS: list[Any] = []


class Optimizer:
    """Changes variables by their gradients, as one of Keras's does."""

    def __init__(self, of: optimizers.Optimizer, name: str, use_locking: bool) -> None:
        del use_locking  # between threads, of which there is one
        self._of = of
        self._name = name

    def get_name(self) -> str:
        """The name that it was given."""
        return self._name

    def variables(self) -> list[Any]:
        """The variables that it keeps."""
        return self._of.variables

    def compute_gradients(
        self,
        loss: Callable[[], Any],
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """The gradient of a function's value in each variable, by default in all it reads."""
        del colocate_gradients_with_ops  # where on devices is computed
        if not callable(loss):
            raise RuntimeError(f"`loss` must be a function that computes the loss, got {loss!r}")
        with tf.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        variables = list(
            tape.watched_variables() if var_list is None else tf.nest.flatten(var_list)
        )
        gradients = tape.gradient(value, variables, output_gradients=grad_loss)
        return list(zip(gradients, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> None:
        """Change each variable by its gradient, and count the step."""
        self._of.apply_gradients(list(grads_and_vars))
        if global_step is not None:
            global_step.assign_add(1)

    def minimize(
        self,
        loss: Callable[[], Any],
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> None:
        """Both of these."""
        only("minimize", colocate_gradients_with_ops=(colocate_gradients_with_ops, False))
        self.apply_gradients(
            self.compute_gradients(loss, var_list, grad_loss=grad_loss), global_step
        )


class GradientDescentOptimizer(Optimizer):
    """``w = w - rate g``."""

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(optimizers.SGD(learning_rate), name, use_locking)


class AdamOptimizer(Optimizer):
    """Kingma and Ba's."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(optimizers.Adam(learning_rate, beta1, beta2, epsilon), name, use_locking)


class AdagradOptimizer(Optimizer):
    """Gradients divided by the root of the sum of their squares."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        of = optimizers.Adagrad(learning_rate, initial_accumulator_value, 0.0)
        super().__init__(of, name, use_locking)


class AdadeltaOptimizer(Optimizer):
    """Steps in the units of the steps before."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(optimizers.Adadelta(learning_rate, rho, epsilon), name, use_locking)


class MomentumOptimizer(Optimizer):
    """``a = momentum a + g``, ``w = w - rate a``; with Nesterov's, ``rate (g + momentum a)``."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(_Momentum(learning_rate, momentum, use_nesterov), name, use_locking)


class RMSPropOptimizer(Optimizer):
    """Gradients divided by the root of a moving mean of their squares, which begins with 1."""

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        of = _RMSProp(learning_rate, decay, momentum, epsilon, centered)
        super().__init__(of, name, use_locking)


@configurable
class _Momentum(optimizers.Optimizer):
    _slots = ("accumulator",)
    learning_rate: Any
    momentum: float
    nesterov: bool

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        total = slots["accumulator"] * self.momentum + gradient
        change = gradient + total * self.momentum if self.nesterov else total
        return weight - rate * change, {"accumulator": total}


@configurable
class _RMSProp(optimizers.Optimizer):
    learning_rate: Any
    decay: float
    momentum: float
    epsilon: float
    centered: bool

    initial_squares_value = 1.0

    def __post_init__(self) -> None:
        self._slots = ("squares", "momentum", *(["mean"] if self.centered else []))

    def _updated(self, gradient: Any, weight: Any, rate: Any, slots: Slots, *numbers: Any) -> After:
        before, share = slots["squares"], 1.0 - self.decay
        squares = before + (of_each(tf.square, gradient) - before) * share
        after, spread = {"squares": squares}, squares
        if self.centered:
            after["mean"] = slots["mean"] + (gradient - slots["mean"]) * share
            spread = squares - tf.square(after["mean"])
        step = rate * gradient / tf.sqrt(spread + self.epsilon)
        after["momentum"] = slots["momentum"] * self.momentum + step
        return weight - after["momentum"], after


def get_or_create_global_step(graph: Any = None) -> Any:
    """The variable that counts steps."""
    only("get_or_create_global_step", graph=(graph, None))
    if not _GLOBAL_STEPS:
        _GLOBAL_STEPS.append(tf.Variable(0, dtype=tf.int64, trainable=False, name="global_step"))
    return _GLOBAL_STEPS[0]


def get_global_step(graph: Any = None) -> Any:
    """The variable that counts steps, if it was made."""
    only("get_global_step", graph=(graph, None))
    return _GLOBAL_STEPS[0] if _GLOBAL_STEPS else None


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: int,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> Callable[[], Any]:
    """``rate decay_rate^(step / decay_steps)``, as a function without arguments."""
    schedule = schedules.ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return lambda: schedule(global_step)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: int,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Callable[[], Any]:
    """A polynomial from one rate to another, as a function without arguments."""
    schedule = schedules.PolynomialDecay(
        learning_rate, decay_steps, end_learning_rate, power, cycle
    )
    return lambda: schedule(global_step)


def piecewise_constant(
    x: Any, boundaries: Sequence[float], values: Sequence[float], name: str | None = None
) -> Callable[[], Any]:
    """Rates that change beyond boundaries, as a function without arguments."""
    schedule = schedules.PiecewiseConstantDecay(list(boundaries), list(values))
    return lambda: schedule(x)


piecewise_constant_decay = piecewise_constant


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: int,
    alpha: float = 0.0,
    name: str | None = None,
) -> Callable[[], Any]:
    """A rate that falls as half a cosine, as a function without arguments."""
    schedule = schedules.CosineDecay(learning_rate, decay_steps, alpha)
    return lambda: schedule(global_step)
