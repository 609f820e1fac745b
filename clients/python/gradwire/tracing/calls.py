"""Calls of libraries' functions on recorded arrays, as program text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradwire.tracing import literals
from gradwire.tracing.multi_output import results
from gradwire.tracing.shapes import Aval, called
from gradwire.tracing.terms import Term
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import Trace, not_traceable

#: Parameters that do not change the result, or whose default is the only supported value.
OF_NO_CONSEQUENCE = frozenset(
    "overwrite_a overwrite_b overwrite_ab overwrite_x overwrite_y check_finite lapack_driver "
    "workers subok casting kind stable copy device like assume_unique rng".split()
)


#: Functions of which a result's shape depends on values; those of each part, ``None`` for the sole.
BY_VALUES: dict[str, frozenset[int | None]] = {
    "np.linalg.lstsq": frozenset({1, 2}),
    "scipy.linalg.lstsq": frozenset({1, 2}),
    **dict.fromkeys(
        ("np.nonzero", "np.unique", "np.bincount", "np.extract", "np.compress", "np.flatnonzero",
         "np.argwhere", "np.repeat", "np.delete", "np.insert"),
        frozenset({None, *range(4)}),
    ),
}  # fmt: skip
#: Those whose result is in the usual order of elements in memory where the arguments are.
IN_ORDER = frozenset(
    "np.zeros np.ones np.empty np.full np.zeros_like np.ones_like np.empty_like np.full_like "
    "np.where np.stack np.concatenate np.hstack np.vstack np.tile np.repeat np.take np.sort "
    "np.cumsum np.cumprod np.clip np.round np.outer np.dot np.linspace np.roll np.tril np.triu "
    "np.sum np.mean np.max np.min np.var np.std np.prod np.select".split()
)
#: Those whose first argument's values do not matter.
COUNTED = frozenset({"np.repeat", "np.delete", "np.insert"})


def record_call(
    trace: Trace,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    """Record ``function(*args, **kwargs)`` as a call of ``name`` in the language."""
    given = {key: value for key, value in kwargs.items() if not _is_left_out(key, value)}
    term = literals.call(name, args, given, lambda value: to_term(value, trace))
    held = results(name, function, args, kwargs)
    measured = BY_VALUES.get(name, frozenset())
    if name in COUNTED and not any(isinstance(value, Tracer) for value in args[1:]):
        measured = frozenset()
    if held is None:
        if None in measured:
            return Tracer(term, trace)
        in_order = name in IN_ORDER and all(map(is_ordered, (*args, *kwargs.values())))
        return Tracer(
            term,
            trace,
            infer=lambda: _aval(called(function, args, kwargs)),
            is_ordered=in_order,
        )
    tried: list[Any] = []

    def aval(index: int) -> Aval | None:
        if not tried:
            tried.append(called(function, args, kwargs))
        return None if tried[0] is None else _aval(tried[0][index])

    return held.kind(
        [
            part(term, trace, i, None if i in measured else partial(aval, i))
            for i in range(held.count)
        ]
    )


def is_ordered(value: Any) -> bool:
    """True if an array, or each in a list, is in C order."""
    if isinstance(value, Tracer):
        return value._is_ordered
    if isinstance(value, np.ndarray):
        return value.flags.c_contiguous
    return not isinstance(value, (list, tuple)) or all(map(is_ordered, value))


def part(term: Term, trace: Trace, index: int, infer: Callable[[], Aval | None] | None) -> Tracer:
    """One of the arrays of a term with several."""
    return Tracer(literals.part(term, index), trace, infer=infer)


def into(out: Any, result: Any) -> Any:
    """Write results into the arrays of ``out=``."""
    targets = out if isinstance(out, tuple) else (out,)
    made = result if isinstance(result, tuple) else (result,)
    for target, value in zip(targets, made, strict=True):
        if target is None:
            continue
        if not isinstance(target, Tracer):
            raise not_traceable(
                "a recorded result cannot be written into a plain NumPy array",
                "build the result from its parts (numpy.stack, numpy.concatenate), or start from "
                "numpy.zeros_like(x) or numpy.zeros(shape, like=x) of a recorded array x",
            )
        target[...] = value
    given = tuple(
        [value if target is None else target for target, value in zip(targets, made, strict=True)]
    )
    return given if isinstance(result, tuple) else given[0]


def _is_left_out(name: str, value: Any) -> bool:
    if value is np._NoValue or name in OF_NO_CONSEQUENCE:
        return True
    if name == "dtype" and value is None:
        return True
    return name == "order" and value in ("C", "K", "A", None)


def _aval(value: Any) -> Aval | None:
    if value is None or isinstance(value, (list, tuple)):
        return None
    array = np.asarray(value)
    return Aval(array.shape, array.dtype)
