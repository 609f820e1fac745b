"""TensorFlow's names that are not here: using one raises an error with the nearest that are.

``names.txt``, next to this module, has the public names of TensorFlow 2.21, those of one of its
modules on each line; an equals sign begins those in ``tf.compat.v1`` that are the same in ``tf``,
and is between those and the names that they have in ``tf`` where these are others.
A name that it does not have is Python's plain ``AttributeError``.
"""

from __future__ import annotations

import difflib
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

_NAMES = Path(__file__).with_name("names.txt")

#: Alternatives to names that no other name resembles.
_INSTEAD: dict[str, str] = {
    "compat.v1.disable_eager_execution": "graphs are not built; tf.function runs eagerly",
    "compat.v1.disable_v2_behavior": "graphs are not built; tf.function runs eagerly",
    "compat.v1.get_variable": "tf.Variable",
    "compat.v1.layers": "tf.keras.layers",
    "compat.v1.placeholder": "an argument of a Python function",
    "compat.v1.train.Saver": "tf.train.Checkpoint",
    "compat.v1.variable_scope": "tf.name_scope",
    "data.Dataset.snapshot": "tf.data.Dataset.cache",
    "data.experimental.snapshot": "tf.data.Dataset.cache",
    "distribute.MultiWorkerMirroredStrategy": "tf.distribute.MirroredStrategy of one device",
    "distribute.ParameterServerStrategy": "tf.distribute.MirroredStrategy of one device",
    "distribute.TPUStrategy": "tf.distribute.OneDeviceStrategy",
}


class MissingName(AttributeError, NotImplementedError):
    """A name of TensorFlow's that ``gradwire.tf`` does not have.

    It is an ``AttributeError``, too, so that ``hasattr`` and ``getattr`` with a default work.
    """


class MissingImports:
    """The last finder of modules: says what ``from … import`` of such a name would hide."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise for a name of TensorFlow's that is not here; find nothing."""
        parent, _, own = name.rpartition(".")
        module = sys.modules.get(parent)
        place = getattr(module, "_tensorflow_name", None)
        if place is not None and own in names_of(place) and not hasattr(module, own):
            # Not a ModuleNotFoundError of that name: `from … import` hides it.
            raise ImportError(_missing(module, place, own), name=parent)


@cache
def tensorflow_names() -> dict[str, str]:
    """The names in each of TensorFlow's public modules, which ``tf`` itself begins."""
    lines = _NAMES.read_text(encoding="utf-8").splitlines()
    return {module: names for module, _, names in (line.partition(" ") for line in lines)}


def names_of(module: str) -> list[str]:
    """The public names of one of TensorFlow's modules, none of what is not a module."""
    names = tensorflow_names().get(module or "tf", "").split()
    return [name.lstrip("=").partition("=")[0] for name in names]


def same_names_of(module: str) -> dict[str, str]:
    """The names in a module of ``tf.compat.v1``, with those that they have in ``tf``."""
    place = module.removeprefix("compat.v1").strip(".")
    found: dict[str, str] = {}
    for each in tensorflow_names()[module].split():
        name, is_there, other = each.lstrip("=").partition("=")
        if is_there or each.startswith("="):
            found[name] = other or f"{place}.{name}".strip(".")
    return found


def name_missing(module: types.ModuleType, place: str = "") -> None:
    """Raise ``MissingName`` for TensorFlow's other names in a module and in those below it.

    ``place`` is the module's name in TensorFlow, without ``tf.``. The public names of a module
    that does not list any are those of TensorFlow's that it has.
    """
    if "_tensorflow_name" in vars(module) or not module.__name__.startswith("gradwire.tf"):
        return
    own = getattr(module, "__getattr__", None)

    def found(name: str) -> Any:
        if name == "__all__" and place:
            there = set(dir(module))
            return [each for each in names_of(place) if each in there]
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        raise missing(module, f"module {module.__name__!r}", place, name)

    added: dict[str, Any] = {"_tensorflow_name": place, "__getattr__": found}
    if not hasattr(module, "__path__"):
        added["__path__"] = []  # so that `from … import` asks the finders for what there is not
    below = list(vars(module).items())
    vars(module).update(added)
    for name, each in below:
        lower = f"{place}.{name}".strip(".")
        if isinstance(each, types.ModuleType) and lower in tensorflow_names():
            sys.modules.setdefault(f"gradwire.tf.{lower}", each)  # wherever it is written
            name_missing(each, lower)


def missing(owner: Any, what: str, place: str, name: str) -> AttributeError:
    """The error for an attribute that a module or class, TensorFlow's ``place``, has not."""
    if name in names_of(place):
        return MissingName(_missing(owner, place, name), name=name, obj=owner)
    return AttributeError(f"{what} has no attribute {name!r}", name=name, obj=owner)


def _missing(module: Any, place: str, name: str) -> str:
    full = f"{place}.{name}".strip(".")
    head = f"gradwire.tf does not implement tf.{full}"
    if full in _INSTEAD:
        return f"{head}; instead: {_INSTEAD[full]}"
    known = set(dir(module))
    there = {each.lower(): each for each in names_of(place) if each in known}
    found = [there[each] for each in difflib.get_close_matches(name.lower(), there, cutoff=0.7)]
    where = f"tf.{place}.".replace("..", ".")
    return f"{head}; nearest: {', '.join(where + each for each in found)}" if found else head
