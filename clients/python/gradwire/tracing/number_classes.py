"""Classes of numbers that take recorded values, too: ``float(x)``, ``np.float32(x)``.

Python's own ones need a number at once. These take their place where a function cannot be recorded
without them, and differ from them in nothing else that it sees: dtypes, ``isinstance`` and ``==``.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradwire.tracing.lazy_arrays import holds_recorded, unwrapped
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, python_number, term_of
from gradwire.tracing.traces import LIBRARIES, current, not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np
#: By the id of the original, those that NumPy's module gives to the code that is recorded.
_IN_USE: ContextVar[dict[int, type]] = ContextVar("gradwire_number_classes", default={})  # noqa: B039


class _OfNumbers(type):
    """The class of a class that converts recorded values, and is the original in all else."""

    original: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if current() is None or not holds_recorded((args, kwargs)):
            return cls.original(*args, **kwargs)
        return converted(cls.original, *map(unwrapped, args), **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        if issubclass(type(value), Tracer):
            return issubclass(value.numpy_class, cls.original)
        return isinstance(value, cls.original)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.original)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.original

    def __hash__(cls) -> int:
        return hash(cls.original)


def _class_for(original: type) -> type:
    named = {"original": original, "dtype": np.dtype(original), "__module__": original.__module__}
    return _OfNumbers(original.__name__, (original,), named)


def converted(original: type, value: Any = 0, imaginary: Any = None) -> Any:
    """A recorded value as ``original(value)`` converts it."""
    dtype = np.dtype(original)
    if imaginary is not None:
        whole = term_of("complex", _number(original, value), _number(original, imaginary))
        return Tracer(Term("np.astype", (whole, dtype)), weak=original is complex)
    if issubclass(original, np.generic):
        return _np.asarray(value).astype(dtype)[()]
    number = _number(original, value)
    return python_number(number if number.dtype == dtype else number.astype(dtype))


def _number(original: type, value: Any) -> Any:
    made = _np.asarray(value)
    if made.dtype.kind == "c" and original is float:
        raise not_traceable("float() of a complex number", "take its real part: x.real")
    return made.reshape(())


#: By the id of the original, those of Python and of NumPy.
CLASSES: dict[int, type] = {
    id(original): _class_for(original)
    for original in (
        float,
        complex,
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
    )
}


@contextmanager
def in_use(compared: Collection[str]) -> Iterator[None]:
    """Have NumPy's module give these, except those that are compared by ``is``."""
    given = {key: kind for key, kind in CLASSES.items() if kind.__name__ not in compared}
    token = _IN_USE.set(given)
    try:
        yield
    finally:
        _IN_USE.reset(token)


def class_for(value: Any) -> type | None:
    """The class that the user's own code gets in place of one of NumPy's, if they are in use."""
    found = _IN_USE.get().get(id(value))
    if found is None or sys._getframe(3).f_code.co_filename.startswith(LIBRARIES):
        return None
    return found
