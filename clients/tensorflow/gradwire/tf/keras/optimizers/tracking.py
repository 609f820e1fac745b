"""Variables of optimizers: the rate, the number of steps, and those beside a model's variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import schedules
from gradwire.tf.keras.settings import floatx
from gradwire.tf.keras.weights import state


class Tracking:
    """The rate, and what ``build`` and ``update_step`` of a subclass use."""

    name: str
    #: The slots of each variable; their values are ``initial_NAME_value`` at first, or 0.
    _slots: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._calls: Any = tf.Variable(0, dtype=tf.int64, trainable=False, name="iteration")
        self._schedule: Callable[..., Any] | None = None
        self._rate: Any = tf.Variable(0.0, dtype=floatx(), trainable=False, name="learning_rate")
        #: The variables that are trained, in the order in which ``build`` was given them.
        self._variables: list[Any] = []
        self._added: list[Any] = []

    @property
    def learning_rate(self) -> Any:
        """The learning rate, also where a schedule or a function gives it."""
        if self._schedule is None:
            return self._rate
        if isinstance(self._schedule, schedules.LearningRateSchedule):
            return self._schedule(self._calls)
        return tf.cast(self._schedule(), self._rate.dtype)

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if callable(value) and not isinstance(value, (tf.Tensor, tf.Variable)):
            self._schedule = value
        elif isinstance(self._schedule, schedules.LearningRateSchedule):
            raise TypeError(
                "the learning rate follows a schedule, so it cannot be set; for that, create the "
                "optimizer with a float"
            )
        else:
            self._schedule = None
            self._rate.assign(tf.cast(value, self._rate.dtype))

    lr = learning_rate

    def add_variable(
        self,
        shape: Sequence[int],
        initializer: Any = "zeros",
        dtype: Any = None,
        aggregation: str | None = "none",
        layout: Any = None,
        name: str | None = None,
    ) -> Any:
        """A new variable of this optimizer; ``aggregation`` is for devices, of which is one."""
        only("Optimizer.add_variable", layout=(layout, None))
        variable = state(self.name, shape, initializer, dtype, name)
        self._added.append(variable)
        return variable

    def add_variable_from_reference(
        self, reference_variable: Any, name: str | None = None, initializer: Any = "zeros"
    ) -> Any:
        """A new variable of the shape and dtype of another."""
        of = getattr(reference_variable, "path", None) or reference_variable.name
        stem = str(of).replace("/", "_").replace(":", "_")
        return self.add_variable(
            tuple(reference_variable.shape),
            initializer,
            reference_variable.dtype,
            name=f"{stem}_{name or 'var'}",
        )

    def add_optimizer_variables(
        self, trainable_variables: Sequence[Any], name: Any, initializer: Any = "zeros"
    ) -> Any:
        """Such a variable for each of a model's; of several names, a list for each."""
        names = [name] if isinstance(name, str) else list(name)
        given = initializer if isinstance(initializer, (list, tuple)) else [initializer]
        first = list(given) * len(names) if len(given) == 1 else list(given)
        if len(names) != len(first):
            raise ValueError(
                f"`name` and `initializer` need equal lengths; got {name!r} and {initializer!r}"
            )
        rows = [
            [
                self.add_variable_from_reference(variable, each, start)
                for each, start in zip(names, first, strict=True)
            ]
            for variable in trainable_variables
        ]
        columns = tuple([row[i] for row in rows] for i in range(len(names)))
        return columns[0] if isinstance(name, str) else columns

    def assign(self, variable: Any, value: Any) -> None:
        """Give a variable a value."""
        variable.assign(tf.cast(value, variable.dtype))

    def assign_add(self, variable: Any, value: Any) -> None:
        """Add to a variable."""
        variable.assign_add(tf.cast(value, variable.dtype))

    def assign_sub(self, variable: Any, value: Any) -> None:
        """Subtract from a variable."""
        variable.assign_sub(tf.cast(value, variable.dtype))

    def _get_variable_index(self, variable: Any) -> int:
        """The place of a variable among those that are trained."""
        return next(i for i, each in enumerate(self._variables) if each is variable)
