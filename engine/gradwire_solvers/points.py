"""Evaluations at points: counted, remembered for a while, and refused where they are not finite."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from gradwire_engine.answer import Array, Direction, Nonfinite
from gradwire_engine.errors import DerivativeError, DomainError, Place

from gradwire_solvers.layout import Layout
from gradwire_solvers.objective import Notes, Objective
from gradwire_solvers.progress import Monitor, Stopped

Result = TypeVar("Result")

#: Points that are remembered: a line search may end at one that it did not try last.
_RECENT = 4


class Recent(Generic[Result]):
    """A function of a point that remembers its latest results."""

    def __init__(self, function: Callable[[Array], Result], most: int = _RECENT) -> None:
        self._function = function
        self._found: deque[tuple[Array, Result]] = deque(maxlen=most)

    def __call__(self, x: Array) -> Result:
        for point, result in self._found:
            if (point == x).all():
                return result
        result = self._function(x)
        self._found.appendleft((x.copy(), result))
        return result


class Point(NamedTuple):
    """The value at a point, and the gradient."""

    value: float
    gradient: Array


class Points:
    """An objective's values and derivatives as SciPy asks for them, one after the other.

    Where there is no finite value, infinity stands for it; line searches get a parabola that leads
    back instead, as they interpolate. With constraints, methods judge steps by more than the value,
    and would accept that.
    """

    def __init__(self, objective: Objective, monitor: Monitor, *, constrained: bool) -> None:
        self._objective, self._monitor, self._constrained = objective, monitor, constrained
        #: The value and the gradient at a point.
        self.at = Recent(self._evaluated)
        #: The Hessian of a few variables, by products.
        self.matrix = Recent(self._columns, 1)

    def value(self, x: Array) -> float:
        """``f(x)``, or what stands for it."""
        return self._searched(x).value

    def gradient(self, x: Array) -> Array:
        """``∇f(x)``, or what stands for it."""
        return self._searched(x).gradient

    def product(self, x: Array, v: Array) -> Array:
        """``H(x) v``."""
        self._monitor.look()
        self._monitor.evaluations.hessian += 1
        return checked_curvature(self._objective.hessian_product(x, v))

    def _columns(self, x: Array) -> Array:
        return np.array([self.product(x, unit) for unit in np.eye(x.size)]).T

    def _evaluated(self, x: Array) -> Point:
        self._monitor.look()
        counts = self._monitor.evaluations
        counts.value += 1
        counts.gradient += 1
        if self._monitor.best is None:
            return Point(*self._objective.value_and_gradient(x))
        try:
            value, gradient = self._objective.value_and_gradient(x)
        except DomainError:  # the program has no value there
            value, gradient = np.nan, np.full_like(x, np.nan)
        if value == -np.inf:
            raise Stopped("the value is minus infinity somewhere: there is no minimum")
        # No method ends at infinity, but SciPy's line searches accept what they compare with NaN.
        return Point(np.inf if np.isnan(value) else value, gradient)

    def _searched(self, x: Array) -> Point:
        point, best = self.at(x), self._monitor.best
        if point.value < np.inf or best is None or self._constrained:
            return point
        return _leading_back(x, best.x, self.at(best.x)) or point


def _leading_back(x: Array, start: Array, at: Point) -> Point | None:
    """The point at ``x`` of a parabola that falls from ``start`` on, for a quarter of the way.

    It begins with the slope there is ``at`` the start, and is higher than that at ``x``. None where
    its numbers are too large.
    """
    way = x - start
    length = np.abs(way).max()
    with np.errstate(all="ignore"):
        unit = way / length
        slope = max(abs(at.gradient @ unit) * length, np.finfo(float).tiny)
        point = Point(at.value + slope, 3 * slope / length / (unit @ unit) * unit)
    return point if np.isfinite(point.value) and np.isfinite(point.gradient).all() else None


def checked_curvature(found: Array) -> Array:
    """Second derivatives, with which methods go on.

    Raises: ``Stopped`` if they are not finite: some methods would never end.
    """
    if not np.isfinite(found).all():
        raise Stopped("the second derivatives are not finite")
    return found


def check_start(notes: Notes, *parts: float | Array) -> None:
    """Refuse a start at which a value or a derivative is not finite.

    Raises: ``DomainError``, at the place in the program where it stopped being finite.
    """
    if not all(np.isfinite(part).all() for part in parts):
        raise _nonfinite_start(notes.nonfinite)


def check_connected(notes: Notes, layout: Layout) -> None:
    """Refuse a target that depends on no source at all.

    Raises: ``DerivativeError``, with the reason why the first has no derivative.
    """
    if set(layout.paths) <= notes.unconnected.keys():
        why = notes.unconnected[layout.paths[0]]
        at = why.node or Place(pointer="/sources")
        detail = f"the target has no derivative in any source: {why.detail}"
        raise DerivativeError(detail, at=at, hint="name the sources that it depends on")


def _nonfinite_start(found: Mapping[Direction, Nonfinite]) -> DomainError:
    """The error of a start at which something is not finite."""
    direction: Direction = "forward" if "forward" in found else "backward"
    what = "the target" if direction == "forward" else "the derivative of the target"
    where = found.get(direction)
    if where is None:
        return DomainError("the target or its derivative is not finite at the start")
    detail = f"{what} is not finite at the start: {where.instruction} is the first that is not"
    return DomainError(detail, at=where.node, hint=where.hint or "start from another point")


def projected_norm(x: Array, gradient: Array, limits: tuple[Array, Array] | None) -> float:
    """The largest element of the gradient; within bounds, of ``x − P(x − ∇f)``, ``P`` clipping."""
    if limits is not None:
        gradient = x - np.clip(x - gradient, *limits)
    return float(np.abs(gradient).max())
