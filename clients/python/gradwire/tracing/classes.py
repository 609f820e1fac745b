"""Python's builtins that ask for an object's class, or open a file, for code that is recorded.

All recorded values are of one class. To the function they are of NumPy's, or Python's numbers:
``type(x) is np.ndarray``, ``isinstance(x[0], Iterable)``, ``hasattr(x, "__len__")``.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import numpy as np

from gradwire.tracing.lazy_arrays import RecordableArray
from gradwire.tracing.tracer import Tracer
from gradwire.tracing.traces import current


class _OfTypes(type):
    """The class of ``type`` as it is during a recording, which is the original in all else."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not _TYPE or len(args) > 1 or kwargs:
            return type.__call__(type if cls is _TYPE else cls, *args, **kwargs)
        found: Any = type(*args)
        if issubclass(found, Tracer):
            return args[0].numpy_class
        if found in (type, _OfTypes):
            return _TYPE
        return np.ndarray if found is RecordableArray else found

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, type) if cls is _TYPE else super().__instancecheck__(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, type) if cls is _TYPE else super().__subclasscheck__(kind)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (cls is _TYPE and other is type)

    def __hash__(cls) -> int:
        return hash(type) if cls is _TYPE else super().__hash__()


_TYPE: Any = _OfTypes("type", (type,), {})


def _isinstance(value: Any, kinds: Any, /) -> bool:
    """``isinstance``, by the class alone: an ABC would look at the methods of recorded values."""
    if not issubclass(type(value), Tracer):
        return isinstance(value, kinds)
    try:
        return issubclass(value.numpy_class, kinds)
    except TypeError:  # a protocol with attributes, or no class
        return isinstance(value, kinds)


def _has(value: Any, name: str) -> bool:
    return any(name in vars(kind) for kind in value.numpy_class.__mro__)


def _hasattr(value: Any, name: str, /) -> bool:
    """``hasattr``, by what NumPy's class has."""
    return _has(value, name) if issubclass(type(value), Tracer) else hasattr(value, name)


def _getattr(value: Any, name: str, /, *default: Any) -> Any:
    """``getattr``, with its default for what NumPy's class has not."""
    if default and issubclass(type(value), Tracer) and not _has(value, name):
        return default[0]
    return getattr(value, name, *default)


def noting(original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that reads a file, which the recording notes: it may be another at each call."""

    def function(*args: Any, **kwargs: Any) -> Any:
        trace = current()
        mode = args[1] if len(args) > 1 else kwargs.get("mode", "r")
        if trace is not None and not (original is open and _writes(mode)):
            trace.reads_files = True
        return original(*args, **kwargs)

    return update_wrapper(function, original)


def _writes(mode: Any) -> bool:
    """True of the modes of files that are written alone."""
    return isinstance(mode, str) and not {*"wax"}.isdisjoint(mode) and "+" not in mode


#: By their names, what takes their place.
BUILTINS: dict[str, Any] = {
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "open": noting(open),
    "type": _TYPE,
}
#: With the originals, for code that has them by other names, and NumPy's that read files.
SUBSTITUTES: list[tuple[Any, Any]] = [
    *[(vars(builtins)[name], own) for name, own in BUILTINS.items()],
    *[(each, noting(each)) for each in (np.load, np.loadtxt, np.genfromtxt, np.fromfile)],
]
