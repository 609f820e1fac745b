"""Least sums of squares by SciPy's methods, with exact Jacobians, sparse where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import DomainError, InputError, Place
from scipy.optimize import OptimizeResult, least_squares
from scipy.sparse import issparse

from gradwire_solvers.checkpoint import Checkpoint
from gradwire_solvers.ending import Ending
from gradwire_solvers.local import local
from gradwire_solvers.objective import Jacobian, Objective
from gradwire_solvers.points import (
    Point,
    Recent,
    check_connected,
    check_start,
    checked_curvature,
    projected_norm,
)
from gradwire_solvers.progress import Monitor
from gradwire_solvers.scaling import power_of_two
from gradwire_solvers.scipy_calls import scipy_runs
from gradwire_solvers.specification import Specification
from gradwire_solvers.stationarity import End, Judge

#: Where the product of the lengths, and of the shorter again, is less, factorising takes less than
#: a second, and converges where iterations hardly do.
_FACTORISED = 10**9
#: The distance from bounds at which a start lies, relative to the element or 1.
_AWAY = 1e-3
#: The tolerances of SciPy's methods, and the options with which the problem is solved to others.
_TOLERANCES, _PURE = (
    ("ftol", "xtol", "gtol"),
    frozenset(("loss", "f_scale", "tr_solver", "max_nfev")),
)
#: Most evaluations, for each variable, and the tolerances, where none are given.
_EVALUATIONS, _TOLERANCE = 1000, 1e-15
#: A run that has not ended at a minimum goes on from there, up to so many times in all.
_ATTEMPTS = 4
#: ``ρ(z)``, ``ρ′(z)`` and ``ρ″(z)`` of squared residuals.
Loss: TypeAlias = Callable[[Array], tuple[Array, Array, Array]]


def _soft_l1(z: Array) -> tuple[Array, Array, Array]:
    root = np.sqrt(1 + z)
    return 2 * (root - 1), 1 / root, -0.5 / root**3


def _huber(z: Array) -> tuple[Array, Array, Array]:
    root = np.sqrt(np.maximum(z, 1))
    within = z <= 1
    return np.where(within, z, 2 * root - 1), 1 / root, np.where(within, 0.0, -0.5 / root**3)


#: The losses of SciPy. Source: Triggs et al., Bundle Adjustment: A Modern Synthesis (2000).
LOSSES: Mapping[str, Loss] = {
    "linear": lambda z: (z, np.ones_like(z), np.zeros_like(z)),
    "soft_l1": _soft_l1,
    "huber": _huber,
    "cauchy": lambda z: (np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2),
    "arctan": lambda z: (np.arctan(z), 1 / (1 + z * z), -2 * z / (1 + z * z) ** 2),
}


def _away(x: Array, low: Array, high: Array) -> Array:
    """A start whose elements at bounds are moved inside.

    SciPy moves them by 1e-10, where trf, which scales steps by the distance, may end at once.
    """
    way = np.minimum(_AWAY * np.maximum(np.abs(x), 1.0), (high - low) / 4)
    return np.clip(x, low + way, high - way, out=x.copy(), where=(x <= low) | (x >= high))


class LeastSquares:
    """A run of one of SciPy's methods for ``½ Σ s² ρ((rᵢ / s)²)``, where ``s`` is ``f_scale``.

    SciPy takes a Jacobian wherever it has stepped to: that is how iterations are counted.
    """

    def __init__(
        self,
        objective: Objective,
        given: Specification,
        monitor: Monitor,
        resume: Checkpoint | None,
    ) -> None:
        self._problem, self._given, self._monitor = local(objective, "/method"), given, monitor
        self._x = objective.start if resume is None else resume.x
        self._limits = given.limits(objective.layout)
        loss = given.options.get("loss", "linear")
        self._loss = LOSSES[loss]
        self._scale = 1.0 if loss == "linear" else given.options.get("f_scale", 1.0)
        self._residuals, self._jacobian = Recent(self._evaluated), Recent(self._differentiated)
        self._is_scaled = given.tol is None and _PURE.issuperset(given.options)

    def run(self) -> Ending:
        """Minimise from the start."""
        residuals = self._residuals(self._x)
        self._check(residuals)
        self._count = residuals.size
        jacobian = self._jacobian(self._x)
        notes = self._problem.notes
        check_start(notes, residuals, jacobian.data if issparse(jacobian) else jacobian)
        check_connected(notes, self._problem.layout)
        value, norm = self._measured(self._x)
        if not (isfinite(value) and isfinite(norm)):
            detail = "the squares of the residuals are too large at the start"
            hint = "divide them by their size, or start from another point"
            raise DomainError(detail, at=Place(pointer="/target"), hint=hint)
        self._monitor.begin(self._x, value, norm, notes)
        problem, start, x = self._problem, self._problem.start, self._x
        judge = Judge(self, self._limits, (), problem.roundoff, problem.layout.name)
        first, verdict = self.at(start).value, None
        for _ in range(_ATTEMPTS if self._is_scaled else 1):
            before = self.at(x).value
            result = self._attempt(x)
            x = np.asarray(result.x, np.float64)
            value, norm = self._measured(x)
            end = End(x, start, first, before)
            verdict = judge.judged(end, self._loose(result)).after(verdict)
            if verdict.sharp or result.status == 0 or not value < before:
                break
        assert verdict is not None
        message = str(result.message)
        if not verdict.success:
            message = f"{verdict.reason}; {self._given.method} ended: {message}"
        return Ending(x, value, norm, verdict.success, message)

    def _attempt(self, x: Array) -> OptimizeResult:
        """Run SciPy's method from a point; without explicit tolerances, to relative ones."""
        given, unit = self._given, 1.0
        options = self._monitor.left(given.options)
        bounds = {} if self._limits is None else {"bounds": self._limits}
        if given.tol is not None:
            options = dict.fromkeys(_TOLERANCES, given.tol) | options
        elif self._is_scaled:
            unit = float(power_of_two(np.abs(self._residuals(x)).max()))
            most = self._monitor.left({"max_nfev": _EVALUATIONS * x.size})
            options = (
                {"x_scale": self._x_scale(x), **most}
                | dict.fromkeys(_TOLERANCES, _TOLERANCE)
                | options
            )
            options["f_scale"] = self._scale / unit
        with scipy_runs():
            return least_squares(
                lambda x: self._residuals(x) / unit,
                x if self._limits is None else _away(x, *self._limits),
                jac=lambda x: self._stepped(x) / unit,
                method=given.method,
                **bounds,
                **options,
            )

    def _x_scale(self, x: Array) -> Any:
        """The variables' units: those of columns of the Jacobian, or of dogbox one for all.

        Its region is a box already, and finds fewer minima where that is stretched.
        """
        if self._given.method != "dogbox":
            return "jac"
        jacobian = self._jacobian(x)
        squares = jacobian.data if issparse(jacobian) else jacobian
        with np.errstate(all="ignore"):
            unit = np.linalg.norm(self._residuals(x)) / np.linalg.norm(squares)
        return float(power_of_two(np.asarray(unit)))

    def _loose(self, result: OptimizeResult) -> float:
        """The tolerance by which explicit ones, once reached, are judged."""
        if self._is_scaled or result.status <= 0:
            return 0.0
        return self._given.loosened(_TOLERANCES)

    def _check(self, residuals: Array) -> None:
        """Raises: ``InputError`` where a method needs more residuals, or a dense Jacobian."""
        if self._given.method == "lm" and residuals.size < self._x.size:
            detail = f"lm needs at least {self._x.size} residuals, one per element, got"
            at, hint = Place(pointer="/method"), "trf and dogbox take fewer"
            raise InputError(f"{detail} {residuals.size}", at=at, hint=hint)
        if not residuals.size:
            raise InputError("there are no residuals", at=Place(pointer="/target"))

    def _evaluated(self, x: Array) -> Array:
        self._monitor.look()
        self._monitor.evaluations.value += 1
        try:
            return self._problem.residuals(x)
        except DomainError:
            if self._monitor.best is None:
                raise
            return np.full(self._count, np.nan)  # SciPy steps back from there

    def _differentiated(self, x: Array) -> Jacobian:
        self._monitor.look()
        self._monitor.evaluations.gradient += 1
        found = self._problem.jacobian(x)
        return self._problem.dense(found) if self._is_dense(found.shape) else found

    def _is_dense(self, shape: tuple[int, int]) -> bool:
        """True if SciPy gets dense matrices: they are factorised, sparse ones multiplied with."""
        solver = self._given.options.get("tr_solver")
        if self._given.method == "lm" or solver is not None:
            return solver != "lsmr"
        return shape[0] * shape[1] * min(shape) <= _FACTORISED

    def _stepped(self, x: Array) -> Jacobian:
        """The Jacobian where SciPy has stepped to."""
        jacobian = self._jacobian(x)
        best = self._monitor.best
        if best is None or not np.array_equal(x, best.x):  # the start is no step
            self._monitor.step(x, *self._measured(x))
        return jacobian

    def _measured(self, x: Array) -> tuple[float, float]:
        """The value at a point, and the norm of its gradient."""
        point = self.at(x)
        return point.value, projected_norm(x, point.gradient, self._limits)

    # The value as a function

    def at(self, x: Array) -> Point:
        """The value at a point, and its gradient ``Jᵀ (ρ′ r)``."""
        residuals, scale = self._residuals(x), self._scale
        with np.errstate(all="ignore"):
            loss, slope, _ = self._loss((residuals / scale) ** 2)
            gradient = self._jacobian(x).T @ (slope * residuals)
            return Point(0.5 * scale * (scale * float(loss.sum())), gradient)

    def product(self, x: Array, v: Array) -> Array:
        """``Jᵀ (ρ′ + 2 ρ″ r²/s²) J v + Σ ρ′ rᵢ ∇²rᵢ v``."""
        self._monitor.look()
        self._monitor.evaluations.hessian += 1
        residuals, jacobian = self._residuals(x), self._jacobian(x)
        squares = (residuals / self._scale) ** 2
        _, slope, bend = self._loss(squares)
        straight = jacobian.T @ ((slope + 2 * bend * squares) * (jacobian @ v))
        curved = self._problem.weighted_product(x, slope * residuals, v)
        return checked_curvature(straight + curved)

    def matrix(self, x: Array) -> Array:
        """The Hessian of a few variables."""
        return np.array([self.product(x, unit) for unit in np.eye(x.size)]).T
