"""Constraints ``low ≤ c(x) ≤ high`` that are programs, as SciPy's methods take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import InputError, Place
from scipy.optimize import NonlinearConstraint, lsq_linear
from scipy.sparse import diags_array, issparse
from scipy.sparse.linalg import LinearOperator

from gradwire_solvers.local import LocalProblem
from gradwire_solvers.objective import Jacobian
from gradwire_solvers.points import Recent, check_start, checked_curvature
from gradwire_solvers.progress import Monitor
from gradwire_solvers.scaling import Box, Scaling, power_of_two
from gradwire_solvers.specification import Bound, Constraint, bound

#: A bound may hold a point within this distance, in the variable's or the constraint's unit.
_NEAR = 1e-4
#: Rounds of finding out which bounds hold: mostly two.
_ROUNDS = 20


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
        self._monitor, self._start = monitor, problem.start

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

    def scaled(self, x: Array, scaling: Scaling) -> ScaledLimits:
        """The constraint in the units of variables, and its own: how far these change it."""
        slopes = np.abs(self.dense(x)) @ scaling.variables
        units = power_of_two(np.where(slopes > 0, slopes, 1.0))
        return ScaledLimits(self, scaling, units)

    def curvature(self, x: Array, weights: Array) -> LinearOperator:
        """``Σ wᵢ ∇²cᵢ(x)``, by products."""

        def product(v: Array) -> Array:
            self._monitor.look()
            return checked_curvature(self._function.weighted_product(x, weights, np.ravel(v)))

        return LinearOperator((x.size, x.size), matvec=product, rmatvec=product, dtype=np.float64)

    def violation(self, x: Array) -> float:
        """The largest excess of the values beyond their bounds, relative to what they consist of.

        That is the largest of the bound, and of each variable's share ``|∂c/∂xᵢ · xᵢ|``.
        """
        values = self.values(x)
        outside = np.maximum(np.maximum(self.low - values, values - self.high), 0.0)
        if not outside.any():
            return 0.0
        return float((outside / self.sizes(x)).max())

    def sizes(self, x: Array) -> Array:
        """The sizes of what the values consist of."""
        start = np.maximum(np.abs(x), np.abs(self._start))
        shares = (np.abs(self.dense(x)) * start).max(axis=1, initial=0.0)
        limits = [np.where(np.isfinite(b), np.abs(b), 0.0) for b in (self.low, self.high)]
        sizes = np.maximum(shares, np.maximum(*limits))
        return np.where(sizes > 0, sizes, 1.0)

    def dense(self, x: Array) -> Array:
        """The Jacobian as an array."""
        return self._function.dense(self.jacobian(x))


class ScaledLimits:
    """A constraint in units of the variables, and of its own values, as SciPy's methods take it."""

    def __init__(self, limits: Limits, scaling: Scaling, units: Array) -> None:
        self._limits, self._scaling, self._units = limits, scaling, units
        self._low, self._high = limits.low / units, limits.high / units

    def nonlinear(self) -> NonlinearConstraint:
        """The constraint as trust-constr takes it, with its exact curvature."""
        return NonlinearConstraint(
            self._values, self._low, self._high, jac=self._jacobian, hess=self._curvature
        )

    def one_sided(self) -> list[dict[str, Any]]:
        """The constraint as SLSQP takes it: ``g(x) = 0`` and ``g(x) ≥ 0``."""
        low, high = self._low, self._high
        equal = low == high
        lower, upper = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
        found: list[dict[str, Any]] = []
        if equal.any():
            found.append(
                {
                    "type": "eq",
                    "fun": lambda z: (self._values(z) - low)[equal],
                    "jac": lambda z: self._dense(z)[equal],
                }
            )
        if lower.any() or upper.any():
            found.append(
                {
                    "type": "ineq",
                    "fun": lambda z: np.concatenate(
                        [(self._values(z) - low)[lower], (high - self._values(z))[upper]]
                    ),
                    "jac": lambda z: np.concatenate(
                        [self._dense(z)[lower], -self._dense(z)[upper]]
                    ),
                }
            )
        return found

    def _values(self, z: Array) -> Array:
        values: Array = self._limits.values(self._scaling.outside(z)) / self._units
        return values

    def _jacobian(self, z: Array) -> Jacobian:
        found, columns = self._limits.jacobian(self._scaling.outside(z)), self._scaling.variables
        if issparse(found):
            return diags_array(1 / self._units) @ found @ diags_array(columns)
        return found / self._units[:, None] * columns

    def _dense(self, z: Array) -> Array:
        found, columns = self._limits.dense(self._scaling.outside(z)), self._scaling.variables
        dense: Array = found / self._units[:, None] * columns
        return dense

    def _curvature(self, z: Array, weights: Array) -> LinearOperator:
        columns = self._scaling.variables
        inner = self._limits.curvature(self._scaling.outside(z), weights / self._units)

        def product(v: Array) -> Array:
            turned: Array = columns * inner.matvec(columns * np.ravel(v))
            return turned

        return LinearOperator(inner.shape, matvec=product, rmatvec=product, dtype=np.float64)


class Multipliers(NamedTuple):
    """The constraints and bounds that hold a point in its place, with their multipliers.

    ``gradient`` is that of the Lagrangian, ``weights`` have the multipliers of each constraint's
    values, ``normals`` the gradients of those that hold, ``free`` says which variables no bound
    holds, and ``slack`` is what the value changes by on the way to where all that holds is exact.
    """

    gradient: Array
    weights: Sequence[Array]
    normals: Array
    free: Array
    slack: float


def multipliers(
    x: Array,
    gradient: Array,
    units: Array,
    box: Box | None,
    constraints: Sequence[Limits],
) -> Multipliers:
    """The multipliers that make the gradient of the Lagrangian shortest, in units of the variables.

    Those of inequalities have the sign that holds the point inside.
    Source: Nocedal and Wright, Numerical Optimization (2006), 12.3 and 18.1.
    """
    low, high = box if box is not None else (np.full(x.size, -np.inf), np.full(x.size, np.inf))
    below, above = x - low, high - x
    near = np.minimum(below, above) <= _NEAR * units
    rows, signs, slacks, places = [np.zeros((0, x.size))], [np.zeros((0, 2))], [np.zeros(0)], []
    for constraint in constraints:
        values, sizes = constraint.values(x), constraint.sizes(x)
        under, over = values - constraint.low, constraint.high - values
        at_low, at_high = under <= _NEAR * sizes, over <= _NEAR * sizes
        held = np.flatnonzero(at_low | at_high)
        rows.append(constraint.dense(x)[held])
        signs.append(np.c_[np.where(at_high, -np.inf, 0.0), np.where(at_low, np.inf, 0.0)][held])
        slacks.append(np.minimum(np.abs(under), np.abs(over))[held])
        places.append(held)
    normals, limits = np.concatenate(rows), np.concatenate(signs)
    sides = np.array([below <= above, above <= below])
    found, left, held = _shortest(gradient * units, normals * units, limits, near, sides)
    left = left / units
    gaps = np.abs(left[held]) * np.minimum(np.abs(below), np.abs(above))[held]
    slack = float(gaps.sum() + np.abs(found) @ np.concatenate(slacks))
    weights, at = [], 0
    for constraint, numbers in zip(constraints, places, strict=True):
        own = np.zeros(constraint.low.size)
        own[numbers] = found[at : at + len(numbers)]
        weights.append(own)
        at += len(numbers)
    holds = (found != 0) | (limits[:, 0] < 0) & (limits[:, 1] > 0)
    return Multipliers(np.where(held, 0.0, left), weights, normals[holds], ~held, slack)


def _shortest(
    gradient: Array, normals: Array, limits: Array, near: Array, sides: Array
) -> tuple[Array, Array, Array]:
    """Multipliers, what they leave of the gradient, and which variables bounds hold against it.

    A bound takes the whole of what points beyond it. So those that hold are not part of the least
    squares; which these are depends on the multipliers, until they are the same again. ``sides``
    says whose lower bound is the nearer one, and whose upper; where both are, they hold anything.
    """
    found, held = np.zeros(len(normals)), near
    shortest: tuple[float, Array, Array, Array] | None = None
    for _ in range(_ROUNDS):
        if (~held).any() and normals.size:
            found = _fitted(normals[:, ~held], gradient[~held], limits)
        left = gradient - normals.T @ found
        holds = near & (sides & np.array([left >= 0, left <= 0])).any(axis=0)
        length = float(np.linalg.norm(left[~holds]))
        if shortest is None or length < shortest[0]:
            shortest = length, found, left, holds
        if (holds == held).all():
            break
        held = holds
    assert shortest is not None
    return shortest[1:]


def _fitted(rows: Array, gradient: Array, limits: Array) -> Array:
    """The factors of rows, within limits, whose sum is nearest to the gradient."""
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0] = 1.0
    size = float(np.abs(gradient).max()) or 1.0
    low, high = limits.T
    solved = lsq_linear((rows / lengths[:, None]).T, gradient / size, (low, high), "bvls")
    factors: Array = solved.x * size / lengths
    return factors


def _limits(given: Bound, default: float, shape: tuple[int, ...], pointer: str) -> Array:
    if given is None:
        given = default
    return np.ravel(bound(given, shape, Place(pointer=pointer)))
