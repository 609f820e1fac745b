"""``tf.train``: checkpoints of variables, and their running averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire.tf.arguments import only
from gradwire.tf.checkpoint_files import get_checkpoint_state as get_checkpoint_state
from gradwire.tf.checkpoint_files import latest_checkpoint as latest_checkpoint
from gradwire.tf.checkpoint_files import list_variables as list_variables
from gradwire.tf.checkpoint_files import load_variable as load_variable
from gradwire.tf.checkpoint_manager import CheckpointManager as CheckpointManager
from gradwire.tf.checkpoints import Checkpoint as Checkpoint
from gradwire.tf.checkpoints import CheckpointOptions as CheckpointOptions
from gradwire.tf.examples import BytesList as BytesList
from gradwire.tf.examples import Example as Example
from gradwire.tf.examples import Feature as Feature
from gradwire.tf.examples import Features as Features
from gradwire.tf.examples import FloatList as FloatList
from gradwire.tf.examples import Int64List as Int64List
from gradwire.tf.nodes import paused
from gradwire.tf.variables import Variable


class ExponentialMovingAverage:
    """``average = decay * average + (1 - decay) * value`` with each ``apply``."""

    def __init__(
        self,
        decay: float,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        only("ExponentialMovingAverage", zero_debias=(zero_debias, False))
        self._decay: float = decay
        self._updates: Any = num_updates
        self._averages: dict[int, tuple[Variable, Variable]] = {}
        self.name: str = name

    def apply(self, var_list: Sequence[Variable]) -> None:
        """Take the variables' values into their averages."""
        decay = self._decay
        if self._updates is not None:
            count = float(self._updates)
            decay = min(decay, (1 + count) / (10 + count))
        with paused():
            for variable in var_list:
                if id(variable) not in self._averages:
                    made = Variable(variable, trainable=False, name=f"{variable.name}/{self.name}")
                    self._averages[id(variable)] = (variable, made)
                _, average = self._averages[id(variable)]
                average.assign_sub((1 - decay) * (average - variable))

    def average(self, var: Variable) -> Variable | None:
        """The variable's average, once it was applied."""
        found = self._averages.get(id(var))
        return None if found is None else found[1]
