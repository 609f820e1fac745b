"""Minima by SciPy's methods, with exact gradients and products with Hessians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gradwire_engine.answer import Array
from scipy.optimize import Bounds, OptimizeResult, minimize

from gradwire_solvers.checkpoint import Checkpoint
from gradwire_solvers.constraints import Limits, multipliers
from gradwire_solvers.ending import Ending
from gradwire_solvers.local import LocalProblem, local
from gradwire_solvers.objective import Objective
from gradwire_solvers.points import (
    Points,
    check_connected,
    check_start,
    checked_curvature,
    projected_norm,
)
from gradwire_solvers.progress import Monitor, OutOfTime, Stopped
from gradwire_solvers.scaling import Scaling
from gradwire_solvers.scipy_calls import scipy_runs
from gradwire_solvers.specification import Specification
from gradwire_solvers.stationarity import VIOLATION, End, Judge, Verdict

#: A run that has not ended at a minimum goes on in new units, up to so many times in all.
_ATTEMPTS = 8
#: Steps away from a saddle point are tried so often, each half as long as the last.
_HALVINGS = 20
#: An attempt that leaves more than this share of what constraints are violated by is lost.
_CLOSER = 0.5
#: Explicit tolerances of values and steps, and about the size of SciPy's where they are not given.
_EXPLICIT = ("ftol", "xtol", "xrtol", "accuracy")
_SCIPYS = 1e-9
#: The tolerances where none is given: relative, as the problem is scaled.
_TOLERANCES: Mapping[str, Mapping[str, float]] = {
    "L-BFGS-B": {"ftol": 1e-15, "gtol": 1e-9},
    "BFGS": {"gtol": 1e-9},
    "CG": {"gtol": 1e-9},
    "TNC": {"ftol": 1e-15, "xtol": 1e-12, "gtol": 1e-9, "maxfun": 5000},
    "SLSQP": {"ftol": 1e-14, "maxiter": 1000},
    "trust-constr": {"gtol": 0.0, "xtol": 1e-12, "barrier_tol": 1e-10},
    "trust-ncg": {"gtol": 1e-9},
    "trust-krylov": {"gtol": 1e-9},
    "trust-exact": {"gtol": 1e-9},
    "dogleg": {"gtol": 1e-9},
    "Newton-CG": {"xtol": 1e-10},
}
#: trust-constr ends at this gradient of the Lagrangian, and violation of constraints, once its
#: barrier is as small as it is to be: SciPy ends with any barrier.
_OPTIMALITY = 1e-9
#: Options without a unit: with others, the problem is solved in its own.
_PURE = frozenset(
    ("maxiter", "maxfun", "maxls", "maxcor", "maxCGit", "c1", "c2", "eta", "inexact", "norm")
) | {"factorization_method"}
#: The statuses by which SciPy's methods say that a limit is reached.
_LIMITS = {"TNC": 3, "SLSQP": 9, "trust-constr": 0}
#: What trust-constr goes on from: its options, by the name of what they become.
_TRUST_STATE = {
    "tr_radius": "initial_tr_radius",
    "constr_penalty": "initial_constr_penalty",
    "barrier_parameter": "initial_barrier_parameter",
    "barrier_tolerance": "initial_barrier_tolerance",
}


class Minimization:
    """A run of one of SciPy's methods.

    Where no option has a unit, the problem is solved in units that its derivatives show, to
    tolerances that are relative; and a method that ends where the value still falls begins anew
    there, in new units. Success is what ``Judge`` says. A run that goes on from a checkpoint begins
    anew at its point, as SciPy's methods do not give what they know of curvature; trust-constr has
    its radius and penalties.
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
        self._state: Mapping[str, Any] = {} if resume is None else resume.state
        if given.takes.square and isinstance(objective, LocalProblem):
            objective.afford((self._x.size, self._x.size), "keeps a matrix")
        self._points = Points(objective, monitor, constrained=bool(given.constraints))
        self._limits = given.limits(objective.layout)
        self._constraints: Sequence[Limits] = ()
        if given.constraints:
            problem = local(objective, "/constraints")
            pairs = enumerate(given.constraints)
            self._constraints = [Limits(problem, each, i, monitor) for i, each in pairs]
        name, roundoff = objective.layout.name, objective.roundoff
        self._judge = Judge(self._points, self._limits, self._constraints, roundoff, name)
        self._is_scaled = given.tol is None and _PURE.issuperset(given.options)
        self._scaling = Scaling.none(self._x.size)

    def run(self) -> Ending:
        """Minimise from the start."""
        value, gradient = self._points.at(self._x)
        notes = self._objective.notes
        check_start(notes, value, gradient)
        check_connected(notes, self._objective.layout)
        self._monitor.begin(self._x, value, self._norm(self._x, gradient), notes)
        self._monitor.most_iterations = self._given.options.get("maxiter")
        x, start = self._x, self._objective.start  # which a run that goes on left long ago
        first, verdict, lost = self._points.at(start).value, None, False
        for _ in range(_ATTEMPTS if self._is_scaled else 1):
            begun, before = x, self._points.at(x).value
            if self._is_scaled:
                self._scaling = Scaling.none(x.size) if lost else self._judge.scaling(x)
            result = self._attempt(x)
            x = self._scaling.outside(np.asarray(result.x, np.float64))
            violation, violated = self._violation(x), self._violation(begun)
            if self._is_scaled and violation > _CLOSER * violated:
                if not lost:  # begins again, in the problem's own units
                    x, lost = begun, True
                    verdict = self._judge.judged(End(x, start, first, before)).after(verdict)
                    continue
                x = begun
            value, gradient = self._points.at(x)
            if self._is_as_asked(result, gradient):
                return Ending(x, value, self._norm(x, gradient), True, str(result.message))
            end = End(x, start, first, before)
            verdict = self._judge.judged(end, self._loose(result)).after(verdict)
            moved = value < before or violation < violated
            if verdict.sharp or self._is_at_limit(result):
                break
            if verdict.way is not None and (lower := self._lower(x, verdict.way)) is not None:
                x = lower
            elif not moved:
                break
            self._state = {}
        assert verdict is not None
        return self._ended(x, result, verdict)

    def _ended(self, x: Array, result: OptimizeResult, verdict: Verdict) -> Ending:
        """The end that a verdict makes of SciPy's last result, in SciPy's words where these fit."""
        value, gradient = self._points.at(x)
        message = str(result.message)
        if self._given.method == "trust-constr" and result.status == 3:
            message = f"the gradient is at most {_OPTIMALITY:g} of its size at the start"
        elif verdict.success and not result.success:
            message = f"the value falls by no more than {verdict.decrease:.3g} from here"
        if not verdict.success:
            message = f"{verdict.reason}; {self._given.method} ended: {message}"
        return Ending(x, value, self._norm(x, gradient), verdict.success, message)

    def _violation(self, x: Array) -> float:
        """The largest violation of a constraint, 0 where that is little enough."""
        most = max([each.violation(x) for each in self._constraints], default=0.0)
        return most if most > VIOLATION else 0.0

    def _attempt(self, x: Array) -> OptimizeResult:
        """Run SciPy's method from a point, in the units of the scaling, as far as it comes."""
        try:
            return self._scipys(x)
        except OutOfTime:
            raise
        except Stopped as stopped:
            best = self._monitor.best
            if best is None:
                raise
            z = self._scaling.inside(best.x)
            return OptimizeResult(x=z, success=False, status=-1, message=str(stopped))

    def _scipys(self, x: Array) -> OptimizeResult:
        scaling = self._scaling
        with scipy_runs():
            return minimize(
                lambda z: self._points.value(scaling.outside(z)) / scaling.value,
                scaling.inside(x),
                jac=lambda z: scaling.gradient(self._points.gradient(scaling.outside(z))),
                method=self._given.method,
                tol=self._given.tol,
                callback=self._stepped,
                options=self._options(),
                **self._further(x),
            )

    def _lower(self, x: Array, way: Array) -> Array | None:
        """A point with a lower value on one side or the other of a saddle point or a maximum."""
        if self._constraints or not self._is_scaled:
            return None
        value = self._points.at(x).value
        for power in range(_HALVINGS):
            for step in (way * 0.5**power, -way * 0.5**power):
                point = x + step if self._limits is None else np.clip(x + step, *self._limits)
                if self._points.at(point).value < value:
                    return point
        return None

    def _is_as_asked(self, result: OptimizeResult, gradient: Array) -> bool:
        """True if an explicit tolerance of the gradient is reached, as SciPy measures it."""
        options, method = self._given.options, self._given.method
        has_gtol = "gtol" in self._given.takes.options and method != "TNC"
        asked = options.get("gtol", self._given.tol if has_gtol else None)
        if asked is None or not result.success:
            return False
        if method == "trust-constr":
            return bool(result.status == 1)
        if "max_trust_radius" in self._given.takes.options:
            norm = float(np.linalg.norm(gradient))
        elif method in ("BFGS", "CG") and options.get("norm", "inf") != "inf":
            norm = float(np.linalg.norm(gradient, options["norm"]))
        else:
            norm = projected_norm(result.x, gradient, self._limits)
        return bool(norm <= asked)

    def _loose(self, result: OptimizeResult) -> float:
        """The tolerance by which explicit ones of values and steps, once reached, are judged."""
        if self._is_scaled or not result.success:
            return 0.0
        return self._given.loosened(_EXPLICIT, _SCIPYS)

    def _is_at_limit(self, result: OptimizeResult) -> bool:
        """True if a limit of iterations or evaluations ended the method."""
        most = self._given.options.get("maxiter", np.inf)
        status = result.get("status")  # none where bounds fix all variables
        ended = status == _LIMITS.get(self._given.method, 1) and not result.success
        return bool(ended or self._monitor.iterations >= most)

    def _further(self, x: Array) -> dict[str, Any]:
        """The arguments that only some methods take."""
        further: dict[str, Any] = {}
        scaling, hessian = self._scaling, self._given.takes.hessian
        if hessian == "product":
            further["hessp"] = self._scaled_product
        elif hessian == "matrix":
            problem = local(self._objective, "/method")

            def matrix(z: Array) -> Array:
                self._monitor.look()
                self._monitor.evaluations.hessian += 1
                found = checked_curvature(problem.hessian(scaling.outside(z)))
                return scaling.gradient(scaling.variables[:, None] * found.T)

            further["hess"] = matrix
        if self._limits is not None:
            further["bounds"] = Bounds(*[scaling.inside(limit) for limit in self._limits])
        scaled = [each.scaled(x, scaling) for each in self._constraints]
        if scaled and self._given.method == "SLSQP":
            further["constraints"] = [c for each in scaled for c in each.one_sided()]
        elif scaled:
            further["constraints"] = [each.nonlinear() for each in scaled]
        return further

    def _scaled_product(self, z: Array, v: Array) -> Array:
        scaling = self._scaling
        found = self._points.product(scaling.outside(z), scaling.outside(v))
        return scaling.gradient(found)

    def _options(self) -> dict[str, Any]:
        options = self._monitor.left(self._given.options)
        if self._is_scaled:
            options = {**_TOLERANCES[self._given.method], **options}
        trust_region = "max_trust_radius" in self._given.takes.options
        if trust_region and options.get("gtol", self._given.tol) == 0:
            options["gtol"] = np.finfo(float).smallest_subnormal  # else not even 0 is below it
        if self._limits is None and not self._constraints:
            options.pop("factorization_method", None)
        elif "factorization_method" in options:  # both are of dense matrices
            options["sparse_jacobian"] = False
        if options.get("norm") == "inf":
            options["norm"] = np.inf
        for name, value in self._state.items():
            options[_TRUST_STATE[name]] = float(value)
        return options

    def _stepped(self, z: Array, state: Any = None) -> bool:
        """SciPy's callback after each iteration; ``state`` is trust-constr's, which True ends."""
        x = self._scaling.outside(np.asarray(z, np.float64))
        value, gradient = self._points.at(x)
        if value == np.inf:  # a line search gave up there, and SLSQP goes on
            return False
        kept = {} if state is None else {n: state[n] for n in _TRUST_STATE if n in state}
        self._monitor.step(x, value, self._norm(x, gradient), kept)
        if state is None or not self._is_scaled:
            return False
        barrier = state.get("barrier_parameter", 0.0)
        optimal = max(state["optimality"], state["constr_violation"]) <= _OPTIMALITY
        return bool(optimal and barrier <= _TOLERANCES["trust-constr"]["barrier_tol"])

    def _norm(self, x: Array, gradient: Array) -> float:
        """The gradient's norm; among constraints, the Lagrangian's."""
        if not self._constraints:
            return projected_norm(x, gradient, self._limits)
        units = self._scaling.variables
        found = multipliers(x, gradient, units, self._limits, self._constraints)
        return float(np.abs(found.gradient).max(initial=0.0))
