"""Nested values as terms and recorded arrays, for arguments and results of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradwire.hidden import plain
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import Structure, flatten, is_array_like
from gradwire.tracing.terms import VALUE, Leaf, Term
from gradwire.tracing.tracer import Tracer, to_term


def is_number(value: Any) -> bool:
    """True if a value is an array or a number, recorded or not."""
    return isinstance(value, (Tracer, int)) or is_array_like(value)


def as_term(value: Any) -> Term:
    """The term of an array or a number: a variable if it is not recorded."""
    return to_term(value) or Leaf(_plain(value))


def aval_of(value: Any) -> Aval:
    """The shape and dtype of an array or a number."""
    given = value if isinstance(value, Tracer) else _plain(value)
    return Aval(given.shape, given.dtype)


def listed(items: Sequence[Term | Sequence[Term | None] | None]) -> Term:
    """A list of terms."""
    return Term(VALUE, (list(items),))


def outputs(value: Any) -> tuple[list[Tracer], Structure]:
    """A function's results as recorded arrays, and their structure."""
    parts, structure = numbers_of(value)
    return as_recorded(parts), structure


def numbers_of(value: Any) -> tuple[list[Any], Structure]:
    """Arrays and numbers, integers too, and their structure."""
    return flatten(value, is_number)


def as_recorded(parts: Sequence[Any]) -> list[Tracer]:
    """Arrays and numbers as recorded arrays."""
    return [part if isinstance(part, Tracer) else _recorded(part) for part in parts]


def _recorded(part: Any) -> Tracer:
    in_order = _plain(part).flags.c_contiguous
    return Tracer(as_term(part), aval_of(part), is_ordered=in_order)


def _plain(value: Any) -> NDArray[Any]:
    return plain(value, "a value", np.float64 if isinstance(value, int) else None)
