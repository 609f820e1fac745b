"""Moving averages of weights, which an optimizer keeps and puts in their place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gradwire.tf as tf


class Averages:
    """``a = m a + (1 - m) w`` after each step, and ``a = w`` after the first."""

    def __init__(self, momentum: float, overwrite_frequency: int | None) -> None:
        if not 0 <= momentum <= 1:
            raise ValueError(f"`ema_momentum` must lie between 0 and 1; got {momentum}")
        if overwrite_frequency is not None and overwrite_frequency < 1:
            raise ValueError(
                "`ema_overwrite_frequency` counts steps from 1, or is None; got "
                f"{overwrite_frequency}"
            )
        self._momentum = momentum
        self._frequency = overwrite_frequency
        self._kept: dict[int, tuple[Any, Any]] = {}

    @property
    def variables(self) -> list[Any]:
        """The averages."""
        return [average for _, average in self._kept.values()]

    def add(self, variables: Iterable[Any]) -> None:
        """Keep averages of these too."""
        for variable in variables:
            if id(variable) not in self._kept:
                zeros = tf.zeros(tuple(variable.shape), variable.dtype)
                average = tf.Variable(zeros, trainable=False, name="average")
                self._kept[id(variable)] = variable, average

    def update(self, step: int) -> None:
        """Take the weights after a step into account, and overwrite them if it is time."""
        momentum = 0.0 if step == 1 else self._momentum
        for variable, average in self._kept.values():
            average.assign(average * momentum + variable * (1.0 - momentum))
        if self._frequency and step % self._frequency == 0:
            self.overwrite(variable for variable, _ in self._kept.values())

    def overwrite(self, variables: Iterable[Any]) -> None:
        """Give variables their averages."""
        for variable in variables:
            if id(variable) in self._kept:
                variable.assign(self._kept[id(variable)][1].read_value())
