"""Other paths of TensorFlow's modules: ``compat.v2``, and ``python``, where its own code is.

``from tensorflow.python.ops import math_ops`` is in much public code. The modules below
``gradwire.tf.python`` are made when they are imported, and have the public names that TensorFlow's
are written in: ``inside.txt``, next to this module, has these by module. A name that is a function
of TensorFlow 1 there, beside one that ends with ``_v2``, is that of ``tf.compat.v1``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

_FILE = Path(__file__).with_name("inside.txt")
_ROOT = "gradwire.tf"
#: Modules that have the names of others.
_SAME = {"eager.def_function": "eager.polymorphic_function.polymorphic_function"}
#: Names besides those that are public.
_BESIDES = {"eager.backprop": "gradwire.tfe"}


class OtherPaths(Loader):
    """A finder of modules by their other paths."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module that has another path here; None for others."""
        if _below(name, f"{_ROOT}.compat.v2") is None and _below(name, f"{_ROOT}.python") is None:
            return None
        found = _found(name)
        if found is not None:
            return ModuleSpec(name, self, loader_state=found.__spec__, is_package=True)
        parent, _, last = name.rpartition(".")
        try:
            getattr(sys.modules.get(parent), last)
        except NotImplementedError as error:  # which `from … import` hides
            raise ImportError(str(error), name=parent) from error
        except AttributeError:
            pass
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module itself, which may have another name."""
        return _found(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Let a module that has another name keep its own specification."""
        own = module.__spec__.loader_state if module.__spec__ is not None else None
        module.__spec__ = own or module.__spec__


class _Inside(ModuleType):
    """A module of TensorFlow's own."""

    def __init__(self, name: str, place: str, written: Mapping[str, str]) -> None:
        super().__init__(name, f"The public names of ``tensorflow.python.{place}``.")
        self._place = place
        self._written = written

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        own = f"{self.__name__}.{name}"
        if _found(own) is not None:
            return import_module(own)
        if self._place in _BESIDES and hasattr(import_module(_BESIDES[self._place]), name):
            return getattr(import_module(_BESIDES[self._place]), name)
        public = self._written.get(name)
        if public is None and f"{name}V2" in self._written:
            public = self._written[f"{name}V2"]
        home = self._written.get("")
        if public is None and f"{name}_v2" in self._written:
            older = self._written[f"{name}_v2"].rpartition(".")[0]
            public = ".".join(filter(None, ("compat.v1", older, name)))
        if public is None and home is not None:
            public = f"{home}.{name}".strip(".") if _has(home, name) else name
        if public is None or not (_has("", public) or _is_public(public)):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return _public(public)


def _below(name: str, root: str) -> str | None:
    """A module's name below another one, empty for itself; None if it is not there."""
    return name.removeprefix(root).strip(".") if f"{name}.".startswith(f"{root}.") else None


@cache
def _written() -> dict[str, dict[str, str]]:
    """Public names by TensorFlow's own modules and the names in these; by ``""``, the module."""
    found: dict[str, dict[str, str]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        head, *names = line.split(" ")
        module, _, home = head.partition(":")
        of = found[module] = {"": home}
        for each in names:
            name, _, public = each.partition("=")
            public = public or name
            of[name] = public.lstrip(".") if "." in public else f"{home}.{public}".strip(".")
    return found


@cache
def _found(name: str) -> ModuleType | None:
    """The module of another path."""
    version = _below(name, f"{_ROOT}.compat.v2")
    if version is not None:
        return _imported(f"{_ROOT}.{version}".strip("."))
    place = _below(name, f"{_ROOT}.python") or ""
    if place.split(".")[0] == "keras":
        return next(filter(None, map(_imported, _shorter(f"{_ROOT}.{place}"))), None)
    known = _written()
    place = _SAME.get(place, place)
    names: dict[str, str] = {}
    for each in (f"{place}_ops", f"{place}_impl", place):
        names |= known.get(each, {})
    if not names and not any(each.startswith(f"{place}.") for each in known) and place:
        return None
    return _Inside(name, place, names)


def _shorter(name: str) -> Iterator[str]:
    """A module's name, and those of the modules that it is below, down to Keras."""
    while name != _ROOT:
        yield name
        name = name.rpartition(".")[0]


def _imported(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return None


def _has(place: str, name: str) -> bool:
    try:
        _public(f"{place}.{name}".strip("."))
    except AttributeError:
        return False
    return True


def _is_public(name: str) -> bool:
    """True for a public name of TensorFlow's, which may not be here."""
    from gradwire.tf.absent import names_of  # noqa: PLC0415 - it imports this module

    place, _, last = name.rpartition(".")
    return last in names_of(place)


def _public(name: str) -> Any:
    return reduce(getattr, name.split("."), sys.modules[_ROOT])
