"""Splines of ``scipy.interpolate`` through recorded values, and at recorded points.

A spline with known knots is a piecewise polynomial whose coefficients are linear in its values, or
given by formulas of them (``PchipInterpolator``, ``Akima1DInterpolator``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gradwire.tracing.lazy_arrays import holds_recorded
from gradwire.tracing.linear_maps import MOST_ELEMENTS, arguments
from gradwire.tracing.piecewise import Clamped, PiecewisePolynomial, polynomial_of, unknown
from gradwire.tracing.substitutes import Method, Substitute, substitute, substituted_method

#: NumPy without its annotations, which do not know recorded arrays.
_np: Any = np


def _known(original: Any, given: dict[str, Any], but: str) -> None:
    recorded = [
        name for name, value in given.items() if name not in but.split() and holds_recorded(value)
    ]
    if recorded:
        raise unknown(
            f"scipy.interpolate.{original.__name__} with recorded {', '.join(recorded)}",
            "its knots and options need to be known; numpy.interp takes recorded knots",
        )


def _linear(fit: Callable[[Any], Any], y: Any, axis: int) -> PiecewisePolynomial:
    """The spline through values, by those through unit vectors along the first axis."""
    rows = _np.moveaxis(_np.asarray(y), axis, 0)
    length = rows.shape[0]
    if length * length > MOST_ELEMENTS // 8:
        raise unknown(f"a spline through {length} recorded values", "take fewer knots")
    unit, zero = polynomial_of(fit(np.eye(length))), polynomial_of(fit(np.zeros((length, 1))))
    c = _np.tensordot(unit.c - zero.c, rows, axes=1)
    if zero.c.any():
        c = c + zero.c.reshape(*zero.c.shape[:2], *[1] * (c.ndim - 2))
    return PiecewisePolynomial(unit.x, c, unit.extrapolate, axis % _np.ndim(y))


def _cubic(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``CubicSpline`` through recorded values."""
    given = arguments(original, args, kwargs)
    _known(original, given, "y")
    y, axis, ends = given["y"], given["axis"], given["bc_type"]
    options = {"bc_type": ends, "extrapolate": given["extrapolate"]}
    if ends == "periodic":
        rows = _np.moveaxis(_np.asarray(y), axis, 0)
        if not bool(_np.all(_np.abs(rows[0] - rows[-1]) <= 1e-15 * (1 + _np.abs(rows[-1])))):
            raise ValueError("The first and last `y` point along axis 0 must be identical")

        def fit(values: Any) -> Any:
            return original(given["x"], np.concatenate([values, values[:1]]), **options)

        made = _linear(fit, rows[:-1], 0)
        made.axis = axis % _np.ndim(y)
        return made

    def through(values: Any) -> Any:
        return original(given["x"], values, **_scalar_ends(options, values.shape[1:]))

    return _linear(through, y, axis)


def _scalar_ends(options: dict[str, Any], shape: tuple[int, ...]) -> dict[str, Any]:
    """Options with the derivatives at the ends, which are numbers, for values of a shape."""
    ends = options["bc_type"]
    if isinstance(ends, str):
        return options
    given: list[Any] = []
    for end in ends:
        if isinstance(end, str):
            given.append(end)
            continue
        if np.ndim(end[1]):
            raise unknown(
                "scipy.interpolate.CubicSpline with derivatives at the ends for each of several "
                "curves",
                "make a spline for each",
            )
        given.append((end[0], np.full(shape, end[1])))
    return options | {"bc_type": tuple(given)}


def _hermite(x: Any, y: Any, slopes: Any, axis: int, extrapolate: Any) -> PiecewisePolynomial:
    """The cubic pieces with these values and slopes at the knots; axis 0 of both."""
    width = np.diff(x).reshape(-1, *[1] * (_np.ndim(y) - 1))
    secant = (y[1:] - y[:-1]) / width
    bend = (slopes[:-1] + slopes[1:] - 2 * secant) / width
    second = (secant - slopes[:-1]) / width - bend
    c = _np.stack([bend / width, second, slopes[:-1], y[:-1]])
    return PiecewisePolynomial(x, c, extrapolate, axis)


def _values(
    original: Any, args: Any, kwargs: Any, also: str = ""
) -> tuple[dict[str, Any], Any, Any, int]:
    given = arguments(original, args, kwargs)
    _known(original, given, f"y {also}")
    x = np.asarray(given["x"], float)
    y = _np.asarray(given["y"])
    axis = given["axis"] % y.ndim
    if y.dtype.kind not in "fc":
        y = y.astype(float)
    if np.any(np.diff(x) <= 0):
        raise ValueError("`x` must be strictly increasing sequence.")
    return given, x, _np.moveaxis(y, axis, 0), axis


def _cubic_hermite(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``CubicHermiteSpline``."""
    given, x, y, axis = _values(original, args, kwargs, "dydx")
    slopes = _np.moveaxis(_np.asarray(given["dydx"]), axis, 0)
    return _hermite(x, y, slopes, axis, given["extrapolate"])


def _pchip(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``PchipInterpolator``: slopes are weighted harmonic means of those beside.

    Source: Fritsch and Butland, A Method for Constructing Local Monotone Piecewise Cubic
    Interpolants (1984).
    """
    given, x, y, axis = _values(original, args, kwargs)
    h = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
    m = (y[1:] - y[:-1]) / h
    if len(x) == 2:
        return _hermite(x, y, _np.concatenate([m, m]), axis, given["extrapolate"])
    before, after = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    flat = np.sign(m[1:]) * np.sign(m[:-1]) <= 0
    safe = [_np.where(flat, 1.0, part) for part in (m[:-1], m[1:])]
    inner = _np.where(flat, 0.0, (before + after) / (before / safe[0] + after / safe[1]))
    ends = [_pchip_end(h[i], h[j], m[i], m[j]) for i, j in ((0, 1), (-1, -2))]
    slopes = _np.concatenate([ends[0][None], inner, ends[1][None]])
    return _hermite(x, y, slopes, axis, given["extrapolate"])


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """The slope at an end: of three points, limited so that the shape is kept."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = np.sign(d) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return _np.where(turned, 0.0, _np.where(steep, 3.0 * m0, d))


def _akima(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``Akima1DInterpolator``: slopes are means weighted by the changes beside.

    Source: Akima, A New Method of Interpolation and Smooth Curve Fitting (1970).
    """
    given, x, y, axis = _values(original, args, kwargs)
    how = False if given["extrapolate"] is None else given["extrapolate"]
    if len(x) == 2:
        slope = (y[1:] - y[:-1]) / np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
        return _hermite(x, y, _np.concatenate([slope, slope]), axis, how)
    m = (y[1:] - y[:-1]) / np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
    low, high = 2 * m[0] - m[1], 2 * m[-1] - m[-2]
    parts = [2 * low - m[0], low, *m, high, 2 * high - m[-1]]
    m = _np.stack(parts)
    change = np.abs(m[1:] - m[:-1])
    if given["method"] == "makima":
        change = change + 0.5 * np.abs(m[1:] + m[:-1])
    total = change[2:] + change[:-2]
    flat = total <= 1e-9 * _np.max(total, initial=-np.inf)
    weighted = change[2:] * m[1:-2] + change[:-2] * m[2:-1]
    slopes = weighted / _np.where(flat, 1.0, total)
    middle = 0.5 * (m[3:] + m[:-3])
    return _hermite(x, y, _np.where(flat, middle, slopes), axis, how)


def _interp1d(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``interp1d`` through recorded values."""
    given = arguments(original, args, kwargs)
    _known(original, given, "y fill_value")
    if not given["assume_sorted"]:
        order = np.argsort(given["x"], kind="mergesort")
        given["x"] = np.asarray(given["x"])[order]
        given["y"] = _np.take(_np.asarray(given["y"]), order, axis=given["axis"])
    del given["copy"], given["assume_sorted"]  # used above, or without a result of its own
    return _of_interp1d(**given)


def _of_interp1d(x: Any, y: Any, kind: Any, axis: int, bounds_error: Any, fill_value: Any) -> Any:
    x, y = np.asarray(x, float), _np.asarray(y)
    rows = _np.moveaxis(y, axis, 0)
    rows = rows if rows.dtype.kind in "fc" else rows.astype(float)
    place = axis % y.ndim
    steps = {"nearest": "left", "nearest-up": "right", "previous": "right", "next": "left",
             "zero": "right"}  # fmt: skip
    kind = {1: "linear", 0: "zero", 2: "quadratic", 3: "cubic"}.get(kind, kind)
    if kind in ("linear", "slinear"):
        width = np.diff(x).reshape(-1, *[1] * (rows.ndim - 1))
        c = _np.stack([(rows[1:] - rows[:-1]) / width, rows[:-1]])
        spline = PiecewisePolynomial(x, c, True, place)
    elif kind in steps:
        inner = (x[:-1] + x[1:]) / 2 if "nearest" in kind else x[:-1] if kind == "next" else x[1:]
        spline = PiecewisePolynomial(
            np.concatenate([x[:1], inner, x[-1:]]), rows[None], True, place, steps[kind]
        )
    else:
        module = vars(sys.modules["scipy.interpolate"])
        order = {"quadratic": 2, "cubic": 3}.get(kind, kind)
        spline = _linear(lambda values: module["make_interp_spline"](x, values, order), rows, 0)
        spline.axis = place
    if isinstance(fill_value, str):  # extrapolate; of steps only to the side that they go on to
        return Clamped(
            spline, np.nan if kind == "previous" else None, np.nan if kind == "next" else None
        )
    below, above = (
        fill_value if isinstance(fill_value, tuple) and len(fill_value) == 2 else (fill_value,) * 2
    )
    if any(np.ndim(value) for value in (below, above)):
        raise unknown("interp1d with arrays as fill_value", "give numbers")
    no_value = isinstance(below, float) and math.isnan(below)
    refuses = bounds_error if bounds_error is not None else no_value
    return Clamped(spline, below, above, refuses=bool(refuses))


def _interpolating(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``make_interp_spline`` through recorded values."""
    given = arguments(original, args, kwargs)
    _known(original, given, "y")
    y, axis = given.pop("y"), given.pop("axis")
    ends = given.get("bc_type")
    if isinstance(ends, tuple) and not all(end is None or isinstance(end, str) for end in ends):
        raise unknown("make_interp_spline with derivatives at the ends", "use CubicSpline")
    if ends == "periodic":
        raise unknown("make_interp_spline with periodic ends", "use CubicSpline")
    return _linear(lambda values: original(y=values, **given), y, axis)


def _b_spline(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``BSpline`` with recorded coefficients."""
    given = arguments(original, args, kwargs)
    _known(original, given, "c")
    c, axis = given.pop("c"), given.pop("axis")
    count = len(given["t"]) - given["k"] - 1
    coefficients = _np.moveaxis(_np.asarray(c), axis, 0)[:count]
    made = _linear(lambda values: original(c=values, **given), coefficients, 0)
    made.axis = axis % _np.ndim(c)
    return made


def _splrep(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``splrep`` of recorded values that it goes through: knots, coefficients and degree."""
    given = arguments(original, args, kwargs)
    _known(original, given, "y")
    if given["s"] or (given["w"] is not None and given["s"] is None and given["t"] is None):
        raise unknown("scipy.interpolate.splrep that smooths", "s=0 goes through the values")
    if given["per"] or given["full_output"]:
        raise unknown("scipy.interpolate.splrep with per or full_output", "leave them out")
    y = _np.asarray(given.pop("y"))
    length = y.shape[0]
    each = [original(y=row, **given) for row in np.eye(length)]
    t, _, k = each[0]
    return t, np.stack([part[1] for part in each], axis=1) @ y, k


def _splev(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``splev`` at recorded points, or of recorded coefficients."""
    given = arguments(original, args, kwargs)
    tck, ext = given["tck"], given["ext"]
    if not isinstance(tck, (tuple, list)):
        return tck(given["x"], given["der"])
    t, c, k = tck
    if isinstance(c, (tuple, list)) and np.ndim(c[0]):
        return [_splev(original, given["x"], (t, each, k), given["der"], ext) for each in c]
    return _evaluated(_spline(t, c, k), given["x"], given["der"], ext)


def _spline(t: Any, c: Any, k: int) -> PiecewisePolynomial:
    if holds_recorded(t):
        raise unknown("a spline with recorded knots", "numpy.interp takes recorded knots")
    kind = vars(sys.modules["scipy.interpolate"])["BSpline"]
    if holds_recorded(c):
        made: PiecewisePolynomial = _b_spline(kind, t, c, k)
        return made
    return polynomial_of(kind(t, np.asarray(c)[: len(t) - k - 1], k))


def _evaluated(spline: PiecewisePolynomial, x: Any, nu: int, ext: Any) -> Any:
    """FITPACK's spline at points, outside of its knots by ``ext``."""
    x, first, last = _np.asarray(x), spline.x[0], spline.x[-1]
    how = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}.get(ext, ext)
    outside = (x < first) | (x > last)
    if how == 2 and bool(_np.any(outside)):
        raise ValueError("Invalid input data")
    made = spline(_np.clip(x, first, last) if how == 3 else x, nu)
    return _np.where(outside, 0.0, made) if how == 1 else made


def _univariate(original: Any, *args: Any, **kwargs: Any) -> Any:
    """``InterpolatedUnivariateSpline``, ``UnivariateSpline`` with s=0: through recorded values."""
    given = arguments(original, args, kwargs)
    _known(original, given, "y")
    if original.__name__ == "UnivariateSpline" and given["s"] != 0:
        raise unknown(
            "scipy.interpolate.UnivariateSpline that smooths recorded values",
            "its knots hang on them; s=0 goes through the values",
        )
    y = _np.asarray(given.pop("y"))
    each = [original(y=row, **given)._eval_args for row in np.eye(y.shape[0])]
    t, _, k = each[0]
    count = len(t) - k - 1
    matrix = np.stack([part[1][:count] for part in each], axis=1)
    return _Univariate(_spline(t, matrix @ y, k), given["ext"])


class _Univariate:
    def __init__(self, spline: PiecewisePolynomial, ext: Any) -> None:
        self._spline, self._ext = spline, ext

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        return _evaluated(self._spline, x, nu, self._ext if ext is None else ext)

    def derivative(self, n: int = 1) -> _Univariate:
        return _Univariate(self._spline.derivative(n), self._ext)

    def integral(self, a: Any, b: Any) -> Any:
        inside = [_np.clip(end, self._spline.x[0], self._spline.x[-1]) for end in (a, b)]
        return self._spline.integrate(*inside)


# Known splines at recorded points


def _at(original: Any, spline: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    return polynomial_of(spline)(x, nu, extrapolate)


def _integral(original: Any, spline: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    return polynomial_of(spline).integrate(a, b, extrapolate)


def _univariate_at(original: Any, spline: Any, x: Any, nu: int = 0, ext: Any = None) -> Any:
    how = spline.ext if ext is None else ext
    return _evaluated(_spline(*spline._eval_args), x, nu, how)


def _interp1d_at(original: Any, found: Any, x: Any) -> Any:
    if not hasattr(found, "_kind"):
        raise unknown(f"{type(found).__name__} at recorded points", "use CubicSpline")
    kind = found._spline.k if found._kind == "spline" else found._kind
    fill = "extrapolate" if found._extrapolate else found.fill_value
    return _of_interp1d(found.x, found.y, kind, found.axis, found.bounds_error, fill)(x)


MADE: dict[str, Callable[..., Any]] = {
    "CubicSpline": _cubic,
    "CubicHermiteSpline": _cubic_hermite,
    "PchipInterpolator": _pchip,
    "Akima1DInterpolator": _akima,
    "interp1d": _interp1d,
    "make_interp_spline": _interpolating,
    "BSpline": _b_spline,
    "splrep": _splrep,
    "splev": _splev,
    "UnivariateSpline": _univariate,
    "InterpolatedUnivariateSpline": _univariate,
}
CALLED: dict[str, dict[str, Callable[..., Any]]] = {
    "PPoly": {"__call__": _at, "integrate": _integral},
    "BSpline": {"__call__": _at, "integrate": _integral},
    "UnivariateSpline": {"__call__": _univariate_at},
    "interp1d": {"__call__": _interp1d_at},
}


def functions(interpolate: Any) -> Iterator[Substitute]:
    """The substitutes of functions and classes of ``scipy.interpolate``."""
    for name, record in MADE.items():
        original = vars(interpolate)[name]
        yield original, substitute(original, partial(record, original))


def methods(interpolate: Any) -> Iterator[Method]:
    """The substitutes of methods of its classes."""
    for name, records in CALLED.items():
        for method, record in records.items():
            kind = next(base for base in vars(interpolate)[name].__mro__ if method in vars(base))
            yield substituted_method(kind, method, partial(record, vars(kind)[method]))
