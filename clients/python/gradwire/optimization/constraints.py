"""Constraints in SciPy's forms, as functions or programs between two ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire.errors import UsageError
from gradwire.hidden import plain
from gradwire.tracing.recorded import outputs
from gradwire.trees import is_list
from gradwire.usage import used


class Constraint(NamedTuple):
    """A value that stays between two ends; both equal for an equality."""

    #: A function of the parameters, a program, or the name of an intermediate as ``{"target": …}``.
    of: Any
    low: Any
    high: Any

    def document(self, of: Mapping[str, Any]) -> dict[str, Any]:
        """Its member of a request, whose values are those ``of`` names."""
        return {**of, "low": _sent(self.low, -np.inf), "high": _sent(self.high, np.inf)}


class Linear(NamedTuple):
    """A product with the elements of all parameters in a row."""

    matrix: Any

    def __call__(self, x: Any) -> Any:
        """The product, of recorded parameters."""
        parts, _ = outputs(x)
        return self.matrix @ np.concatenate([part.flatten() for part in parts])


def constraints_of(given: Any) -> list[Constraint]:
    """The constraints that are given: one or several, in any of SciPy's forms, or as sent.

    These are ``NonlinearConstraint``, ``LinearConstraint``, and ``{"type": "eq" or "ineq", "fun":
    …, "args"?: …}``; as sent ``{"program" or "target": …, "low"?: …, "high"?: …}``.
    """
    if given is None:
        return []
    with used("constraints"):
        several: Sequence[Any] = given if is_list(given) else [given]
        return [_one(each, i) for i, each in enumerate(several)]


def _one(given: Any, place: int) -> Constraint:
    if hasattr(given, "lb") and hasattr(given, "ub"):
        if hasattr(given, "A"):
            return Constraint(Linear(_matrix(given.A)), given.lb, given.ub)
        if hasattr(given, "fun"):
            return Constraint(given.fun, given.lb, given.ub)
    if isinstance(given, Mapping) and "fun" in given:
        kind = given.get("type")
        if kind not in ("eq", "ineq"):
            raise UsageError(f"constraints[{place}] needs the type 'eq' or 'ineq', got {kind!r}")
        return Constraint(_applied(given), 0.0, 0.0 if kind == "eq" else np.inf)
    if isinstance(given, Mapping) and ("program" in given or "target" in given):
        of = given.get("program", {"target": given.get("target")})
        return Constraint(of, given.get("low"), given.get("high"))
    raise UsageError(
        f"constraints[{place}] is a {type(given).__name__}, not a constraint",
        hint="scipy.optimize.NonlinearConstraint(fun, low, high), LinearConstraint(A, low, high), "
        'or {"type": "ineq", "fun": fun}',
    )


def _applied(given: Mapping[str, Any]) -> Any:
    """The function of a constraint with its own further arguments."""
    fun, args = given["fun"], tuple(given.get("args", ()))
    if not args:
        return fun

    def applied(x: Any) -> Any:
        return fun(x, *args)

    return applied


def _matrix(matrix: Any) -> Any:
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.atleast_2d(plain(dense, "a constraint", np.float64))


def _sent(end: Any, unbounded: float) -> Any:
    """An end as it is sent: ``None`` for none, a number, or an array."""
    if end is None:
        return None
    values = plain(end, "a constraint", np.float64)
    if np.all(values == unbounded):
        return None
    return values if values.ndim else float(values)


def joined(f: Callable[..., Any], others: Sequence[Constraint]) -> Callable[..., Any]:
    """A function of the values of ``f`` and of all constraints."""

    def both(x: Any, *args: Any) -> Any:
        return f(x, *args), [_one_array(each.of(x)) for each in others]

    return both


def _one_array(values: Any) -> Any:
    """What a constraint's function returns, of a list of values the array."""
    return np.array(values) if is_list(values) else values
