"""Weights of layers: variables by Keras's manners."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf


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
