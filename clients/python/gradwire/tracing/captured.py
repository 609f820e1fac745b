"""Captured values: globals, closures and defaults of a function, and of all that it calls.

A recording is valid while none of them, and nothing in them, has changed. They may include
libraries' functions (``from scipy.linalg import expm``), which are patched during a recording. What
it calls are also the methods of the objects that it reads, wherever it finds these.
"""

from __future__ import annotations

import decimal
import dis
import locale
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradwire.tracing.classes import BUILTINS
from gradwire.tracing.lazy_arrays import from_outside
from gradwire.tracing.libraries import SCIPY, substitute_of
from gradwire.tracing.number_classes import CLASSES
from gradwire.tracing.patching import PATCHES, Binding, Patch
from gradwire.tracing.purity import DRAWING, is_home_of_pure
from gradwire.tracing.state import OfProcess, State, equal
from gradwire.tracing.traces import LIBRARIES

#: Names by which a function reads the environment of its process.
_ENVIRONMENT = frozenset({"environ", "getenv"})

#: Names by which it reads something else of the process.
_OF_PROCESS: Mapping[str, Callable[[], Any]] = {
    "Decimal": lambda: repr(decimal.getcontext()),
    "current_thread": lambda: threading.current_thread().name,
    "getcontext": lambda: repr(decimal.getcontext()),
    "cwd": os.getcwd,
    "getcwd": os.getcwd,
    "geterr": np.geterr,
    "getlocale": locale.getlocale,
    "getrecursionlimit": sys.getrecursionlimit,
    "get_printoptions": np.get_printoptions,
}
#: Builtins, and attributes, by which it reads what its code does not name.
_UNNAMED = frozenset({"eval", "exec", "globals"})
_UNNAMED_MEMBERS = frozenset({"__globals__", "f_globals", "f_locals"})
#: Names by which it reads a member of a module that is not named, and a module.
_ANY_MEMBER = frozenset({"__dict__", "attrgetter", "getattr", "vars"})
_ANY_MODULE = frozenset({"__import__", "import_module"})
#: What changes in a library's module: its other members are functions, classes and modules.
_DATA = (bool, int, float, complex, str, bytes, tuple, list, dict, set)

#: Builtins that give the same for the same.
_PURE_BUILTINS = frozenset(
    "abs all any bool complex dict divmod enumerate filter float frozenset int isinstance "
    "issubclass iter len list map max min next pow print range reversed round set slice sorted "
    "str sum super tuple type zip".split()
)
#: Most instructions before that of ``is`` which load its operands.
_OPERANDS = 8


class Captured:
    """Functions' captured values; when one changes, the functions are recorded again."""

    __slots__ = ("_bindings", "_held", "_pythons", "_state")

    def __init__(self, *pythons: Callable[..., Any]) -> None:
        self._pythons = pythons
        self._bindings: list[tuple[Binding, Any]] = []
        #: Those of functions in lists, classes, dictionaries and attributes, and builtins.
        self._held: list[Patch] = []
        self._state: State | None = None

    def changed(self) -> bool:
        """True if a captured value, or anything in it, is another than at the last call."""
        if self._state is None:
            self._look()
            return False
        if not self._state.changed():
            for binding, value in self._bindings:
                holder = binding.holder
                now = holder.get(binding.name) if type(holder) is dict else binding.read()
                if now is not value and not equal(value, PATCHES.original(binding)):
                    break
            else:
                return False
        self._look()
        return True

    @property
    def is_pure(self) -> bool:
        """True if nothing that the functions call can give another result the next time.

        That is known of the functions of NumPy, SciPy and Gradwire, and of the user's own that call
        no others.
        """
        state = self._state
        return state is not None and state.is_pure and all(map(_calls_pure, state.functions()))

    @property
    def unknown(self) -> str | None:
        """The captured values that cannot be compared, in words, if there are any."""
        return None if self._state is None else self._state.unknown

    def library_patches(self) -> list[Patch]:
        """The patches of libraries' functions among the captured values."""
        found = [Patch(binding, value, _replaced(value)) for binding, value in self._bindings]
        return [each for each in found if each.substitute is not None] + self._held

    def value_patches(self) -> list[Patch]:
        """Patches for arrays, so that what is made of them may become recorded, and for numbers.

        ``float`` and ``complex`` of Python are given as names of their own to functions that do not
        compare them by ``is``.
        """
        if self._state is None:
            return []
        compared = self.compared
        places = [(Binding(holder, name), value) for holder, name, value in self._state.items()]
        patches = [Patch(*each, _wider(each[1], compared)) for each in (*places, *self._bindings)]
        for function in self._state.functions():
            names = {*_names(function.__code__)} - {*function.__globals__} - compared
            patches += [
                Patch(Binding(function.__globals__, kind.__name__), None, CLASSES[id(kind)])
                for kind in (float, complex)
                if kind.__name__ in names
            ]
        return [patch for patch in patches if patch.substitute is not patch.original]

    @property
    def compared(self) -> frozenset[str]:
        """The names that functions compare by ``is``, ``True`` and ``False`` among them."""
        if self._state is None:
            return frozenset()
        return frozenset[str]().union(
            *[_compared(function.__code__) for function in self._state.functions()]
        )

    def _look(self) -> None:
        bindings: dict[tuple[int, str], tuple[Binding, Any]] = {}

        def captured(function: FunctionType) -> Iterator[Any]:
            names = [*_names(function.__code__)]
            _load_libraries(names)
            yield from _of_process(names)
            yield from map(OfProcess, sorted(_unnamed(function, names)))
            for binding in _read_by(function, names):
                value = PATCHES.original(binding)
                bindings[binding.key] = binding, value
                yield value

        self._state = State(self._pythons, captured)
        self._held = [*_held(self._state), *_asking(self._state)]
        self._bindings = list(bindings.values())


def _wider(value: Any, compared: frozenset[str]) -> Any:
    """A substitute for a value, which may become recorded or takes recorded values."""
    kind = CLASSES.get(id(value))
    if kind is not None:
        return value if kind.__name__ in compared else kind
    return value if "ndarray" in compared else from_outside(value)


def _held(state: State) -> Iterator[Patch]:
    """Patches of the libraries' functions that containers, objects and classes hold."""
    for holder, key, value in state.items():
        plain = value.__func__ if type(value) is staticmethod else value
        found = substitute_of(plain) if callable(plain) else None
        if found is not None:
            chosen = staticmethod(found) if isinstance(holder, type) else found
            yield Patch(Binding(holder, key), value, chosen)


def _asking(state: State) -> Iterator[Patch]:
    """Patches for functions that ask for classes, which get builtins as names of their own."""
    for function in state.functions():
        for name in BUILTINS.keys() & _globals_of(function.__code__):
            place = Binding(function.__globals__, name)
            if PATCHES.original(place) is None:
                yield Patch(place, None, BUILTINS[name])


def _replaced(value: Any) -> Any:
    """The substitute of a library's function, or of defaults that contain some; else ``None``."""
    if type(value) is not tuple:
        return substitute_of(value)
    parts = [substitute_of(part) for part in value]
    if all(part is None for part in parts):
        return None
    return tuple([old if new is None else new for old, new in zip(value, parts, strict=True)])


def _of_process(names: Sequence[str]) -> Iterator[Any]:
    """Objects of the whole process that a function may read by these names."""
    if not _ENVIRONMENT.isdisjoint(names):
        yield os.environ
    yield from (OfProcess(name, _OF_PROCESS[name]) for name in names if name in _OF_PROCESS)
    if "random" in names:
        yield np.random.mtrand._rand
        if "random" in sys.modules:
            yield vars(sys.modules["random"])["_inst"]


def _calls_pure(function: FunctionType) -> bool:
    """True if the code names nothing but what is pure; its values are looked at elsewhere."""
    code, scope = function.__code__, function.__globals__
    if not DRAWING.isdisjoint(_names(code)) or "IMPORT_NAME" in _operations(code):
        return False
    for name in _globals_of(code):
        if name in scope:
            value = scope[name]
            if isinstance(value, ModuleType) and not is_home_of_pure(value.__name__):
                return False
        elif name not in _PURE_BUILTINS and not name.endswith(("Error", "Exception", "Iteration")):
            return False
    return True


def _unnamed(function: FunctionType, names: Sequence[str]) -> frozenset[str]:
    """The names by which a function reads what nobody knows before."""
    used = _globals_of(function.__code__)
    found = (_UNNAMED & used) - {*function.__globals__} | _UNNAMED_MEMBERS.intersection(names)
    if not _ANY_MODULE.isdisjoint(names) and not _modules(function, names):
        found |= _ANY_MODULE.intersection(names)
    return found


def _modules(function: FunctionType, names: Sequence[str]) -> list[str]:
    """The names of modules that a function reads by a text."""
    if _ANY_MODULE.isdisjoint(names) and not {"sys", "modules"}.issubset(names):
        return []
    return [text for text in _texts(function.__code__) if text in sys.modules]


def _texts(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _texts(constant)


@lru_cache(maxsize=1024)
def _globals_of(code: CodeType) -> frozenset[str]:
    """The names that code reads as such, not as attributes."""
    steps = dis.get_instructions(code)
    found = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return frozenset(found).union(*map(_globals_of, _inner(code)))


@lru_cache(maxsize=1024)
def _operations(code: CodeType) -> frozenset[str]:
    found = {step.opname for step in dis.get_instructions(code)}
    return frozenset(found).union(*map(_operations, _inner(code)))


def _inner(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _load_libraries(names: Sequence[str]) -> None:
    """Import what a function imports when it is called, to have its substitutes by then."""
    for name in names:
        if name in SCIPY and name not in sys.modules:
            with suppress(ImportError):  # it is the function's own error
                import_module(name)


def _read_by(function: FunctionType, names: Sequence[str]) -> Iterator[Binding]:
    """The bindings that a function reads: cells, defaults, and globals of its and other modules."""
    for cell in function.__closure__ or ():
        yield Binding(cell, "cell_contents")
    if function.__defaults__:
        yield Binding(function, "__defaults__")
    if function.__kwdefaults__:
        yield Binding(function, "__kwdefaults__")
    imported = [sys.modules.get(name) for name in (*names, *_modules(function, names))]
    any_member = not _ANY_MEMBER.isdisjoint(names)
    scopes = [function.__globals__, *[vars(each) for each in imported if _is_user_s(each)]]
    known = set(map(id, scopes))
    for scope in scopes:  # which grows
        for name in [*scope] if any_member and scope is not function.__globals__ else names:
            if name not in scope:
                continue
            value = scope[name]
            if not isinstance(value, ModuleType):
                yield Binding(scope, name)
            elif not _is_user_s(value):
                held = vars(value)
                yield from (Binding(held, each) for each in names if type(held.get(each)) in _DATA)
            elif id(vars(value)) not in known:
                known.add(id(vars(value)))
                scopes.append(vars(value))


def _is_user_s(module: ModuleType | None) -> bool:
    """True of a module that is no library's, nor Python's own; one may be made without a file."""
    if module is None or module.__name__ in sys.builtin_module_names:
        return False
    path = getattr(module, "__file__", None)
    return path is None or not path.startswith(LIBRARIES)


@lru_cache(maxsize=1024)
def _compared(code: CodeType) -> frozenset[str]:
    steps, found = [*dis.get_instructions(code)], set[str]()
    for i, step in enumerate(steps):
        names = [str(each.argval) for each in steps[max(i - _OPERANDS, 0) : i]]
        if step.opname == "IS_OP" or (step.opname == "COMPARE_OP" and "ndarray" in names):
            found.update(names)
    return frozenset(found).union(*map(_compared, _inner(code)))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
