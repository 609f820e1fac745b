"""Calls of libraries' functions on recorded arrays, as terms."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradwire import hints
from gradwire.tracing import literals
from gradwire.tracing.multi_output import results
from gradwire.tracing.raising import check_invertible, checked
from gradwire.tracing.shapes import BY_VALUES, Aval, called
from gradwire.tracing.tracer import Tracer, to_term
from gradwire.tracing.traces import not_traceable

#: Parameters that do not change the result, or whose default is the only supported value.
OF_NO_CONSEQUENCE = frozenset(
    "overwrite_a overwrite_b overwrite_ab overwrite_x overwrite_y check_finite lapack_driver "
    "workers subok casting kind stable copy device like assume_unique rng".split()
)
#: Functions of which a result's shape depends on values; those of each part, ``None`` for the sole.
OF_UNKNOWN_SHAPE: dict[str, frozenset[int | None]] = {
    "np.linalg.lstsq": frozenset({1, 2}),
    "scipy.linalg.lstsq": frozenset({1, 2}),
    **dict.fromkeys(
        ("np.nonzero", "np.unique", "np.bincount", "np.extract", "np.compress", "np.flatnonzero",
         "np.argwhere", "np.repeat", "np.delete", "np.insert", "np.histogram",
         "np.histogram_bin_edges", "np.polydiv", "np.setxor1d", "np.ix_",
         "scipy.linalg.null_space", "scipy.linalg.orth", "scipy.linalg.subspace_angles"),
        frozenset({None, *range(4)}),
    ),
}  # fmt: skip
#: Those whose result is in the usual order of elements in memory where the arguments are.
IN_ORDER = frozenset(
    "np.zeros np.ones np.empty np.full np.zeros_like np.ones_like np.empty_like np.full_like "
    "np.where np.stack np.concatenate np.hstack np.vstack np.tile np.repeat np.take np.sort "
    "np.cumsum np.cumprod np.clip np.round np.outer np.dot np.roll np.tril np.triu "
    "np.sum np.mean np.max np.min np.var np.std np.prod np.select".split()
)
#: Libraries of which functions raise an error where a matrix has not what they need.
RAISING = ("np.linalg.", "scipy.linalg.")
INVERTING = frozenset(f"{home}{name}" for home in RAISING for name in ("solve", "inv"))
#: Those whose first argument's values do not matter.
COUNTED = frozenset({"np.repeat", "np.delete", "np.insert"})


def record_call(name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Record ``function(*args, **kwargs)`` as a call of ``name`` in the language."""
    if name in INVERTING:
        check_invertible(function, args, kwargs)
    made = _recorded(name, function, args, kwargs)
    return checked(made, function, args, kwargs) if name.startswith(RAISING) else made


def _recorded(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    given = {key: value for key, value in kwargs.items() if not _is_left_out(key, value)}
    term = literals.call(name, args, given, to_term)
    held = results(name, function, args, kwargs)
    by_value = OF_UNKNOWN_SHAPE.get(name, frozenset())
    if name in COUNTED and not any(isinstance(value, Tracer) for value in args[1:]):
        by_value = frozenset()
    if held is None:
        infer = None if None in by_value else lambda: _single(called(function, args, kwargs))
        in_order = name in IN_ORDER and all(map(is_ordered, (*args, *kwargs.values())))
        return Tracer(term, infer=infer, is_ordered=in_order)

    def aval(index: int) -> Any:
        made = called(function, args, kwargs)
        if made is None or made is BY_VALUES:
            return made
        return made[index] if index < len(made) else BY_VALUES

    parts = [
        Tracer(literals.part(term, i), infer=None if i in by_value else partial(aval, i))
        for i in range(held.count)
    ]
    return held.kind(parts)


def is_ordered(value: Any) -> bool:
    """True if an array, or each in a list, is in C order."""
    if isinstance(value, Tracer):
        return value._is_ordered
    if isinstance(value, np.ndarray):
        return value.flags.c_contiguous
    return not isinstance(value, (list, tuple)) or all(map(is_ordered, value))


def known_order(order: str | None, a: Tracer) -> str:
    """C or F, the order of elements that an ``order`` means.

    Raises: ``NotTraceable`` if it is that in memory, which is not known of this array.
    """
    if order is None or order in "Cc":
        return "C"
    if order not in "Ff" and a.ndim > 1 and not a.is_ordered:
        raise not_traceable(
            f"the order {order!r} is that of the elements in memory, which is not known here",
            "order='C' and order='F' are the same for every array",
        )
    return "F" if order in "Ff" else "C"


def check_recorded(target: Any) -> None:
    """Raise an error unless recorded results can be written into an array."""
    if not isinstance(target, Tracer):
        raise not_traceable(
            "a recorded result cannot be written into a plain NumPy array", hints.TO_FILL
        )


def into(out: Any, result: Any) -> Any:
    """Write results into the arrays of ``out=``."""
    found = []
    for target, value in zip(listed(out), listed(result), strict=True):
        if target is not None:
            check_recorded(target)
            target[...] = value
        found.append(value if target is None else target)
    return tuple(found) if isinstance(result, tuple) else found[0]


def listed(value: Any) -> tuple[Any, ...]:
    """The results of a function of one or of several."""
    return value if isinstance(value, tuple) else (value,)


def _is_left_out(name: str, value: Any) -> bool:
    if value is np._NoValue or name in OF_NO_CONSEQUENCE:
        return True
    if name == "dtype" and value is None:
        return True
    return name == "order" and value in ("C", "K", "A", None)


def _single(made: Any) -> Any:
    return None if isinstance(made, tuple) and not isinstance(made, Aval) else made
