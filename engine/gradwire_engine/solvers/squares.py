"""Least sums of squares by SciPy's methods, with exact Jacobians, sparse where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import TypeAlias

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import issparse

from gradwire_engine.answer import Array
from gradwire_engine.errors import DomainError, InputError, Place
from gradwire_engine.solvers.checkpoint import Checkpoint
from gradwire_engine.solvers.ending import Ending
from gradwire_engine.solvers.local import local
from gradwire_engine.solvers.objective import Jacobian, Objective
from gradwire_engine.solvers.points import Recent, check_connected, check_start, projected_norm
from gradwire_engine.solvers.progress import Monitor
from gradwire_engine.solvers.scipy_calls import scipy_runs
from gradwire_engine.solvers.specification import Specification

#: Where the product of the lengths, and of the shorter again, is less, factorising takes less than
#: a second, and converges where iterations hardly do.
_FACTORISED = 10**9
#: The distance from bounds at which a start lies, relative to the element or 1.
_AWAY = 1e-3
#: ``ρ(z)`` and ``ρ′(z)`` of squared residuals.
Loss: TypeAlias = Callable[[Array], tuple[Array, Array]]


def _soft_l1(z: Array) -> tuple[Array, Array]:
    root = np.sqrt(1 + z)
    return 2 * (root - 1), 1 / root


def _huber(z: Array) -> tuple[Array, Array]:
    root = np.sqrt(np.maximum(z, 1))
    return np.where(z <= 1, z, 2 * root - 1), 1 / root


#: The losses of SciPy. Source: Triggs et al., Bundle Adjustment: A Modern Synthesis (2000).
LOSSES: Mapping[str, Loss] = {
    "linear": lambda z: (z, np.ones_like(z)),
    "soft_l1": _soft_l1,
    "huber": _huber,
    "cauchy": lambda z: (np.log1p(z), 1 / (1 + z)),
    "arctan": lambda z: (np.arctan(z), 1 / (1 + z * z)),
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
        self._loss = LOSSES[given.options.get("loss", "linear")]
        self._scale = given.options.get("f_scale", 1.0)
        self._residuals, self._jacobian = Recent(self._evaluated), Recent(self._differentiated, 1)

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
        given = self._given
        bounds = {} if self._limits is None else {"bounds": self._limits}
        tolerances = {} if given.tol is None else dict.fromkeys(("ftol", "xtol", "gtol"), given.tol)
        with scipy_runs():
            result = least_squares(
                lambda x: self._residuals(x).copy(),  # robust losses scale them in place
                self._x if self._limits is None else _away(self._x, *self._limits),
                jac=self._stepped,
                method=given.method,
                **bounds,
                **{**tolerances, **self._monitor.left(given.options)},
            )
        value, norm = self._measured(result.x)
        return Ending(result.x, value, norm, bool(result.success), str(result.message))

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
        """Whether SciPy gets dense matrices: they are factorised, sparse ones multiplied with."""
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
        return jacobian.copy()  # which is scaled in place, too

    def _measured(self, x: Array) -> tuple[float, float]:
        """The value at a point, and the norm of its gradient ``Jᵀ (ρ′ r)``."""
        residuals, scale = self._residuals(x), self._scale
        with np.errstate(all="ignore"):
            loss, slope = self._loss((residuals / scale) ** 2)
            gradient = self._jacobian(x).T @ (slope * residuals)
            value = 0.5 * scale * (scale * float(loss.sum()))
        return value, projected_norm(x, gradient, self._limits)
