"""``tf.train``'s checkpoints: the variables of objects, in files of NumPy's.

A checkpoint is one file, ``PREFIX.npz``. Each variable is an array in it, by the shortest path of
attributes, keys and positions that leads to it, ``model.layers.0.kernel`` for example; ``.paths``
is a JSON object of the other paths to the names of these arrays. Keys that are numbers count by
their order. A file ``checkpoint`` in the same folder, in TensorFlow's form, says which is the
latest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, Self

import numpy as np

from gradwire.tf import nest, restoring
from gradwire.tf.checkpoint_files import State, read_values, write_values
from gradwire.tf.errors import invalid
from gradwire.tf.gfile import local
from gradwire.tf.nodes import paused
from gradwire.tf.variables import Variable


class CheckpointOptions(NamedTuple):
    """Options for writing checkpoints: they are written at once, and by this process."""

    experimental_io_device: Any = None
    experimental_enable_async_checkpoint: bool = False
    experimental_write_callbacks: Any = None
    enable_async: bool = False


class Checkpoint:
    """Objects whose variables are written to a file and read from it, by the paths to them.

    Variables that an object makes after ``restore``, those of a layer that is built later for
    example, get their values when they are first used. The file is not TensorFlow's.
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        for name, part in kwargs.items():
            if part is None or isinstance(part, (str, bytes, int, float)):
                raise ValueError(
                    f"`{name}` must hold variables, as a tf.Module or an optimizer does; got "
                    f"{part!r}"
                )
        self._root: Any = root
        self._restoration: Restoration | None = None
        #: True if ``save_counter`` is one of the variables: since the first save or restore.
        self._counted: bool = False
        self.save_counter: Variable = Variable(np.int64(0), trainable=False, name="save_counter")
        for name, part in kwargs.items():
            setattr(self, name, part)

    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write the variables' values."""
        path = local(file_prefix)
        values: dict[str, Any] = {}
        others: dict[str, str] = {}
        for (name, *rest), variable in self._variables():
            if variable.dtype.name == "string":
                raise NotImplementedError(f"Checkpoint does not save variables of texts: {name}")
            values[name] = variable.numpy()
            others |= dict.fromkeys(rest, name)
        write_values(path, values, others)
        callbacks = None if options is None else options.experimental_write_callbacks
        for callback in callbacks or ():
            callback(path)
        return path

    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write them under the next number."""
        self._counted = True
        self.save_counter.assign_add(1)
        path = self.write(f"{local(file_prefix)}-{int(self.save_counter.numpy())}", options)
        State(path, [path], [time.time()], time.time()).write(Path(path).parent)
        return path

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> Restoration:
        """Assign what was written, also to variables that are not made yet.

        Raises:
            NotFoundError: there is no such checkpoint.
            NotImplementedError: it is TensorFlow's.
            ValueError: a variable has another shape.
            InvalidArgumentError: a variable has another dtype.
        """
        if self._restoration is not None:
            restoring.forget(self._restoration.assign)
        self._restoration = Restoration(self._variables, read_values(save_path))
        return self._restoration

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> Restoration:
        """The same, and how often was saved; without a path nothing is done."""
        self._counted = True
        if save_path is None:
            return Restoration(self._variables, {})
        return self.read(save_path, options)

    def sync(self) -> None:
        """Nothing: what was saved is written."""

    def _variables(self) -> list[tuple[list[str], Variable]]:
        own = {"_counted", "_restoration", "_root"}
        if not self._counted:
            own.add("save_counter")
        parts = {name: part for name, part in vars(self).items() if name not in own}
        return found({**_attributes(self._root), **parts})


class Restoration:
    """The values of a checkpoint, and the variables that have theirs by now."""

    def __init__(
        self,
        variables: Callable[[], list[tuple[list[str], Variable]]],
        values: Mapping[str, np.ndarray[Any, Any]],
    ) -> None:
        self._variables: Callable[[], list[tuple[list[str], Variable]]] = variables
        self._values: Mapping[str, np.ndarray[Any, Any]] = values
        self._assigned: dict[int, Variable] = {}
        self._matched: set[int] = set()
        self.assign()
        if self._unused():
            restoring.wait(self.assign)

    def assign(self) -> None:
        """Assign to the variables that are there and were not yet."""
        with paused():
            for paths, variable in self._variables():
                name = next((path for path in paths if path in self._values), None)
                if name is None or id(variable) in self._assigned:
                    continue
                value = self._values[name]
                _check(name, value, variable)
                self._assigned[id(variable)] = variable
                self._matched.add(id(value))
                variable.assign(value)
        if not self._unused():
            restoring.forget(self.assign)

    def assert_existing_objects_matched(self) -> Self:
        """Refuse that there is a variable which is not in the file."""
        self.assign()
        missing = [
            paths[0] for paths, variable in self._variables() if id(variable) not in self._assigned
        ]
        if missing and self._values:
            raise AssertionError(
                f"the checkpoint has no values for {len(missing)} variables: {missing}"
            )
        return self

    def assert_consumed(self) -> Self:
        """Refuse the same, and that the file holds what no variable has."""
        self.assert_existing_objects_matched()
        if unused := self._unused():
            raise AssertionError(f"no variable takes these values of the checkpoint: {unused}")
        return self

    def assert_nontrivial_match(self) -> Self:
        """Refuse that no variable was in the file."""
        self.assign()
        if not self._assigned:
            raise AssertionError("Nothing in the checkpoint matched a variable")
        return self

    def _unused(self) -> list[str]:
        """The names of values that no variable has."""
        return [name for name, value in self._values.items() if id(value) not in self._matched]

    def expect_partial(self) -> Self:
        """Take it as it is."""
        return self


def found(parts: Mapping[str, Any]) -> list[tuple[list[str], Variable]]:
    """The variables in objects, each with the paths to it, the shortest first."""
    paths: dict[int, tuple[list[str], Variable]] = {}
    seen: set[int] = set()
    level = list(parts.items())
    while level:
        below: list[tuple[str, Any]] = []
        for path, value in level:
            if isinstance(value, Variable):
                paths.setdefault(id(value), ([], value))[0].append(path)
            elif id(value) not in seen:
                seen.add(id(value))
                below += [(f"{path}.{name}", each) for name, each in _attributes(value).items()]
        level = below
    return list(paths.values())


def _attributes(value: Any) -> dict[str, Any]:
    """The contents of a container or an object, by name."""
    if isinstance(value, Mapping):
        keys = list(value)
        if any(not isinstance(key, str) for key in keys):
            return dict(zip(map(str, range(len(keys))), value.values(), strict=True))
        return dict(value)
    if nest.is_nested(value):
        return {str(i): each for i, each in enumerate(value)}
    if isinstance(value, (type, ModuleType, FunctionType, MethodType)):
        return {}
    if hasattr(value, "__dict__"):
        return {name: vars(value)[name] for name in sorted(vars(value))}
    return {}


def _check(name: str, value: np.ndarray[Any, Any], variable: Variable) -> None:
    if not variable.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"{variable.name} has shape {variable.shape}, but its value in the checkpoint has "
            f"shape {value.shape}"
        )
    if value.dtype != variable.dtype.storage:
        raise invalid(
            f"expected dtype {variable.dtype.name} for {name}, but the checkpoint has {value.dtype}"
        )
