"""Least sums of squares by Levenberg and Marquardt's method, of what adds up over the residuals.

It needs the triangular factor of a Jacobian of few variables, which those of parts give by another
factorisation, or products with ``Jᵀ J`` of many: so it runs on data that no machine holds alone.
"""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import DomainError, OverBudget

from gradwire_solvers.checkpoint import Checkpoint
from gradwire_solvers.ending import Ending
from gradwire_solvers.objective import Objective
from gradwire_solvers.points import Point, Points, check_connected, check_start
from gradwire_solvers.progress import Monitor
from gradwire_solvers.specification import Specification
from gradwire_solvers.stationarity import End, Judge

#: Most variables of which a triangular factor is kept.
MOST_FACTORED = 200
#: Iterations for each variable, where none are given.
_ITERATIONS = 1000
#: The first radius, in sizes of the start: the method's authors suggest 0.1 to 100.
_FACTOR = 100.0
#: Steps are taken whose decrease is more than this share of the model's.
_ETA = 1e-4
#: Of the model's decrease, shares below which the radius becomes shorter, and above which longer.
_SHORTER, _LONGER = 0.25, 0.75
#: The share of the gradient that is left when conjugate gradients end.
_RESIDUAL = 1e-4


class Step(NamedTuple):
    """A step in scaled variables, its length, and how far the model falls by it."""

    z: Array
    length: float
    decrease: float
    #: Whether the radius ended it.
    bounded: bool


class LevenbergMarquardt:
    """A run for ``½ Σ rᵢ²``, whose model is ``½ |J p + r|²`` within ``|D p| ≤ Δ``.

    ``D`` are the greatest lengths that the columns of ``J`` have had. Source: Moré, The
    Levenberg-Marquardt Algorithm: Implementation and Theory (1978). Of many variables, for which
    ``D = 1``, the step is that of Steihaug, The Conjugate Gradient Method and Trust Regions in
    Large Scale Optimization (1983).
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
        state = {} if resume is None else resume.state
        self._lengths = np.asarray(state.get("lengths", np.zeros(self._x.size)))
        self._radius = float(state.get("radius", 0.0))
        self._points = Points(objective, monitor, constrained=True)
        self._judge = Judge(self._points, None, (), objective.roundoff, objective.layout.name)
        self._factored = self._x.size <= MOST_FACTORED

    def run(self) -> Ending:
        """Minimise from the start."""
        x, monitor, options = self._x, self._monitor, self._given.options
        point = self._points.at(x)
        notes = self._objective.notes
        check_start(notes, *point)
        check_connected(notes, self._objective.layout)
        monitor.begin(x, point.value, _norm(point), notes)
        monitor.most_iterations = options.get("maxiter")
        start, before = self._objective.start, point.value
        most, first = options.get("maxiter", _ITERATIONS * x.size), self._points.at(start).value
        gtol, message = options.get("gtol", self._given.tol), None
        while message is None:
            if gtol is not None and np.linalg.norm(point.gradient) <= gtol:
                return Ending(x, point.value, _norm(point), True, "the gradient is at most gtol")
            if monitor.iterations >= most:
                message = f"all {most} iterations are done"
                break
            step, trial, tried = self._lower(x, point)
            if trial is None or tried is None:
                message = "no step changes the variables"
                break
            if not step.bounded and step.decrease <= np.finfo(float).eps * point.value:
                message = "steps change the value by no more than rounding"
            before, x, point = point.value, trial, tried
            kept = {"radius": self._radius, "lengths": self._lengths}
            monitor.step(x, point.value, _norm(point), kept)
        verdict = self._judge.judged(End(x, start, first, before))
        words = message if verdict.success else f"{verdict.reason}; {message}"
        return Ending(x, point.value, _norm(point), verdict.success, words)

    def _lower(self, x: Array, point: Point) -> tuple[Step, Array | None, Point | None]:
        """The step to a lower value, and the point there; None where steps are too short for one.

        The radius is shorter after each trial that gains less than the model, and then longer.
        """
        model, options = self._model(x, point.gradient), self._given.options
        self._lengths = np.maximum(self._lengths, model.lengths)
        units = np.where(self._lengths > 0, self._lengths, 1.0)
        if not self._radius:
            size = _FACTOR * float(np.linalg.norm(units * x)) or _FACTOR
            self._radius = options.get("initial_trust_radius", size)
        while True:
            self._radius = min(self._radius, options.get("max_trust_radius", np.inf))
            step = model.step(units, self._radius)
            trial = x + step.z / units
            if not step.decrease > 0 or np.array_equal(trial, x):  # NaN, too, where all underflows
                return step, None, None
            tried = self._points.at(trial)
            gain = (point.value - tried.value) / step.decrease if tried.value < np.inf else -1.0
            if gain < _SHORTER:
                self._radius = _SHORTER * step.length
            elif gain > _LONGER and step.bounded:
                self._radius = max(self._radius, 2 * step.length)
            if gain > options.get("eta", _ETA):
                return step, trial, tried

    def _model(self, x: Array, gradient: Array) -> Factored | Multiplied:
        self._monitor.look()
        self._monitor.evaluations.hessian += 1
        if self._factored:
            try:
                return Factored(self._objective.triangle(x), x.size)
            except OverBudget:  # a Jacobian of so many residuals is too large
                self._factored = False
        return Multiplied(self, x, gradient)

    def product(self, x: Array, v: Array) -> Array:
        """``J(x)ᵀ J(x) v``."""
        self._monitor.look()
        self._monitor.evaluations.hessian += 1
        return self._objective.gauss_newton_product(x, v)


class Factored:
    """The model of a triangular factor of ``[J r]``, for ``size`` variables."""

    def __init__(self, triangle: Array, size: int) -> None:
        if not np.isfinite(triangle).all():
            raise DomainError("the Jacobian is not finite")
        self._factor, self._right = triangle[:, :size], triangle[:, size]
        self.lengths: Array = np.linalg.norm(self._factor, axis=0)

    def step(self, units: Array, radius: float) -> Step:
        """The step of the least model within the radius, by singular values."""
        left, sizes, rows = np.linalg.svd(self._factor / units, full_matrices=False)
        right = left.T @ self._right
        usable = sizes > np.finfo(float).eps * sizes.max(initial=0.0)
        right = np.where(usable, right, 0.0)
        sizes = np.where(usable, sizes, 1.0)
        with np.errstate(all="ignore"):  # squares of small sizes underflow
            damping = _damping(sizes, right, radius)
            shares = sizes * right / (sizes * sizes + damping)
        fallen = right - sizes * shares
        decrease = 0.5 * float(right @ right - fallen @ fallen)
        return Step(-rows.T @ shares, float(np.linalg.norm(shares)), decrease, damping > 0)


class Multiplied:
    """The model of products with ``Jᵀ J``."""

    def __init__(self, run: LevenbergMarquardt, x: Array, gradient: Array) -> None:
        self._run, self._x, self._gradient = run, x, gradient
        self.lengths: Array = np.ones(x.size)

    def step(self, units: Array, radius: float) -> Step:
        """The step that conjugate gradients reach, within the radius."""
        z, left = np.zeros(self._x.size), self._gradient.copy()
        way, square = -left, float(left @ left)
        enough = _RESIDUAL * _RESIDUAL * square
        decrease, bounded = 0.0, False
        for _ in range(self._x.size):
            turned = self._run.product(self._x, way)
            curvature = float(way @ turned)
            length = square / curvature if curvature > 0 else np.inf
            if not isfinite(length) or np.linalg.norm(z + length * way) >= radius:
                length, bounded = _to_sphere(z, way, radius), True
            decrease -= length * float(left @ way) + 0.5 * length * length * curvature
            z, left = z + length * way, left + length * turned
            following = float(left @ left)
            if bounded or following <= enough:
                break
            way, square = following / square * way - left, following
        return Step(z, float(np.linalg.norm(z)), decrease, bounded)


def _norm(point: Point) -> float:
    return float(np.abs(point.gradient).max())


def _damping(sizes: Array, right: Array, radius: float) -> float:
    """``λ`` of the step ``s c / (s² + λ)`` whose length is the radius; 0 if it is not longer.

    By Newton's method for ``1/|step| = 1/radius``, which is concave: it never goes too far from 0.
    """
    damping = 0.0
    for _ in range(100):
        shares = sizes * right / (sizes * sizes + damping)
        length = float(np.linalg.norm(shares))
        if length <= 1.001 * radius:
            return damping
        slope = -float(shares @ (shares / (sizes * sizes + damping))) / length
        damping += length / radius * (radius - length) / slope
    return damping


def _to_sphere(z: Array, way: Array, radius: float) -> float:
    """The positive ``t`` with ``|z + t way| = radius``."""
    a, b, c = float(way @ way), float(z @ way), float(z @ z) - radius * radius
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return max(root - b, 0.0) / a if b <= 0 else max(-c, 0.0) / (root + b)
