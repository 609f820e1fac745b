"""Captured values: globals, closures and defaults of a function, and of all that it calls.

A recording is valid while none of them has been replaced. They may include libraries' functions
(``from scipy.linalg import expm``), which are patched during a recording. What it calls are also
the methods of the objects that it reads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gradwire.tracing.libraries import SCIPY, substitute_of
from gradwire.tracing.patching import PATCHES, Binding, Patch
from gradwire.tracing.traces import LIBRARIES


class Captured:
    """Functions' captured values; when one is replaced, the functions are recorded again."""

    __slots__ = ("_pythons", "_seen")

    def __init__(self, *pythons: Callable[..., Any]) -> None:
        self._pythons = pythons
        self._seen: list[tuple[Binding, Any]] | None = None

    def changed(self) -> bool:
        """True if a captured value has been replaced since the last call."""
        if self._seen is None:
            self._seen = _reads(self._pythons)
            return False
        for binding, value in self._seen:
            holder = binding.holder
            now = holder.get(binding.name) if type(holder) is dict else binding.read()
            if now is not value and not _equal(PATCHES.original(binding), value):
                self._seen = _reads(self._pythons)
                return True
        return False

    def library_patches(self) -> list[Patch]:
        """The patches of libraries' functions among the captured values."""
        found = [Patch(binding, value, _replaced(value)) for binding, value in self._seen or ()]
        return [each for each in found if each.substitute is not None]


def _replaced(value: Any) -> Any:
    """The substitute of a library's function, or of defaults that contain some; else ``None``."""
    if type(value) is not tuple:
        return substitute_of(value)
    parts = [substitute_of(part) for part in value]
    if all(part is None for part in parts):
        return None
    return tuple([old if new is None else new for old, new in zip(value, parts, strict=True)])


def _reads(pythons: Sequence[Any]) -> list[tuple[Binding, Any]]:
    """The bindings that a function and the functions it calls read, with their values."""
    found: dict[tuple[int, str], tuple[Binding, Any]] = {}
    visited: set[int] = set()
    stack = [*pythons]
    while stack:
        for plain in _functions(stack.pop()):
            if id(plain) in visited:
                continue
            visited.add(id(plain))
            _load_libraries(plain.__code__)
            for binding in _bindings(plain):
                value = PATCHES.original(binding)
                if isinstance(value, ModuleType):
                    continue
                found[binding.key] = binding, value
                stack.append(value)
    return list(found.values())


def _functions(value: Any) -> Iterator[FunctionType]:
    """The user's functions behind a value: itself, or the methods of its class."""
    for _ in range(100):  # no more decorators than that
        if isinstance(value, partial):
            value = value.func
        elif callable(value) and hasattr(value, "__wrapped__"):
            value = value.__wrapped__
        else:
            break
    found = [value]
    of = value.__self__ if isinstance(value, MethodType) else value
    kind = of if isinstance(of, type) else type(of)
    if kind.__module__ == "__main__" or _is_user_s(sys.modules.get(kind.__module__)):
        found += [method for base in kind.__mro__[:-1] for method in vars(base).values()]
    for each in found:
        plain = each.fget if isinstance(each, property) else getattr(each, "__func__", each)
        if isinstance(plain, FunctionType) and not plain.__code__.co_filename.startswith(LIBRARIES):
            yield plain


def _load_libraries(code: CodeType) -> None:
    """Import what a function imports when it is called, to have its substitutes by then."""
    for name in _names(code):
        if name in SCIPY and name not in sys.modules:
            with suppress(ImportError):  # it is the function's own error
                import_module(name)


def _bindings(function: FunctionType) -> Iterator[Binding]:
    for cell in function.__closure__ or ():
        yield Binding(cell, "cell_contents")
    if function.__defaults__:
        yield Binding(function, "__defaults__")
    if function.__kwdefaults__:
        yield Binding(function, "__kwdefaults__")
    names = list(_names(function.__code__))
    known = [function.__globals__.get(name) for name in names]
    modules = [value for value in known if isinstance(value, ModuleType) and _is_user_s(value)]
    for scope in (function.__globals__, *map(vars, modules)):
        for name in names:
            if name in scope:
                yield Binding(scope, name)


def _is_user_s(module: ModuleType | None) -> bool:
    path = getattr(module, "__file__", None)
    return path is not None and not path.startswith(LIBRARIES)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _equal(old: Any, new: Any) -> bool:
    is_plain = isinstance(old, (bool, int, float, complex, str)) and type(old) is type(new)
    return old is new or (is_plain and old == new)
