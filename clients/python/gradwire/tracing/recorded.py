"""Nested values as terms and recorded arrays, for arguments and results of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.shapes import Aval
from gradwire.tracing.structures import Structure, flatten, is_array_like
from gradwire.tracing.terms import VALUE, Leaf, Term
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import Trace, current


def is_number(value: Any) -> bool:
    """True if a value is an array or a number, recorded or not."""
    return isinstance(value, (Tracer, int)) or is_array_like(value)


def as_term(value: Any, trace: Trace) -> Term:
    """The term of an array or a number: a variable if it is not recorded."""
    term = to_term(value, trace)
    if term is None:
        term = Leaf(np.asarray(value, np.float64 if isinstance(value, int) else None))
    return term


def item_of(
    whole: Term,
    index: int,
    trace: Trace,
    aval: Aval | None = None,
    infer: Callable[[], Aval | None] | None = None,
) -> Tracer:
    """A part of a term that is a list."""
    return Tracer(literals.part(whole, index), trace, aval, infer=infer)


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
    trace = recording()
    return [part if isinstance(part, Tracer) else _plain(part, trace) for part in parts]


def _plain(part: Any, trace: Trace) -> Tracer:
    array = np.asarray(part, np.float64 if isinstance(part, int) else None)
    return Tracer(as_term(part, trace), trace, Aval(array.shape, array.dtype))


def recording() -> Trace:
    """The current recording."""
    trace = current()
    if trace is None:
        raise RuntimeError("nothing is being recorded here")
    return trace
