"""The arguments of terms: which values are part of a program, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

from gradwire.bfloat16 import name_of
from gradwire.errors import NotTraceable
from gradwire.tracing.terms import ITEM, NOTHING, Term, user_place

#: Returns the term of a computed value, or ``None`` for a value to write out.
ToTerm = Callable[[Any], "Term | None"]


def converted(value: Any, to_term: ToTerm) -> Any:
    """An argument as terms hold it: what is computed as a term, everything else as it is.

    Lists, tuples, ranges, dictionaries and slices are copied. ``NotTraceable`` for a value that
    cannot be part of a program.
    """
    term = to_term(value)
    if term is not None:
        return term
    if type(value) in (int, float):
        return value
    if isinstance(value, tuple):
        return tuple([converted(item, to_term) for item in value])
    if isinstance(value, (list, range)):
        return [converted(item, to_term) for item in value]
    if isinstance(value, Mapping):
        return {literal(name): converted(item, to_term) for name, item in value.items()}
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return slice(*[converted(bound, to_term) for bound in bounds])
    literal(value)
    return value


def call(op: str, args: Iterable[Any], kwargs: Mapping[str, Any], to_term: ToTerm) -> Term:
    """``op(*args, **kwargs)`` as a term."""
    return Term(op, *call_arguments(args, kwargs, to_term))


def call_arguments(
    args: Iterable[Any], kwargs: Mapping[str, Any], to_term: ToTerm
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    """The arguments of a call as its term holds them."""
    given = tuple([converted(arg, to_term) for arg in args])
    if not kwargs:
        return given, NOTHING
    return given, {name: converted(arg, to_term) for name, arg in kwargs.items()}


def item(term: Term, key: Any, to_term: ToTerm) -> Term:
    """``term[key]`` as a term."""
    return Term(ITEM, (term, converted(key, to_term)))


def part(whole: Term, index: int) -> Term:
    """One of the values of a term that is a list."""
    return Term(ITEM, (whole, index))


def raveled(term: Term) -> Term:
    """A term's elements in one axis."""
    return Term("np.ravel", (term,))


def reshaped(term: Term, shape: Iterable[int]) -> Term:
    """A term's elements in these axes."""
    return Term("np.reshape", (term, list(shape)))


def literal(value: Any) -> str:
    """A Python value as program text; ``NotTraceable`` if it has none."""
    if type(value) is int:
        return str(value)
    if type(value) is float:
        return _real(value)
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    if isinstance(value, EllipsisType):
        return "..."
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return repr(name_of(np.dtype(value)))
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({literal(value.item())})"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _real(value)
    if isinstance(value, complex):
        return f"complex({_real(value.real)}, {_real(value.imag)})"
    if isinstance(value, type) and value in _PYTHON_DTYPES:
        return repr(_PYTHON_DTYPES[value])
    raise NotTraceable(
        f"a value of type {type(value).__name__} cannot be part of a program: {value!r:.80}",
        place=user_place(),
        hint="numbers, strings, dtypes, arrays and lists of these can, as NumPy takes them",
    )


_PYTHON_DTYPES = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}


def _real(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
