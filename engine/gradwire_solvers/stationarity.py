"""A test for a minimum at the end of a run, by relative conditions of first and second order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from gradwire_engine.answer import Array
from gradwire_engine.errors import DerivativeError, DomainError, OverBudget

from gradwire_solvers.constraints import Limits, Multipliers, multipliers
from gradwire_solvers.points import Point
from gradwire_solvers.progress import OutOfTime, Stopped
from gradwire_solvers.quadratic import (
    MOST_WHOLE,
    Product,
    Quadratic,
    of_matrix,
    of_products,
)
from gradwire_solvers.scaling import LARGEST, Box, Scaling, changes

#: A minimum's value can fall by this many roundings of its last decrease, or this share of itself;
#: a sharp one's by less.
_ROUNDINGS, _VALUE, _SHARP = 64, 1e-11, 1e-13
#: The share of the whole decrease that is as good as nothing.
_NOTHING = 1e-20
#: The part of a variable that Newton's step is at most where what a value has fallen by says how
#: far it may still fall.
_NEAR = 1e-4
#: The share of the value's size that complementarity may leave, and that constraints may be
#: violated by, each of its own size.
_COMPLEMENTARITY, VIOLATION = 1e-7, 1e-6
#: The least unit of a variable by which bounds are taken to hold it, as a share of its size.
_BESIDE = 1e-4
#: Negative curvatures are smaller than the largest by less than this share; else they are rounding.
_NEGATIVE = 1e-7
#: Where there are no second derivatives, the share of the value by which it changes at a minimum.
_SLOPE = 1e-7
#: What is raised where second derivatives are not finite, not known, or too large.
_UNKNOWN = (np.linalg.LinAlgError, ValueError, Stopped, DerivativeError, DomainError, OverBudget)
#: A variable that changes the value only by so many times its own size is flat.
_FLAT = 1e6
#: The share of the value's unit by which it may change where a variable is flat.
_UNCHANGED = 1e-9
#: A curvature may be one of no minimum if, over a variable's size, it changes the value by less
#: than this share of what the value has fallen by.
_DEGENERATE = 1e-6
#: The steps by which a value is looked at then: shares of the variable, and in Newton's steps,
#: which are short of a minimum of high order.
_BESIDES, _BEYOND = 1e-6 * 8.0 ** np.arange(6), 64.0
#: Products that look for negative curvature, where there are too many variables for all.
_LOOKS = 5


class End(NamedTuple):
    """Where a run has ended, where it began, and the values there and before its last attempt."""

    x: Array
    start: Array
    first: float
    before: float


class Verdict(NamedTuple):
    """A verdict: if the point is a minimum, how far the value may still fall, and why it is none.

    A minimum that is not ``sharp`` has fewer digits than rounding leaves. Along ``way`` the value
    falls on both sides.
    """

    success: bool
    decrease: float
    reason: str
    sharp: bool = False
    way: Array | None = None

    def after(self, earlier: Verdict | None) -> Verdict:
        """This, or that of an earlier point with a larger value that was a minimum, if this is too.

        The last decrease, by which both are measured, is smaller each time.
        """
        if earlier is None or not earlier.success or self.decrease > earlier.decrease:
            return self
        return self._replace(success=True)


class Surface(Protocol):
    """A function with derivatives of first and second order."""

    def at(self, x: Array) -> Point:
        """The value at a point, and the gradient."""
        ...

    def product(self, x: Array, v: Array) -> Array:
        """``H(x) v``."""
        ...

    def matrix(self, x: Array) -> Array:
        """``H(x)``, of a few variables."""
        ...


class Judge:
    """Looks at the ends of runs.

    ``roundoff`` is that of the values, and ``name`` gives the names of elements. The unit of values
    is ``F``, the size of the value, of its last decrease, or of what the slopes that are held
    amount to; the units of variables are those in which they change the value by that. A point is
    a minimum if constraints hold and are complementary, no curvature along them is negative, and
    Newton's step takes no more than rounding off the value, or is itself no more than that.
    """

    def __init__(
        self,
        surface: Surface,
        box: Box | None,
        constraints: Sequence[Limits],
        roundoff: float,
        name: Callable[[int], str],
    ) -> None:
        self._surface, self._box, self._constraints = surface, box, constraints
        self._roundoff, self._name = roundoff, name

    def judged(self, end: End, loose: float = 0.0) -> Verdict:
        """The verdict whether a point is a minimum, to a tolerance that may be ``loose``."""
        try:
            with np.errstate(all="ignore"):
                return self._judged(end, loose)
        except OutOfTime:
            raise
        except _UNKNOWN:
            return self._by_slopes(end, loose)

    def _by_slopes(self, end: End, loose: float) -> Verdict:
        """The same where second derivatives are not known: by how far slopes change the value."""
        point = self._surface.at(end.x)
        change = _first_order(end, point.gradient)
        size = max(abs(point.value), end.before - point.value)
        if not self._constraints and self._box is None and change <= max(_SLOPE, loose) * size:
            return Verdict(True, change, "")
        reason = f"no minimum is known: the value changes by {change:.3g} with a variable's size"
        return Verdict(False, change, f"{reason}, and it has no second derivatives to tell")

    def _judged(self, end: End, loose: float) -> Verdict:
        x, point = end.x, self._surface.at(end.x)
        if np.abs(x).max() > LARGEST:
            return Verdict(False, np.inf, "no minimum: the variables grow without end")
        size = self._size(end, point)
        violated = self._violated(x)
        if violated > max(VIOLATION, loose):
            return Verdict(False, np.inf, f"the constraints are violated by {violated:.3g}")
        units = self._units(x, point, size)
        if (element := self._flat(end, size)) is not None:
            name = self._name(element)
            reason = f"no minimum: the value hardly depends on {name} any more (flat)"
            return Verdict(False, np.inf, reason)
        found = multipliers(x, point.gradient, units.variables, self._box, self._constraints)
        model = self._model(x, found, units)
        negative, way = self._most_negative(x, found, units, model)
        if negative < 0:
            fall = 0.5 * abs(negative) * size
            reason = f"no minimum: the value falls by about {fall:.3g} on both sides of the point"
            return Verdict(False, fall, f"{reason}, as a curvature is negative", way=way)
        decrease = float(model.decreases(1.0).sum())
        share = abs(point.value) / size
        newton = np.zeros(x.size)
        newton[found.free] = np.abs(model.directions @ model.steps)
        newton *= units.variables
        near, there = self._arrived(end, newton, model, loose)
        most = max(_ROUNDINGS * self._roundoff * near, _VALUE * share, loose)
        if found.slack / size > max(_COMPLEMENTARITY, loose):
            detail = f"the value would change by {found.slack:.3g} on the way to what nearly holds"
            return Verdict(False, found.slack, f"no minimum: {detail}")
        nothing = max(abs(point.value), decrease * size) <= _NOTHING * (end.first - point.value)
        nothing &= near
        if decrease <= most or there or nothing:
            if not loose and (lower := self._beside(end, found, newton, size)) is not None:
                return lower
            sharp = there or decrease <= max(self._roundoff**2 * near, _SHARP * share)
            return Verdict(True, decrease * size, "", sharp)
        norm = float(np.abs(found.gradient).max(initial=0.0))
        detail = f"the value would still fall by about {decrease * size:.3g}"
        return Verdict(False, decrease * size, f"no minimum: {detail}, its gradient is {norm:.3g}")

    def scaling(self, x: Array) -> Scaling:
        """The units in which a method is to go on from a point."""
        point = self._surface.at(x)
        with np.errstate(all="ignore"):
            try:
                slopes, curvatures = self._along(x, point.gradient)
            except OutOfTime:
                raise
            except _UNKNOWN:
                slopes, curvatures = point.gradient, np.zeros(x.size)
            return Scaling.of(x, point.value, slopes, curvatures).within(self._box)

    def _size(self, end: End, point: Point) -> float:
        """The unit of values: what the slopes that bounds and constraints hold amount to counts."""
        size = max(abs(point.value), end.before - point.value)
        if not size > 0:
            size = _first_order(end, point.gradient) or 1.0
        if self._box is None and not self._constraints:
            return size
        least = _BESIDE * np.maximum(np.abs(end.x), np.abs(end.start))
        units = np.maximum(self._units(end.x, point, size).variables, least)
        found = multipliers(end.x, point.gradient, units, self._box, self._constraints)
        return max(size, _first_order(end, point.gradient - found.gradient))

    def _units(self, x: Array, point: Point, size: float) -> Scaling:
        slopes, curvatures = self._along(x, point.gradient)
        return Scaling.changing(size, x, slopes, curvatures)

    def _flat(self, end: End, size: float) -> int | None:
        """The first variable that has come to where the value hardly depends on it.

        That is where it no longer changes by steps of half the variable's size.
        """
        x, sizes = end.x, np.maximum(np.abs(end.x), np.abs(end.start))
        limits = _FLAT * sizes
        if x.size > MOST_WHOLE:
            limits = np.full(1, limits.max())
        point = self._surface.at(x)
        flat = (changes(size, *self._along(x, point.gradient)) > limits) & (limits > 0)
        if not flat.any():
            return None
        slopes, curvatures = self._along(end.start, self._surface.at(end.start).gradient)
        flat &= changes(max(abs(end.first), size), slopes, curvatures) <= limits
        for element in np.flatnonzero(flat).tolist():
            step = np.zeros(x.size)
            step[element] = 0.5 * sizes[element]
            values = [self._surface.at(x + way * step).value for way in (1.0, -1.0)]
            least = max(_UNCHANGED * size, _NOTHING * abs(end.first))
            if all(abs(value - point.value) <= least for value in values):
                return int(element)
        return None

    def _along(self, x: Array, gradient: Array) -> tuple[Array, Array]:
        """The slopes and curvatures along each variable; of many, those of one direction."""
        if x.size <= MOST_WHOLE:
            return gradient, np.diag(self._surface.matrix(x))
        length = float(np.linalg.norm(gradient))
        way = gradient if length else np.random.default_rng(0).standard_normal(x.size)
        unit = way / np.linalg.norm(way)
        return np.array([length]), np.array([unit @ self._surface.product(x, unit)])

    def _model(self, x: Array, found: Multipliers, units: Scaling) -> Quadratic:
        """The model along what is free: without variables at their bounds, within constraints."""
        free, scale = found.free, units.variables
        gradient = (units.gradient(found.gradient))[free]
        normals = (found.normals * scale)[:, free]
        if x.size <= MOST_WHOLE:
            matrix = self._surface.matrix(x) - self._curvature(x, found, np.eye(x.size))
            scaled = (scale[:, None] * matrix * scale / units.value)[np.ix_(free, free)]
            basis = _null_space(normals, int(free.sum()))
            model = of_matrix(basis.T @ gradient, basis.T @ scaled @ basis)
            return model._replace(directions=basis @ model.directions)
        return of_products(_within(normals, gradient), self._product(x, found, units, normals))

    def _product(self, x: Array, found: Multipliers, units: Scaling, normals: Array) -> Product:
        """Products with the Hessian of the Lagrangian, in these units, along what is free."""

        def product(v: Array) -> Array:
            whole = np.zeros(x.size)
            whole[found.free] = _within(normals, v)
            whole *= units.variables
            turned = self._surface.product(x, whole) - self._curvature(x, found, whole)
            return _within(normals, units.gradient(turned)[found.free])

        return product

    def _curvature(self, x: Array, found: Multipliers, v: Array) -> Array:
        """``Σ λᵢ ∇²cᵢ v`` of the constraints, of a vector or of columns."""
        total = np.zeros_like(v)
        pairs = zip(self._constraints, found.weights, strict=True)
        for constraint, weights in pairs:
            if weights.any():
                total += constraint.curvature(x, weights) @ v
        return total

    def _most_negative(
        self, x: Array, found: Multipliers, units: Scaling, model: Quadratic
    ) -> tuple[float, Array | None]:
        """The least curvature, and its direction; 0 if it is not negative, or but by rounding."""
        models, count = [model], int(found.free.sum())
        if x.size > MOST_WHOLE and count:
            normals = (found.normals * units.variables)[:, found.free]
            product = self._product(x, found, units, normals)
            models.append(of_products(np.zeros(count), product, _LOOKS))
        known = [each for each in models if each.curvatures.size]
        if not known:
            return 0.0, None
        lowest = min(known, key=lambda each: float(each.curvatures.min()))
        least = float(lowest.curvatures.min())
        largest = max([float(np.abs(each.curvatures).max()) for each in known])
        if least >= -_NEGATIVE * max(largest, 1.0):
            return 0.0, None
        way = np.zeros(x.size)
        way[found.free] = lowest.directions[:, lowest.curvatures.argmin()]
        return least, way * units.variables

    def _arrived(
        self, end: End, newton: Array, model: Quadratic, loose: float
    ) -> tuple[bool, bool]:
        """If Newton's step is a small part of each variable, and if it is no more than rounding.

        It is not small where values only tend to 0, as ``exp(-x)`` does, and where they have fallen
        by so much that what they still fall by is nothing beside it.
        """
        sizes = np.maximum(np.abs(end.x), np.abs(end.start))
        known = model.curvatures > model.floor
        there = known.all() and (newton <= max(np.sqrt(self._roundoff), loose) * sizes).all()
        sizes = np.where(end.start == 0, sizes.max(), sizes)
        near = (newton <= _NEAR * sizes).all() and (known.any() or not model.slopes.any())
        return bool(near), bool(there)

    def _beside(self, end: End, found: Multipliers, newton: Array, size: float) -> Verdict | None:
        """The verdict on a point beside which the value is lower, though derivatives do not say so.

        So it may be where curvatures are as good as none, as of ``x**3``, and at a start that no
        step has left, as of ``-abs(x)``: there derivatives may be conventions.
        """
        x, (value, gradient) = end.x, self._surface.at(end.x)
        if x.size > MOST_WHOLE:
            return None
        sizes, fallen = np.maximum(np.abs(x), np.abs(end.start)), abs(end.first - value)
        sizes = np.where(sizes > 0, sizes, sizes.max() or 1.0)
        bends = 0.5 * np.diag(self._surface.matrix(x)) * sizes * sizes
        unknown = (bends <= _DEGENERATE * max(fallen, size)) | (x == end.start).all()
        low, high = (-np.inf, np.inf) if self._box is None else self._box
        rounded = max(_ROUNDINGS * self._roundoff, _VALUE)
        if self._constraints:
            rounded = _COMPLEMENTARITY
        violated = self._violated(x)
        for element in np.flatnonzero(unknown & (found.free | (gradient == 0))).tolist():
            for way in np.outer([1.0, -1.0], np.eye(x.size)[element]):
                for share in _BESIDES:
                    step = way * max(share * sizes[element], _BEYOND * newton[element])
                    other = self._value(np.clip(x + step, low, high), violated)
                    change = other - value
                    if abs(change) > rounded * max(abs(value), abs(other)) + _NOTHING * fallen:
                        if change > 0:
                            break
                        reason = f"no minimum: the value falls by {-change:.3g} beside it, by"
                        detail = f"a step of {step[element]:.3g} in {self._name(element)}"
                        return Verdict(False, -change, f"{reason} {detail}", way=step)
        return None

    def _violated(self, x: Array) -> float:
        return max([each.violation(x) for each in self._constraints], default=0.0)

    def _value(self, x: Array, most: float) -> float:
        """The value, infinity where there is none, or constraints are violated by more."""
        try:
            return np.inf if self._violated(x) > most else self._surface.at(x).value
        except DomainError:
            return np.inf


def _first_order(end: End, slopes: Array) -> float:
    """The largest change of the value, to first order, by a variable's own size."""
    sizes = np.maximum(np.abs(end.x), np.abs(end.start))
    return float(np.abs(slopes * sizes).max(initial=0.0))


def _null_space(normals: Array, size: int) -> Array:
    """An orthonormal basis of the vectors that are orthogonal to all rows."""
    if not normals.size:
        return np.eye(size)
    _, sizes, rows = np.linalg.svd(normals, full_matrices=True)
    rank = int((sizes > 1e-10 * sizes.max(initial=0.0)).sum())
    basis: Array = rows[rank:].T
    return basis


def _within(normals: Array, v: Array) -> Array:
    """The part of a vector that is orthogonal to all rows."""
    if not normals.size:
        return v
    part: Array = v - normals.T @ np.linalg.lstsq(normals.T, v, rcond=None)[0]
    return part
