"""The parts of Python values, as they were, to find out if any has changed since.

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
import random
import re
import sys
import threading
import uuid
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial, singledispatchmethod
from operator import is_
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
    UnionType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

import numpy as np

from gradwire.tracing.purity import is_pure, is_users, is_users_function

#: Most values that are looked at.
MOST_VALUES = 20_000
#: Larger arrays are compared in words of the machine.
_SMALL_BYTES = 1 << 14
#: Values that do not change, or whose changes do not matter to a function of arrays.
_FIXED = (
    int, float, complex, str, bytes, type(None), type(...), type(NotImplemented), range, slice,
    np.generic, np.dtype, np.ufunc, BuiltinFunctionType, ClassMethodDescriptorType, CodeType,
    GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, MethodWrapperType, ModuleType,
    WrapperDescriptorType, re.Pattern,
    enum.Enum, type(threading.Lock()), type(threading.RLock()), threading.Thread, Executor,
    datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, pathlib.PurePath, uuid.UUID, GenericAlias, UnionType,
)  # fmt: skip


#: What all classes have, and nobody changes.
_OF_ANY_CLASS = frozenset(
    "__dict__ __weakref__ __module__ __doc__ __qualname__ __annotations__ __firstlineno__ "
    "__static_attributes__".split()
)


class OfProcess(NamedTuple):
    """The part of the process that a library function reads; unknown without ``read``."""

    name: str
    read: Callable[[], Any] | None = None


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
        #: Functions without attributes, as most are, and their code: a notebook may reload it.
        self._bare: list[tuple[FunctionType, CodeType]] = []
        #: The first value that cannot be compared, and why, if any.
        self.unknown: str | None = None
        seen: set[int] = set()
        self._kept: list[Any] = []
        #: Functions in C, and modules.
        self._named: list[Any] = []
        stack = [*roots]
        while stack and self.unknown is None:
            value = stack.pop()
            if isinstance(value, _FIXED) or id(value) in seen:
                if isinstance(value, BuiltinFunctionType | ModuleType):
                    self._named.append(value)
                continue
            seen.add(id(value))
            self._kept.append(value)
            if len(seen) > MOST_VALUES:
                self.unknown = f"more than {MOST_VALUES:,} values"
                return
            stack += self._look_at(value)

    @property
    def is_pure(self) -> bool:
        """True if no function that the values have can give another result the next time."""
        return self.unknown is None and all(map(is_pure, (*self._kept, *self._named)))

    def items(self) -> Iterator[tuple[Any, Any, Any]]:
        """Items of containers, objects and classes: the holder, the name or place, the value."""
        for value in self._kept:
            kind = type(value)
            if kind is list:
                yield from ((value, i, item) for i, item in enumerate(value))
            elif isinstance(value, type):
                if is_users(value):
                    yield from ((value, name, item) for name, item in vars(value).items())
            elif kind in (dict, SimpleNamespace) or is_users(kind):
                holder = value if kind is dict else getattr(value, "__dict__", {})
                yield from ((holder, name, item) for name, item in holder.items())

    def functions(self) -> Iterator[FunctionType]:
        """The functions of the user's own."""
        for value in self._kept:
            if isinstance(value, FunctionType) and is_users_function(value):
                yield value

    def changed(self) -> bool:
        """True if any value has changed."""
        for function, code in self._bare:
            if function.__dict__ or function.__code__ is not code:
                return True
        for cell in self._cells:  # noqa: SIM110 - any() takes as long as a cell
            if cell.changed():
                return True
        return False

    def _look_at(self, value: Any) -> Iterable[Any]:
        """Keep a value's state; gives what is in it."""
        kind = type(value)
        if kind is OfProcess:
            return self._of_process(value)
        if kind in (tuple, frozenset):
            return tuple(value)
        if value is np.ma.masked:  # there is one, which does not change
            return ()
        if isinstance(value, np.ndarray) and value.dtype != object:
            return self._array(value)
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
            if not is_users_function(value):
                return ()
            if value.__dict__:
                self._parts(value, lambda function: (function.__code__,))
                return (*self._captured(value), *self._attributes(value))
            self._bare.append((value, value.__code__))
            return tuple(self._captured(value))
        if isinstance(value, singledispatchmethod):
            return (value.func, value.dispatcher)  # the rest is a cache
        if isinstance(value, partial):
            return (value.func, value.args, value.keywords)
        if isinstance(value, MethodType):
            return (value.__self__, value.__func__)
        if isinstance(value, property):
            return (value.fget,)
        if isinstance(value, staticmethod | classmethod):
            return (value.__func__,)
        if isinstance(value, type):
            return self._of_class(value)
        return self._object(value)

    def _of_process(self, value: OfProcess) -> Iterable[Any]:
        if value.read is None:
            self.unknown = f"what {value.name}() reads"
            return ()
        return self._whole(value, value.read(), lambda now, then: bool(now.read() == then))

    def _object(self, value: Any) -> Iterable[Any]:
        kind = type(value)
        if kind is object:  # a mark
            return ()
        if isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            return self._whole(value, _drawn(value), lambda now, then: _drawn(now) == then)
        if isinstance(value, logging.Logger):
            level = value.getEffectiveLevel()
            return self._whole(value, level, lambda now, then: now.getEffectiveLevel() == then)
        if isinstance(value, io.IOBase) and not value.closed and not value.readable():
            return ()  # what is written is not read
        if isinstance(value, Iterator | io.IOBase | weakref.ref):
            return self._cannot(value)
        if kind.__module__.partition(".")[0] == "gradwire":
            return (value.__wrapped__,) if hasattr(value, "__wrapped__") else ()
        if _belongs_to_its_module(value):
            return ()
        if hasattr(kind, "equals") and hasattr(kind, "copy"):  # pandas, xarray
            return self._whole(value, value.copy(), lambda now, then: bool(now.equals(then)))
        parts = [*self._parts(value, lambda of: (type(of),)), *self._attributes(value)]
        if isinstance(value, list | tuple | set | frozenset | deque):
            parts += self._parts(value, tuple)
        elif hasattr(kind, "__array__"):
            parts += self._array(value)
        elif (seen := _bytes(value)) is not None:  # of ctypes
            self._whole(value, seen, lambda now, then: _bytes(now) == then)
        elif len(parts) == 1 and not (is_users(kind) or _has_attributes(value)):
            return self._cannot(value)
        return parts

    def _array(self, value: Any) -> Iterable[Any]:
        try:
            copy, is_same = _elements(np.asarray(value))
        except Exception:  # noqa: BLE001 - its own, as of a tensor of PyTorch with a gradient
            return self._cannot(value)
        return self._whole(value, copy, lambda now, then: is_same(np.asarray(now), then))

    def _attributes(self, value: Any) -> Iterable[Any]:
        found: list[Any] = []
        if _has_attributes(value):
            found += self._parts(value, _attributes)
        slots = [name for base in type(value).__mro__ for name in _slots(base)]
        if slots:
            found += self._parts(value, lambda of: [getattr(of, name, None) for name in slots])
        return found

    def _of_class(self, kind: type) -> Iterable[Any]:
        """The parts of a class of the user's, and of its bases."""
        bases = [base for base in kind.__mro__ if is_users(base)]
        named = [item for base in bases for item in vars(base).items()]
        for base in bases:
            self._parts(base, _attributes)
        parts = [part for name, part in named if name not in _OF_ANY_CLASS]
        return [*parts, type(kind)] if is_users(type(kind)) else parts

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
    return isinstance(old, (bool, int, str, bytes, np.dtype)) and bool(old == new)


def _items(of: Mapping[Any, Any]) -> tuple[Any, ...]:
    return (*of, *of.values())


def _attributes(of: Any) -> tuple[Any, ...]:
    return _items(vars(of))


def _has_attributes(value: Any) -> bool:
    """True if a value has a dictionary; its own code is not asked."""
    return any("__dict__" in vars(base) for base in type(value).__mro__)


def _bytes(value: Any) -> bytes | None:
    """The bytes of a value that shows its memory, else ``None``."""
    try:
        return memoryview(value).tobytes()
    except TypeError:
        return None


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


def _drawn(stream: Any) -> Any:
    """The state of a stream of random numbers."""
    if isinstance(stream, random.Random):
        return stream.getstate()
    if isinstance(stream, np.random.Generator):
        return repr(stream.bit_generator.state)
    state = stream.get_state(legacy=False)
    key = state["state"].pop("key", np.zeros(0))  # which is too long to be printed
    return key.tobytes(), repr(state)


def _elements(array: Any) -> tuple[Any, Callable[[Any, Any], bool]]:
    """A copy of an array, and a comparison with it: of dtype, shape and every bit."""
    if array.nbytes <= _SMALL_BYTES or not array.flags.c_contiguous:
        return (array.tobytes(), array.dtype, array.shape), _same_bytes
    return np.array(array, copy=True, subok=False), _same_words


def _same_bytes(now: Any, then: tuple[bytes, Any, Any]) -> bool:
    return (now.tobytes(), now.dtype, now.shape) == then


def _same_words(now: Any, then: Any) -> bool:
    if now.dtype != then.dtype or now.shape != then.shape:
        return False
    words = f"u{now.itemsize}" if now.itemsize in (1, 2, 4, 8) else "u1"
    return np.array_equal(now.reshape(-1).view(words), then.reshape(-1).view(words))
