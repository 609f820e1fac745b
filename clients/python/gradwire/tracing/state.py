"""What Python values are made of, as it was: whether any part has changed since.

Everything that the values hold is looked at: elements of containers, attributes of objects and
classes, elements of arrays. What has no elements or attributes that Python can see (a file, an
iterator, an object of C) cannot be compared.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import io
import logging
import os
import pathlib
import re
import sys
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import is_
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from gradwire.tracing.traces import LIBRARIES

#: Most values that are looked at.
MOST_VALUES = 20_000
#: Values that do not change, or whose changes do not matter to a function of arrays.
_FIXED = (
    int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range, slice,
    np.generic, np.dtype, np.ufunc, BuiltinFunctionType, CodeType, ModuleType, re.Pattern,
    enum.Enum,
    datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, pathlib.PurePath, uuid.UUID, logging.Logger,
)  # fmt: skip


#: What all classes have, and nobody changes.
_OF_ANY_CLASS = frozenset(
    "__dict__ __weakref__ __module__ __doc__ __qualname__ __annotations__ __firstlineno__ "
    "__static_attributes__".split()
)


class Cell(NamedTuple):
    """A value that may change, and how it was."""

    value: Any
    #: Its parts: those that are the same objects have not changed.
    parts: Callable[[Any], Iterable[Any]]
    saved: tuple[Any, ...]
    #: For values that are compared as wholes, with a copy.
    is_same: Callable[[Any, Any], bool] | None = None

    def changed(self) -> bool:
        """True if a part is another now; equal numbers and texts are the same."""
        if self.is_same is not None:
            return not self.is_same(self.value, self.saved[0])
        now = tuple(self.parts(self.value))
        if len(now) == len(self.saved) and all(map(is_, now, self.saved)):
            return False
        return len(now) != len(self.saved) or not all(map(equal, self.saved, now))


class State:
    """The state of some values, which it keeps alive.

    ``captured`` gives what a function of the user's reads beside its arguments.
    """

    def __init__(
        self, roots: Iterable[Any], captured: Callable[[FunctionType], Iterable[Any]]
    ) -> None:
        self._captured = captured
        self._cells: list[Cell] = []
        #: The first value that cannot be compared, and why, if any.
        self.unknown: str | None = None
        seen: set[int] = set()
        self._kept: list[Any] = []
        stack = [*roots]
        while stack and self.unknown is None:
            value = stack.pop()
            if isinstance(value, _FIXED) or id(value) in seen:
                continue
            seen.add(id(value))
            self._kept.append(value)
            if len(seen) > MOST_VALUES:
                self.unknown = f"more than {MOST_VALUES:,} values"
                return
            stack += self._look_at(value)

    def changed(self) -> bool:
        """True if any value has changed."""
        return any(cell.changed() for cell in self._cells)

    def _look_at(self, value: Any) -> Iterable[Any]:
        """Keep a value's state; gives what is in it."""
        kind = type(value)
        if kind in (tuple, frozenset):
            return tuple(value)
        if isinstance(value, np.ndarray) and value.dtype != object:
            return self._whole(value, _copied(value), _same_elements)
        if isinstance(value, np.ndarray):
            return self._parts(value, lambda array: array.ravel().tolist())
        if kind in (list, deque):
            return self._parts(value, tuple)
        if kind in (set, bytearray):
            return self._whole(value, kind(value), lambda now, then: bool(now == then))
        if isinstance(value, MappingProxyType | dict):
            return (*self._parts(value, _items), *self._attributes(value))
        if isinstance(value, type(os.environ)):
            return self._whole(value, dict(value), lambda now, then: bool(dict(now) == then))
        if isinstance(value, FunctionType):
            if value.__code__.co_filename.startswith(LIBRARIES):
                return ()
            return (*self._captured(value), *self._attributes(value))
        if isinstance(value, partial):
            return (value.func, value.args, value.keywords)
        if isinstance(value, MethodType):
            return (value.__self__, value.__func__)
        if isinstance(value, property):
            return (value.fget,)
        if isinstance(value, staticmethod | classmethod):
            return (value.__func__,)
        if isinstance(value, type):
            return self._parts(value, _of_class) if is_users(value) else ()
        return self._object(value)

    def _object(self, value: Any) -> Iterable[Any]:
        kind = type(value)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return self._whole(value, _stream(value), lambda now, then: _stream(now) == then)
        if isinstance(value, Iterator | io.IOBase):
            return self._cannot(value)
        if kind.__module__.partition(".")[0] == "gradwire" or _belongs_to_its_module(value):
            return ()
        if hasattr(value, "equals") and hasattr(value, "copy"):  # pandas, xarray
            return self._whole(value, value.copy(), lambda now, then: bool(now.equals(then)))
        parts = [kind, *self._attributes(value)]
        if isinstance(value, list | tuple | set | frozenset | deque):
            parts += self._parts(value, tuple)
        elif hasattr(value, "__array__"):
            array = np.asarray(value)
            parts += self._whole(
                value, _copied(array), lambda now, then: _same_elements(np.asarray(now), then)
            )
        elif len(parts) == 1 and not (is_users(kind) or hasattr(value, "__dict__")):
            return self._cannot(value)
        return parts

    def _attributes(self, value: Any) -> Iterable[Any]:
        found: list[Any] = []
        if hasattr(value, "__dict__"):
            found += self._parts(value, lambda of: _items(vars(of)))
        slots = [name for base in type(value).__mro__ for name in _slots(base)]
        if slots:
            found += self._parts(value, lambda of: [getattr(of, name, None) for name in slots])
        return found

    def _parts(self, value: Any, parts: Callable[[Any], Iterable[Any]]) -> Iterable[Any]:
        saved = tuple(parts(value))
        self._cells.append(Cell(value, parts, saved))
        return saved

    def _whole(self, value: Any, copy: Any, is_same: Callable[[Any, Any], bool]) -> Iterable[Any]:
        self._cells.append(Cell(value, tuple, (copy,), is_same))
        return ()

    def _cannot(self, value: Any) -> Iterable[Any]:
        self.unknown = f"a value of type {type(value).__module__}.{type(value).__qualname__}"
        return ()


def equal(old: Any, new: Any) -> bool:
    """True of the same object, and of equal numbers and texts of one type."""
    if old is new:
        return True
    if type(old) is not type(new):
        return False
    if isinstance(old, float | complex):
        return bool(old == new and repr(old) == repr(new))  # 0.0 and -0.0 differ
    if type(old) is tuple:
        return len(old) == len(new) and all(map(equal, old, new))
    plain = bool | int | str | bytes | type(None) | np.dtype
    return isinstance(old, plain) and bool(old == new)


def is_users(kind: type) -> bool:
    """True if a class is not a library's."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    return kind.__module__ == "__main__" or (path is not None and not path.startswith(LIBRARIES))


def _items(of: Mapping[Any, Any]) -> Iterator[Any]:
    yield from of
    yield from of.values()


def _of_class(kind: type) -> list[Any]:
    """What a class has beside methods, and what its bases have."""
    named = [item for base in kind.__mro__ if is_users(base) for item in vars(base).items()]
    return [part for name, part in named if name not in _OF_ANY_CLASS]


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if not name.startswith("__")]


def _belongs_to_its_module(value: Any) -> bool:
    """True of a library's constants, as the distributions of ``scipy.stats``."""
    if is_users(type(value)):
        return False
    module = sys.modules.get(type(value).__module__)
    return module is not None and any(value is each for each in vars(module).values())


def _stream(draws: Any) -> str:
    """How far a stream of random numbers is."""
    of = draws.bit_generator if isinstance(draws, np.random.Generator) else draws._bit_generator
    return repr(of.state)


def _copied(array: Any) -> Any:
    return np.array(array, copy=True, subok=False)


def _same_elements(now: Any, then: Any) -> bool:
    """True if dtype, shape and every bit are the same."""
    if now.dtype != then.dtype or now.shape != then.shape:
        return False
    if now.nbytes <= 1 << 14 or not now.flags.c_contiguous:
        return bool(now.tobytes() == then.tobytes())
    words = f"u{min(now.itemsize, 8)}" if now.itemsize in (1, 2, 4, 8, 16) else "u1"
    return np.array_equal(now.reshape(-1).view(words), then.reshape(-1).view(words))
