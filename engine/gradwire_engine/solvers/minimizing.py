"""Minima by SciPy's methods, with exact gradients and products with Hessians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from gradwire_engine.answer import Array
from gradwire_engine.solvers.checkpoint import Checkpoint
from gradwire_engine.solvers.constraints import Limits, lagrangian_norm
from gradwire_engine.solvers.ending import Ending
from gradwire_engine.solvers.local import LocalProblem, local
from gradwire_engine.solvers.objective import Objective
from gradwire_engine.solvers.points import (
    Points,
    check_connected,
    check_start,
    checked_curvature,
    projected_norm,
)
from gradwire_engine.solvers.progress import Monitor
from gradwire_engine.solvers.scipy_calls import scipy_runs
from gradwire_engine.solvers.specification import Specification

#: Constraints hold if they are violated by less, relative to their bounds' sizes or 1.
_VIOLATED = 1e-4
#: What trust-constr goes on from: its options, by the name of what they become.
_TRUST_STATE = {
    "tr_radius": "initial_tr_radius",
    "constr_penalty": "initial_constr_penalty",
    "barrier_parameter": "initial_barrier_parameter",
    "barrier_tolerance": "initial_barrier_tolerance",
}


class Minimization:
    """A run of one of SciPy's methods.

    Of residuals, the Hessian is Gauss and Newton's, ``Jᵀ J``. A run that goes on from a checkpoint
    begins anew at its point, as SciPy's methods do not give what they know of curvature;
    trust-constr has its radius and penalties.
    """

    def __init__(
        self,
        objective: Objective,
        given: Specification,
        monitor: Monitor,
        resume: Checkpoint | None,
    ) -> None:
        self._objective, self._given, self._monitor = objective, given, monitor
        self._x = objective.start if resume is None else resume.x
        self._state = {} if resume is None else resume.state
        if given.takes.square and isinstance(objective, LocalProblem):
            objective.afford((self._x.size, self._x.size), "keeps a matrix")
        of_residuals, constrained = given.kind == "least_squares", bool(given.constraints)
        self._points = Points(
            objective, monitor, of_residuals=of_residuals, constrained=constrained
        )
        self._limits = given.limits(objective.layout)
        self._constraints: Sequence[Limits] = ()
        if given.constraints:
            problem = local(objective, "/constraints")
            pairs = enumerate(given.constraints)
            self._constraints = [Limits(problem, each, i, monitor) for i, each in pairs]

    def run(self) -> Ending:
        """Minimise from the start."""
        value, gradient = self._points.at(self._x)
        notes = self._objective.notes
        check_start(notes, value, gradient)
        check_connected(notes, self._objective.layout)
        self._monitor.begin(self._x, value, self._norm(self._x, gradient), notes)
        with scipy_runs():
            result = minimize(
                self._points.value,
                self._x,
                jac=self._points.gradient,
                method=self._given.takes.scipy or self._given.method,
                tol=self._given.tol,
                callback=self._stepped,
                options=self._options(),
                **self._further(),
            )
        value, gradient = self._points.at(result.x)
        norm = self._norm(result.x, gradient, result.get("optimality"))
        success, message = bool(result.success), str(result.message)
        violations = [each.violation(result.x) for each in self._constraints]
        if success and max(violations, default=0.0) > _VIOLATED:
            success, message = False, f"the constraints are violated by {max(violations):g}"
        return Ending(result.x, value, norm, success, message)

    def _further(self) -> dict[str, Any]:
        """What only some methods take."""
        further: dict[str, Any] = {}
        hessian = self._given.takes.hessian
        if hessian == "product":
            further["hessp"] = self._points.product
        elif hessian == "matrix":
            problem = local(self._objective, "/method")

            def matrix(x: Array) -> Array:
                self._monitor.look()
                self._monitor.evaluations.hessian += 1
                return checked_curvature(problem.hessian(x))

            further["hess"] = matrix
        if self._limits is not None:
            further["bounds"] = Bounds(*self._limits)
        if self._constraints and self._given.method == "SLSQP":
            further["constraints"] = [c for each in self._constraints for c in each.one_sided()]
        elif self._constraints:
            further["constraints"] = [each.nonlinear() for each in self._constraints]
        return further

    def _options(self) -> dict[str, Any]:
        options = self._monitor.left(self._given.options)
        trust_region = "max_trust_radius" in self._given.takes.options
        if trust_region and options.get("gtol", self._given.tol) == 0:
            options["gtol"] = np.finfo(float).smallest_subnormal  # else not even 0 is below it
        if self._limits is None and not self._constraints:
            options.pop("factorization_method", None)
        elif "factorization_method" in options:  # both are of dense matrices
            options["sparse_jacobian"] = False
        if options.get("norm") == "inf":
            options["norm"] = np.inf
        self._monitor.most_iterations = self._given.options.get("maxiter")
        for name, value in self._state.items():
            options[_TRUST_STATE[name]] = float(value)
        return options

    def _stepped(self, x: Array, state: Any = None) -> None:
        """SciPy's callback after each iteration; ``state`` is trust-constr's."""
        x = np.asarray(x, np.float64)
        value, gradient = self._points.at(x)
        if value == np.inf:  # a line search gave up there, and SLSQP goes on
            return
        if state is None:
            self._monitor.step(x, value, self._norm(x, gradient))
            return
        kept = {name: state[name] for name in _TRUST_STATE if name in state}
        self._monitor.step(x, value, self._norm(x, gradient, state["optimality"]), kept)

    def _norm(self, x: Array, gradient: Array, optimality: float | None = None) -> float:
        """The gradient's norm; among constraints, the Lagrangian's, which a method may know."""
        if optimality is not None:
            return float(optimality)
        if not self._constraints:
            return projected_norm(x, gradient, self._limits)
        active = [each.active(x) for each in self._constraints]
        if self._limits is not None:
            low, high = self._limits
            active.append(np.eye(x.size)[(x <= low) | (x >= high)])
        return lagrangian_norm(gradient, active)
