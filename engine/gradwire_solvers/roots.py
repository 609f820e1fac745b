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
#: The share of the variables that Newton's step is at most at a root: where values only tend to
#: zero, as ``exp(-x)`` and ``1/x`` do, it is never as small before they underflow.
_STEP, _LOOSE_STEP = 1e-5, 1e-6
#: The share of what the values consist of that rounding may leave.
_ROUNDED = 1e-14
#: The halvings of the way to where values become 0.
_HALVINGS = 60
#: Most variables whose Jacobian tells what each value consists of.
_MOST_LISTED = 200
#: How many times further than the start from 0 is far.
_FAR = 1e4
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
        left = float(np.abs(residuals).max())
        self._monitor.begin(self._x, left, left, notes)
        start = self._problem.start
        if not np.array_equal(start, self._x):  # which a run that goes on left long ago
            residuals = self._probed(start)
        largest = float(np.abs(residuals).max())
        if not largest:
            return Ending(start, 0.0, 0.0, True, "the values are zero at the start")
        x, scaled = self._x, self._is_scaled
        for _ in range(_ATTEMPTS if scaled else 1):
            result, x = self._attempt(x)
            norm = float(np.abs(self._residuals(x)).max())
            success = self._is_root(x, largest)
            if not (success or scaled):
                success = self._is_loosely(x, largest, result)
            if success or not norm < left:
                break
            left = norm
        message = str(result.message)
        if not success:
            become = "only tend to" if norm <= _NOTHING * largest else "do not become"
            message = f"the values {become} zero: {norm:g} is left; {message}"
        elif not result.success:
            message = f"the values are zero but for rounding: {norm:g} is left"
        return Ending(x, norm, norm, success, message)

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
        unit, step = power_of_two(np.array(self._downhill(x, self._residuals(x)))).tolist()
        return unit, step

    def _downhill(self, x: Array, residuals: Array) -> tuple[float, float]:
        """The largest value, and the length of the best step along the gradient of their squares.

        Divided by the largest first, since squares of small values are none.
        """
        largest = float(np.abs(residuals).max())
        gradient = self._problem.transposed_product(x, residuals)
        along = self._problem.product(x, gradient)
        with np.errstate(all="ignore"):
            length = np.linalg.norm(gradient)
            return largest, float(length**3 / (along @ along))

    def _is_loosely(self, x: Array, largest: float, result: OptimizeResult) -> bool:
        """True if the method has ended where explicit tolerances are met, near a root."""
        left = np.abs(self._residuals(x))
        if not result.success or not left.max() <= _LEFT * largest:
            return False
        tolerances = [name for name in self._given.options if name not in _PURE]
        return self._judged(x)[1] <= self._given.loosened(tolerances, _LOOSE_STEP)

    def _is_root(self, x: Array, largest: float) -> bool:
        """True if what is left is small for what the values consist of, and Newton's step is, too.

        Or what is left is nothing beside the ``largest`` value at the start. Far from the start all
        is small for what the values consist of: so they are much smaller than at the start, too.
        """
        share, step = self._judged(x)
        left = float(np.abs(self._residuals(x)).max())
        is_near = bool((np.abs(x) <= _FAR * np.abs(self._problem.start)).all())
        small = share <= _ROOT and (is_near or left <= _LEFT * largest)
        return step <= _STEP and (small or left <= _NOTHING * largest)

    def _judged(self, x: Array) -> tuple[float, float]:
        """The values' largest share of ``Σ |Jᵢⱼ xⱼ|``, and that of Newton's step in variables.

        Variables are as large as here or at the start; those that start at 0, as the largest.
        Of many variables it is the step along the gradient instead.
        """
        residuals, start = self._residuals(x), self._problem.start
        sizes = np.maximum(np.abs(x), np.abs(start))
        if not residuals.any():
            return 0.0, self._edge(x)
        with np.errstate(all="ignore"):
            if x.size > _MOST_LISTED:
                along = [np.abs(self._problem.product(x, v)).max() for v in (x, x - start)]
                share = np.abs(residuals).max() / max(along)
                step = self._downhill(x, residuals)[1] / np.linalg.norm(sizes)
                return _finite(share), max(self._edge(x), _finite(step))
            jacobian = self._problem.dense(self._problem.jacobian(x))
            consist = np.abs(jacobian) @ sizes
            share = np.where(residuals == 0, 0.0, np.abs(residuals) / consist).max()
            sizes = np.where(start == 0, sizes.max(), sizes)
            newton = _newton(jacobian * sizes, residuals, np.abs(jacobian) @ np.abs(x))
            return _finite(share), max(self._edge(x), _finite(newton))

    def _edge(self, x: Array) -> float:
        """Newton's step along the way from the start, where values become 0 that are 0 around.

        As a share of the way there: it is small where ``x**2`` and ``maximum(x, 0)`` do, and not
        where ``exp(-x)`` underflows. 0 where no values are.
        """
        start, zero = self._problem.start, self._residuals(x) == 0
        if not zero.any():
            return 0.0
        way, first = x - start, np.abs(self._probed(start))
        zero &= first != 0
        zero &= np.abs(self._problem.product(x, way)) <= _NOTHING * first
        near, far = 0.0, 1.0
        for _ in range(_HALVINGS if zero.any() else 0):
            middle = (near + far) / 2
            if self._probed(start + middle * way)[zero].any():
                near = middle
            else:
                far = middle
        edge = start + near * way
        left = np.where(zero, np.abs(self._probed(edge)), 0.0)
        with np.errstate(all="ignore"):
            shares = left / np.abs(self._problem.product(edge, near * way))
        return _finite(np.where(left == 0, 0.0, shares).max())

    def _options(self) -> dict[str, Any]:
        options = self._monitor.left(self._given.options)
        if self._is_scaled:
            options = {**_TOLERANCES[self._given.method], **options}
        if self._given.method == "krylov":  # its differences have to outlast rounding
            step = max(np.finfo(part.dtype).eps for part in self._problem.layout.parts) ** 0.5
            options["jac_options"] = {"rdiff": float(step)}
        return options

    def _probed(self, x: Array) -> Array:
        """The residuals of a point that is no step of the method."""
        self._monitor.look()
        self._monitor.evaluations.value += 1
        return self._problem.residuals(x)

    def _evaluated(self, x: Array) -> Array:
        residuals = self._probed(x)
        largest = float(np.abs(residuals).max(initial=0.0))
        if self._monitor.best is not None and np.isfinite(largest):
            self._monitor.step(x, largest, largest)
        return residuals

    def _jacobian(self, x: Array) -> Array:
        self._monitor.look()
        self._monitor.evaluations.gradient += 1
        return self._problem.dense(self._problem.jacobian(x))


def _newton(jacobian: Array, residuals: Array, consist: Array) -> float:
    """The largest element of Newton's step, but for what rounding may have left of the values.

    These ``consist`` of terms of this size.
    """
    rows = np.abs(jacobian).sum(axis=1)
    if (residuals[rows == 0] != 0).any() or not np.isfinite(rows).all():
        return np.inf
    rows = np.where(rows > 0, rows, 1.0)
    left, sizes, right = np.linalg.svd(jacobian / rows[:, None])
    parts = left.T @ (residuals / rows)
    rounded = _ROUNDED * np.abs(left.T) @ (consist / rows)
    steps = np.where(np.abs(parts) <= rounded, 0.0, parts / sizes)
    return float(np.abs(right.T @ steps).max())


def _finite(share: Any) -> float:
    """A share, infinite instead of NaN."""
    return float(np.nan_to_num(share, nan=np.inf, posinf=np.inf))
