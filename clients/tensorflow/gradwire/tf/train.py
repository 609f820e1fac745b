"""``tf.train``: checkpoints of variables, and their running averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from gradwire.tf import nest
from gradwire.tf.arguments import only
from gradwire.tf.errors import NotFoundError
from gradwire.tf.nodes import paused
from gradwire.tf.variables import Variable

__all__ = ["Checkpoint", "ExponentialMovingAverage", "latest_checkpoint"]


class Checkpoint:
    """Objects whose variables are written to a file and read from it, by the paths to them.

    The file is NumPy's (``.npz``), not TensorFlow's.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root: Any = root
        self._parts: dict[str, Any] = kwargs
        self.save_counter: Variable = Variable(0, trainable=False, name="save_counter")
        for name, part in kwargs.items():
            setattr(self, name, part)

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the variables' values."""
        path = str(file_prefix)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        values = {name: variable.numpy() for name, variable in self._variables()}
        with Path(f"{path}.npz").open("wb") as file:
            np.savez(file, **values)
        return path

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write them under the next number."""
        self.save_counter.assign_add(1)
        return self.write(f"{file_prefix}-{int(self.save_counter.numpy())}", options)

    def read(self, save_path: Any, options: Any = None) -> Restored:
        """Assign what was written to those variables that are there."""
        path = Path(f"{save_path}.npz")
        if not path.exists():
            raise NotFoundError(None, None, f"Could not find checkpoint {save_path}")
        with np.load(path) as values:
            missing = [name for name, _ in self._variables() if name not in values]
            with paused():
                for name, variable in self._variables():
                    if name in values:
                        variable.assign(values[name])
        return Restored(missing)

    def restore(self, save_path: Any, options: Any = None) -> Restored:
        """The same; without a path nothing is done."""
        return Restored([]) if save_path is None else self.read(save_path, options)

    def _variables(self) -> Iterator[tuple[str, Variable]]:
        yield "save_counter", self.save_counter
        seen: set[int] = set()
        for name, part in {"root": self._root, **self._parts}.items():
            yield from _found(part, name, seen)


class Restored:
    """What was read, and whether it was all."""

    def __init__(self, missing: Sequence[str]) -> None:
        self._missing: list[str] = list(missing)

    def assert_consumed(self) -> Self:
        """Refuse that a variable was not in the file."""
        if self._missing:
            raise AssertionError(f"not in the checkpoint: {self._missing}")
        return self

    def assert_existing_objects_matched(self) -> Self:
        """The same."""
        return self.assert_consumed()

    def expect_partial(self) -> Self:
        """Take it as it is."""
        return self


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


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the file in a folder that was written last."""
    only("latest_checkpoint", latest_filename=(latest_filename, None))
    found = sorted(Path(str(checkpoint_dir)).glob("*.npz"), key=lambda path: path.stat().st_mtime)
    return str(found[-1])[: -len(".npz")] if found else None


def _found(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Variable]]:
    """The variables in an object and in its attributes, each once."""
    if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None))):
        return
    if isinstance(value, Variable):
        seen.add(id(value))
        yield path, value
    elif isinstance(value, Mapping):
        for key in value:
            yield from _found(value[key], f"{path}.{key}", seen)
    elif nest.is_nested(value):
        for i, each in enumerate(value):
            yield from _found(each, f"{path}.{i}", seen)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        seen.add(id(value))
        for name in sorted(vars(value)):
            yield from _found(vars(value)[name], f"{path}.{name}", seen)
