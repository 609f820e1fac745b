"""Piecewise polynomials of recorded coefficients, or at recorded points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tracing.traces import not_traceable

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


class PiecewisePolynomial:
    """``sum_j c[j, i] (x - knots[i])^(degree - j)`` between two knots, recorded or not."""

    def __init__(
        self, knots: Any, c: Any, extrapolate: Any = True, axis: int = 0, side: Any = "right"
    ) -> None:
        self.x: Any = knots
        self.c: Any = c
        self.extrapolate: Any = True if extrapolate is None else extrapolate
        self.axis: int = axis
        #: The interval of a point that is a knot.
        self._side = side

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """The values at points, or those of the derivative of order ``nu``."""
        how = self.extrapolate if extrapolate is None else extrapolate
        c = _differentiated(self.c, nu) if nu >= 0 else self.antiderivative(-nu).c
        x, knots = _np.asarray(x), self.x
        first, last = knots[0], knots[-1]
        if how == "periodic":
            x = first + (x - first) % (last - first)
        inside = np.searchsorted(knots[1:-1], x, side=self._side)

        def beside(array: Any) -> Any:
            return array[(..., *[None] * (c.ndim - 2))] if c.ndim > 2 else array

        distance = beside(x - _np.take(knots, inside))  # which records, as knots[inside] does not
        made = _np.take(c[0], inside, axis=0)
        for row in range(1, c.shape[0]):
            made = made * distance + _np.take(c[row], inside, axis=0)
        if how is False:
            made = _np.where(beside((x >= first) & (x <= last)), made, np.nan)
        if self.axis and c.ndim > 2:
            axes = range(_np.ndim(x))
            made = _np.moveaxis(made, list(axes), [self.axis + i for i in axes])
        return made

    def derivative(self, nu: int = 1) -> PiecewisePolynomial:
        """The derivative of order ``nu``."""
        if nu < 0:
            return self.antiderivative(-nu)
        return self._like(_differentiated(self.c, nu))

    def antiderivative(self, nu: int = 1) -> PiecewisePolynomial:
        """The integral from the first knot on, ``nu`` times."""
        c = self.c
        for _ in range(nu):
            powers = np.arange(c.shape[0], 0, -1.0).reshape(-1, *[1] * (c.ndim - 1))
            rows = c / powers
            widths = np.diff(self.x).reshape(-1, *[1] * (c.ndim - 2))
            total: Any = 0.0
            for row in rows:
                total = (total + row) * widths
            start = _np.concatenate([0 * total[:1], _np.cumsum(total[:-1], axis=0)])
            c = _np.concatenate([rows, start[None]])
        return self._like(c)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral between two points."""
        how = self.extrapolate if extrapolate is None else extrapolate
        if how == "periodic":
            raise unknown("integrate of a periodic spline", "integrate over its period by yourself")
        whole = self.antiderivative()
        return whole(b, extrapolate=how) - whole(a, extrapolate=how)

    def _like(self, c: Any) -> PiecewisePolynomial:
        return PiecewisePolynomial(self.x, c, self.extrapolate, self.axis, self._side)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unknown(
            f"{name} of a spline through recorded values",
            "it has calls, derivative, antiderivative and integrate",
        )


class Clamped:
    """A spline that is something else outside of its knots: numbers, or an error."""

    def __init__(self, spline: Any, below: Any, above: Any, *, refuses: bool = False) -> None:
        self._spline, self._outside, self._refuses = spline, (below, above), refuses

    def __call__(self, x: Any) -> Any:
        """The values at points."""
        x, knots, axis = _np.asarray(x), self._spline.x, self._spline.axis
        made = self._spline(x)
        more = made.ndim - _np.ndim(x)
        for outside, value, name in zip(
            (x < knots[0], x > knots[-1]), self._outside, ("below", "above"), strict=True
        ):
            if self._refuses and bool(_np.any(outside)):
                raise ValueError(f"A value in x_new is {name} the interpolation range.")
            if value is not None:
                where = outside[(*[None] * axis, ..., *[None] * (more - axis))] if more else outside
                made = _np.where(where, value, made)
        return made


def _differentiated(c: Any, nu: int) -> Any:
    for _ in range(nu):
        if c.shape[0] == 1:
            return 0 * c
        powers = np.arange(c.shape[0] - 1, 0, -1.0).reshape(-1, *[1] * (c.ndim - 1))
        c = c[:-1] * powers
    return c


def unknown(what: str, hint: str) -> Exception:
    """The error of what cannot be recorded."""
    return not_traceable(f"{what} cannot be recorded", hint)


def polynomial_of(spline: Any, degree: int | None = None, knots: Any = None) -> PiecewisePolynomial:
    """One of SciPy's splines as a piecewise polynomial: its Taylor series at each knot."""
    if knots is None and hasattr(spline, "c") and not hasattr(spline, "tck"):
        return PiecewisePolynomial(spline.x, spline.c, spline.extrapolate, spline.axis)
    if knots is None:
        degree = spline.k
        knots = np.unique(spline.t[degree : len(spline.t) - degree])
    assert degree is not None
    rows = [spline(knots[:-1], nu=nu) / math.factorial(nu) for nu in range(degree, -1, -1)]
    axis = getattr(spline, "axis", 0)
    c = np.stack([np.moveaxis(row, axis, 0) for row in rows])
    return PiecewisePolynomial(knots, c, getattr(spline, "extrapolate", True), axis)
