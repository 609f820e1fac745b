"""Roots by SciPy's methods, with exact Jacobians where the method reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import InputError, Place
from scipy.optimize import OptimizeResult, root

from gradwire_solvers.checkpoint import Checkpoint
from gradwire_solvers.ending import Ending
from gradwire_solvers.local import local
from gradwire_solvers.objective import Objective
from gradwire_solvers.points import Recent, check_connected, check_start
from gradwire_solvers.progress import Monitor
from gradwire_solvers.scaling import power_of_two
from gradwire_solvers.scipy_calls import scipy_runs
from gradwire_solvers.specification import Specification

#: The share of what the values consist of that is left at a root, and of the values at the start
#: that is left at most where tolerances are explicit,
#: and that is as good as nothing.
_ROOT, _LEFT, _NOTHING = 1e-8, 1e-4, 1e-20
#: Most variables whose Jacobian tells what each value consists of.
_MOST_LISTED = 200
#: The tolerances where none is given: relative, as the problem is scaled.
_TOLERANCES: Mapping[str, Mapping[str, float]] = {
    "hybr": {"xtol": 1e-12},
    "lm": {"ftol": 1e-15, "xtol": 1e-15, "gtol": 0.0},
    "krylov": {"fatol": 1e-10},
    "broyden1": {"fatol": 1e-10},
    "df-sane": {"fatol": 1e-10, "ftol": 0.0},
}
#: A run that has not come to a root goes on from where it is, up to so many times in all.
_ATTEMPTS = 4
#: Options that are no tolerances.
_PURE = frozenset(("maxiter", "maxfev", "line_search", "factor", "M"))
#: Methods that read Jacobians; the others, for large systems, read values alone.
_EXACT = ("hybr", "lm")


class Root:
    """A run of one of SciPy's methods for ``r(x) = 0``; every evaluation counts as an iteration.

    The value of a point is its largest residual.
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
        self._residuals = Recent(self._evaluated)
        self._is_scaled = given.tol is None and _PURE.issuperset(given.options)

    def run(self) -> Ending:
        """Look for a root from the start."""
        residuals, size = self._residuals(self._x), self._x.size
        if residuals.size != size:
            detail = f"a root needs as many values as the sources have, {size}"
            raise InputError(f"{detail}, got {residuals.size}", at=Place(pointer="/target"))
        notes = self._problem.notes
        check_start(notes, residuals)
        if self._given.method in _EXACT:
            jacobian = self._jacobian(self._x)
            notes = self._problem.notes
            check_start(notes, jacobian)
            check_connected(notes, self._problem.layout)
        largest = float(np.abs(residuals).max())
        self._monitor.begin(self._x, largest, largest, notes)
        if not largest:
            return Ending(self._x, 0.0, 0.0, True, "the values are zero at the start")
        x, left, scaled = self._x, largest, self._is_scaled
        for _ in range(_ATTEMPTS if scaled else 1):
            result, x = self._attempt(x)
            norm = float(np.abs(self._residuals(x)).max())
            success = (
                self._is_root(x, largest) if scaled else result.success and norm <= _LEFT * largest
            )
            if success or not norm < left:
                break
            left = norm
        message = str(result.message)
        if not success:
            message = f"the values do not become zero: {norm:g} is left; {message}"
        return Ending(x, norm, norm, bool(success), message)

    def _attempt(self, x: Array) -> tuple[OptimizeResult, Array]:
        """Run SciPy's method from a point; without explicit tolerances, in the problem's units."""
        unit, length = self._units(x) if self._is_scaled else (1.0, 1.0)
        further: dict[str, Any] = {}
        if self._given.method in _EXACT:
            further["jac"] = lambda z: self._jacobian(z * length) * (length / unit)
        with scipy_runs():
            result = root(
                lambda z: self._residuals(z * length) / unit,
                x / length,
                method=self._given.method,
                tol=self._given.tol,
                options=self._options(),
                **further,
            )
        return result, np.asarray(result.x, np.float64) * length

    def _units(self, x: Array) -> tuple[float, float]:
        """The units of the values and of the variables: the largest, and the steepest step."""
        residuals = self._residuals(x)
        gradient = self._problem.transposed_product(x, residuals)
        along = self._problem.product(x, gradient)
        length = float(np.linalg.norm(gradient))
        with np.errstate(all="ignore"):
            sizes = np.array([np.abs(residuals).max(), length**3 / (along @ along)])
        unit, step = power_of_two(sizes).tolist()
        return unit, step

    def _is_root(self, x: Array, largest: float) -> bool:
        """True if the residuals are small for what the values consist of: ``Σ |Jᵢⱼ xⱼ|``.

        Or for the ``largest`` value at the start, if it is nothing beside that.
        """
        left, start = np.abs(self._residuals(x)), self._problem.start
        if left.max() <= _NOTHING * largest:
            return True
        if x.size <= _MOST_LISTED:
            jacobian = self._problem.dense(self._problem.jacobian(x))
            sizes = np.abs(jacobian) @ np.maximum(np.abs(x), np.abs(start))
            return bool((left <= _ROOT * sizes).all())
        along = [self._problem.product(x, v) for v in (x, x - start)]
        return bool(left.max() <= _ROOT * np.abs(along).max())

    def _options(self) -> dict[str, Any]:
        options = self._monitor.left(self._given.options)
        if self._is_scaled:
            options = {**_TOLERANCES[self._given.method], **options}
        if self._given.method == "krylov":  # its differences have to outlast rounding
            step = max(np.finfo(part.dtype).eps for part in self._problem.layout.parts) ** 0.5
            options["jac_options"] = {"rdiff": float(step)}
        return options

    def _evaluated(self, x: Array) -> Array:
        self._monitor.look()
        self._monitor.evaluations.value += 1
        residuals = self._problem.residuals(x)
        largest = float(np.abs(residuals).max(initial=0.0))
        if self._monitor.best is not None and np.isfinite(largest):
            self._monitor.step(x, largest, largest)
        return residuals

    def _jacobian(self, x: Array) -> Array:
        self._monitor.look()
        self._monitor.evaluations.gradient += 1
        return self._problem.dense(self._problem.jacobian(x))
