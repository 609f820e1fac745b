"""The public functions, classes and methods of ``gradwire.tf``, by TensorFlow's names.

python -m tests.clients.tensorflow.public > names
"""

import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import gradwire.tf as tf


def public_callables() -> dict[str, Callable[..., Any]]:
    """Each function and class, and each method that a class defines, by its first name."""
    found: dict[str, Callable[..., Any]] = {}
    known: set[int] = set()
    for name, value in _members("", tf, set()):
        if id(value) not in known:
            known.add(id(value))
            found[name] = value
    classes = [(name, value) for name, value in found.items() if inspect.isclass(value)]
    for name, kind in classes:
        for base in kind.__mro__:
            ours = base.__module__.startswith("gradwire.tf")
            if not ours or (base is not kind and id(base) in known):
                continue
            for method, function in _methods(base):
                if inspect.getattr_static(kind, method) is vars(base)[method]:
                    found[f"{name}.{method}"] = function
    return dict(sorted(found.items()))


def _members(prefix: str, module: types.ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    seen.add(id(module))
    names = getattr(module, "__all__", None) or dir(module)
    values = [(name, getattr(module, name)) for name in names if not name.startswith("_")]
    for name, value in sorted(values, key=_place):
        if isinstance(value, types.ModuleType):
            if (
                value.__name__.startswith("gradwire.tf")
                and name not in ("absent", "paths", "rules")
                and id(value) not in seen
            ):
                yield from _members(f"{prefix}{name}.", value, seen)
        elif getattr(value, "__module__", "").startswith("gradwire.tf") and (
            inspect.isclass(value) or inspect.isfunction(value)
        ):
            yield f"{prefix}{name}", value


def _place(each: tuple[str, Any]) -> int:
    """Modules come last: TensorFlow's, then others, and the one with other names for all that."""
    name, value = each
    if not isinstance(value, types.ModuleType):
        return 0
    return 3 if name == "compat" else 1 if hasattr(value, "_tensorflow_name") else 2


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    for name, value in vars(kind).items():
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            yield name, function


if __name__ == "__main__":
    print("\n".join(public_callables()))  # noqa: T201
