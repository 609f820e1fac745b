"""Constraints ``low ≤ c(x) ≤ high`` that are programs, as SciPy's methods take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import BFGS, NonlinearConstraint

from gradwire_engine.answer import Array
from gradwire_engine.errors import InputError, Place
from gradwire_engine.solvers.local import LocalProblem
from gradwire_engine.solvers.objective import Jacobian
from gradwire_engine.solvers.points import Recent, check_start
from gradwire_engine.solvers.progress import Monitor
from gradwire_engine.solvers.specification import Bound, Constraint, bound

#: A constraint is active within this distance, relative to its bound's size or 1.
_ACTIVE = 1e-6


class Limits:
    """One constraint, with its bounds for each element of ``c(x)``.

    Raises: ``InputError`` for bounds that do not fit.
    """

    def __init__(
        self, problem: LocalProblem, given: Constraint, number: int, monitor: Monitor
    ) -> None:
        at = f"/constraints/{number}"
        pointer = f"{at}/target" if given.program is None else f"{at}/program"
        self._function = function = problem.other(given.program, given.target, pointer)

        def values(x: Array) -> Array:
            monitor.look()
            return function.residuals(x)

        def slopes(x: Array) -> Jacobian:
            monitor.look()
            return function.jacobian(x)

        self.values, self.jacobian = Recent(values), Recent(slopes)
        start = self.values(problem.start)
        with function.placed():
            check_start(function.notes, start)
        if not start.size:
            raise InputError("the constraint has no values", at=Place(pointer=pointer))
        shape = np.shape(function.nested(start)) if function.is_array else start.shape
        self.low = _limits(given.low, -np.inf, shape, f"{at}/low")
        self.high = _limits(given.high, np.inf, shape, f"{at}/high")
        if (self.low > self.high).any():
            raise InputError("low is above high", at=Place(pointer=at))
        if np.isinf(self.low).all() and np.isinf(self.high).all():
            hint = "give low, high, or both"
            raise InputError("the constraint has no bounds", at=Place(pointer=at), hint=hint)

    def nonlinear(self) -> NonlinearConstraint:
        """The constraint as trust-constr takes it, its curvature by quasi-Newton updates."""
        return NonlinearConstraint(self.values, self.low, self.high, jac=self.jacobian, hess=BFGS())

    def one_sided(self) -> list[dict[str, Any]]:
        """The constraint as SLSQP takes it: ``g(x) = 0`` and ``g(x) ≥ 0``."""
        equal = self.low == self.high
        lower, upper = np.isfinite(self.low) & ~equal, np.isfinite(self.high) & ~equal
        found: list[dict[str, Any]] = []
        if equal.any():
            found.append(
                {
                    "type": "eq",
                    "fun": lambda x: (self.values(x) - self.low)[equal],
                    "jac": lambda x: self._dense(x)[equal],
                }
            )
        if lower.any() or upper.any():
            found.append(
                {
                    "type": "ineq",
                    "fun": lambda x: np.concatenate(
                        [(self.values(x) - self.low)[lower], (self.high - self.values(x))[upper]]
                    ),
                    "jac": lambda x: np.concatenate(
                        [self._dense(x)[lower], -self._dense(x)[upper]]
                    ),
                }
            )
        return found

    def active(self, x: Array) -> Array:
        """The gradients of the elements that are at a bound."""
        values, low, high = self.values(x), self.low, self.high
        near = np.zeros(values.shape, bool)
        for limit in (low, high):
            finite = np.where(np.isfinite(limit), limit, 0.0)
            within = np.abs(values - finite) <= _ACTIVE * np.maximum(np.abs(finite), 1.0)
            near |= np.isfinite(limit) & within
        return self._dense(x)[near]

    def violation(self, x: Array) -> float:
        """How far the values are outside their bounds at most, relative to these or 1."""
        values = self.values(x)
        outside = [
            over[finite] / np.maximum(np.abs(limit[finite]), 1.0)
            for over, limit in ((self.low - values, self.low), (values - self.high, self.high))
            for finite in [np.isfinite(limit)]
        ]
        return float(np.concatenate(outside).max(initial=0.0))

    def _dense(self, x: Array) -> Array:
        return self._function.dense(self.jacobian(x))


def lagrangian_norm(gradient: Array, active: Sequence[Array]) -> float:
    """The largest element of ``∇f − Aᵀ λ`` for the multipliers ``λ`` that make it shortest.

    Source: Nocedal and Wright, Numerical Optimization (2006), 18.1.
    """
    rows = np.concatenate([*active, np.zeros((0, gradient.size))])
    if rows.size:
        multipliers, *_ = np.linalg.lstsq(rows.T, gradient, rcond=None)
        gradient = gradient - rows.T @ multipliers
    return float(np.abs(gradient).max())


def _limits(given: Bound, default: float, shape: tuple[int, ...], pointer: str) -> Array:
    if given is None:
        given = default
    return np.ravel(bound(given, shape, Place(pointer=pointer)))
