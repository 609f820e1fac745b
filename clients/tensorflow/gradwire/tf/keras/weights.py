"""Weights of layers: variables by Keras's manners."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import initializers
from gradwire.tf.keras.names import unique_name


class Weight(tf.Variable):
    """A variable whose name has no number, which knows its layer, and which is its own value."""

    def __init__(self, initial_value: Any, path: str = "", **kwargs: Any) -> None:
        super().__init__(initial_value, **kwargs)
        self.path: str = path

    @property
    def name(self) -> str:
        """The name that its layer gave it."""
        return self._stem

    @property
    def value(self) -> Any:
        """The variable itself, as a tape watches it."""
        return self

    def __repr__(self) -> str:
        shape = tuple(self.shape)
        return (
            f"<Variable path={self.path}, shape={shape}, dtype={self.dtype.name}, "
            f"value={self.numpy()}>"
        )


def state(owner: str, shape: Any, initializer: Any, dtype: Any, name: str | None) -> Weight:
    """A variable of a metric or an optimizer, which is not trained.

    Raises:
        ValueError: There is no initializer.
    """
    made = initializers.get(initializer)
    if made is None:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor."
        )
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = tf.as_dtype("float32" if dtype is None else dtype)
    name = name or unique_name("variable")
    value = tf.cast(made(lengths, dtype=kind), kind)
    return Weight(value, trainable=False, name=name, path=f"{owner}/{name}")
