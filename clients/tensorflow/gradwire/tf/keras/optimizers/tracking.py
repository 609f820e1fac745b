"""Variables that optimizers of one's own keep: moments and the like, beside those of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.weights import state


class Tracking:
    """What ``build`` and ``update_step`` of a subclass use."""

    name: str

    def __init__(self) -> None:
        #: The variables that are trained, in the order in which ``build`` was given them.
        self._variables: list[Any] = []
        self._added: list[Any] = []

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
                "The number of provided names must match the number of provided initializers.  "
                f"Received name='{name}', initializer='{initializer}'"
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
