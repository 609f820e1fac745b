"""``tf.saved_model``: a module's variables in a folder, with the attributes that lead to them.

``saved_model.json`` is the structure, in which a variable is its name in ``variables.npz``, a file
of NumPy's. Functions are not saved, so that objects that have some, or are called, are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gradwire.tf import nest
from gradwire.tf.archives import read_arrays
from gradwire.tf.arguments import only
from gradwire.tf.checkpoints import Checkpoint
from gradwire.tf.functions import PolymorphicFunction
from gradwire.tf.gfile import local
from gradwire.tf.modules import Module
from gradwire.tf.variables import Variable

_STRUCTURE = "saved_model.json"
_VARIABLES = "variables.npz"


class SavedObject:
    """A saved object: its attributes with variables."""


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Save the variables of a module or checkpoint.

    Raises:
        ValueError: another object.
        NotImplementedError: functions, layers and models, signatures, options.
    """
    only("saved_model.save", signatures=(signatures, None), options=(options, None))
    if not isinstance(obj, (Module, Checkpoint)) and not hasattr(type(obj), "call"):
        raise ValueError(
            f"`obj` must be a tf.Module or a tf.train.Checkpoint, got {obj} of {type(obj)}"
        )
    saved = _Saved()
    structure = saved.of(obj, "root")
    folder = Path(local(export_dir))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _STRUCTURE).write_text(json.dumps(structure), encoding="utf-8")
    with (folder / _VARIABLES).open("wb") as file:
        np.savez(file, **saved.values)


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """An object with the variables that were saved, by the same attributes.

    Raises:
        OSError: nothing was saved there.
        NotImplementedError: TensorFlow's own files.
    """
    only("saved_model.load", tags=(tags, None), options=(options, None))
    folder = Path(local(export_dir))
    if (folder / "saved_model.pb").exists():
        raise NotImplementedError(f"{folder} is a SavedModel of TensorFlow, which is not read")
    if not contains_saved_model(export_dir):
        raise OSError(f"SavedModel file does not exist at: {folder}")
    structure = json.loads((folder / _STRUCTURE).read_text(encoding="utf-8"))
    return _loaded(structure, read_arrays(folder / _VARIABLES), {})


def contains_saved_model(export_dir: Any) -> bool:
    """True if variables were saved in a folder."""
    return (Path(local(export_dir)) / _STRUCTURE).exists()


class _Saved:
    """The variables that were met, and objects that were, each once."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._met: dict[int, str] = {}

    def of(self, value: Any, path: str) -> Any:
        """The structure of a value, None where it has no variables."""
        if isinstance(value, PolymorphicFunction) or hasattr(type(value), "call"):
            raise NotImplementedError(f"saved_model.save does not save functions: {path}")
        if isinstance(value, Variable):
            return self._variable(value, path)
        if isinstance(value, Mapping):
            return {"dict": self._parts(dict(value), path)}
        if nest.is_nested(value):
            return {"list": [self.of(each, f"{path}.{i}") for i, each in enumerate(value)]}
        if not isinstance(value, (Module, Checkpoint)):
            return None
        if id(value) in self._met:
            raise NotImplementedError(
                f"saved_model.save does not save an object twice: {path} is {self._met[id(value)]}"
            )
        self._met[id(value)] = path
        for name in dir(type(value)):
            if isinstance(getattr(type(value), name, None), PolymorphicFunction):
                raise NotImplementedError(
                    f"saved_model.save does not save functions: {path}.{name}"
                )
        return {"object": self._parts(vars(value), path)}

    def _variable(self, variable: Variable, path: str) -> dict[str, Any]:
        if variable.dtype.name == "string":
            raise NotImplementedError(f"saved_model.save does not save variables of texts: {path}")
        name = self._met.setdefault(id(variable), path)
        self.values[name] = variable.numpy()
        found = {"trainable": variable.trainable, "name": variable.name.removesuffix(":0")}
        return {"variable": name, "dtype": variable.dtype.name, **found}

    def _parts(self, parts: Mapping[str, Any], path: str) -> dict[str, Any]:
        found = {
            name: self.of(part, f"{path}.{name}")
            for name, part in parts.items()
            if not name.startswith("_") or isinstance(part, Variable)
        }
        return {name: part for name, part in found.items() if part is not None}


def _loaded(structure: Any, values: Mapping[str, Any], made: dict[str, Variable]) -> Any:
    if structure is None:
        return None
    if "variable" in structure:
        name = structure["variable"]
        if name not in made:
            made[name] = Variable(
                values[name],
                trainable=structure["trainable"],
                name=structure["name"],
                dtype=structure["dtype"],
            )
        return made[name]
    if "list" in structure:
        return [_loaded(each, values, made) for each in structure["list"]]
    ((kind, parts),) = structure.items()
    found = {name: _loaded(part, values, made) for name, part in parts.items()}
    if kind == "dict":
        return found
    loaded = SavedObject()
    vars(loaded).update(found)
    return loaded
