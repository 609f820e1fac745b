"""Roots by SciPy's methods, with exact Jacobians where the method reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import root

from gradwire_engine.answer import Array
from gradwire_engine.errors import InputError, Place
from gradwire_engine.solvers.checkpoint import Checkpoint
from gradwire_engine.solvers.ending import Ending
from gradwire_engine.solvers.local import local
from gradwire_engine.solvers.objective import Objective
from gradwire_engine.solvers.points import Recent, check_connected, check_start
from gradwire_engine.solvers.progress import Monitor
from gradwire_engine.solvers.scipy_calls import scipy_runs
from gradwire_engine.solvers.specification import Specification

#: The share of the largest value at the start, or of 1, that may be left at a root.
_LEFT = 1e-4
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

    def run(self) -> Ending:
        """Look for a root from the start."""
        residuals, size = self._residuals(self._x), self._x.size
        if residuals.size != size:
            detail = f"a root needs as many values as the sources have, {size}"
            raise InputError(f"{detail}, got {residuals.size}", at=Place(pointer="/target"))
        notes = self._problem.notes
        check_start(notes, residuals)
        further: dict[str, Any] = {}
        if self._given.method in _EXACT:
            jacobian = self._jacobian(self._x)
            notes = self._problem.notes
            check_start(notes, jacobian)
            check_connected(notes, self._problem.layout)
            further["jac"] = self._jacobian
        largest = float(np.abs(residuals).max())
        self._monitor.begin(self._x, largest, largest, notes)
        with scipy_runs():
            result = root(
                self._residuals,
                self._x,
                method=self._given.method,
                tol=self._given.tol,
                options=self._options(),
                **further,
            )
        x = np.asarray(result.x, np.float64)
        norm = float(np.abs(self._residuals(x)).max())
        success, message = bool(result.success), str(result.message)
        if success and norm > _LEFT * max(largest, 1.0):  # lm ends at a least sum of squares
            success, message = False, f"the values do not become zero: {norm:g} is left"
        return Ending(x, norm, norm, success, message)

    def _options(self) -> dict[str, Any]:
        options = self._monitor.left(self._given.options)
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
