"""SciPy's splines through recorded values and at recorded points."""

from typing import Any

import gradwire
import numpy as np
import pytest
from scipy import interpolate
from scipy.interpolate import Akima1DInterpolator, BSpline, CubicSpline, PchipInterpolator, interp1d

RNG = np.random.default_rng(8)
X = np.array([0.0, 0.4, 1.1, 1.5, 2.3, 3.1, 4.2, 5.0])
Y = RNG.normal(size=8)
ROWS = RNG.normal(size=(8, 2))
AT = np.array([0.1, 1.22, 2.5, 4.9, 3.3])
BEYOND = np.array([-0.5, 1.2, 5.5, 2.2])
T = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 5.0, 5.0, 5.0, 5.0])
C = RNG.normal(size=7)
KINDS: tuple[Any, ...] = (
    "linear", "slinear", "quadratic", "cubic", "nearest", "nearest-up", "previous", "next", "zero",
)  # fmt: skip
ENDS: tuple[Any, ...] = ("natural", "clamped", ((1, 0.5), (2, -1.0)), ("natural", (1, 2.0)))
TCK = interpolate.splrep(X, Y, s=0.5)
SMOOTH = interpolate.UnivariateSpline(X, Y, s=0.5)
MADE = {kind: interp1d(X, Y, kind) for kind in KINDS}
CUBIC, B_SPLINE = CubicSpline(X, ROWS), BSpline(T, C, 3)


def periodic(y, x):
    return CubicSpline(X, np.concatenate([y, y[:1]]), bc_type="periodic")(x)


def calculus(y, x):
    spline = CubicSpline(X, y)
    return spline.derivative()(x), spline.antiderivative()(x), spline.integrate(x[0], 3.0)


def outside(how: Any) -> Any:
    return lambda y, x: np.nan_to_num(CubicSpline(X, y, extrapolate=how)(x))


def few(y, x):
    return PchipInterpolator(X[:2], y[:2])(x) + PchipInterpolator(X[:3], y)(x)


def through(kind: Any, **options: Any) -> Any:
    return lambda y, x: kind(X, y, **options)(x)


def known(spline: Any) -> Any:
    return lambda _, x: (spline(x), spline(x, 1))


def steps(kind: Any, fill: Any) -> Any:
    return lambda y, x: np.nan_to_num(interp1d(X, y, kind, bounds_error=False, fill_value=fill)(x))


CASES = [
    *[("cubic", through(CubicSpline, bc_type=ends), Y, BEYOND) for ends in ENDS],
    ("periodic", periodic, Y[:-1], BEYOND),
    *[
        ("outside", outside(how), Y, BEYOND)
        for how in (True, False, "periodic")
    ],
    ("rows", lambda y, x: CubicSpline(X, y, axis=1)(x[:, None], 1), ROWS.T.copy(), AT),
    ("calculus", calculus, Y, AT),
    ("known", lambda _, x: (CUBIC(x), CUBIC(x, 1), CUBIC.integrate(x[0], x[1])), Y, AT),
    ("known", known(PchipInterpolator(X, Y)), Y, AT),
    ("known", known(Akima1DInterpolator(X, Y)), Y, AT),
    ("known", known(SMOOTH), Y, AT),
    ("known", known(B_SPLINE), Y, AT),
    ("pchip", through(PchipInterpolator), Y, BEYOND),
    ("pchip", lambda y, x: PchipInterpolator(X, np.cumsum(y**2))(x), Y, AT),
    ("pchip", few, Y[:3], AT),
    *[("akima", through(Akima1DInterpolator, method=how), ROWS, AT) for how in ("akima", "makima")],
    *[("interp1d", lambda y, x, k=kind: interp1d(X, y, k, axis=0)(x), ROWS, AT) for kind in KINDS],
    *[("interp1d", lambda _, x, k=kind: MADE[k](x), Y, AT) for kind in KINDS],
    *[("fill", steps(kind, "extrapolate"), Y, BEYOND) for kind in KINDS],
    *[("fill", steps(kind, (1.0, 2.0)), Y, BEYOND) for kind in KINDS[:5]],
    *[("interpolating", lambda y, x, k=k: interpolate.make_interp_spline(X, y, k)(x), Y, BEYOND)
      for k in (1, 2, 3, 5)],
    ("b-spline", lambda c, x: BSpline(T, c, 3)(x), C, BEYOND),
    ("b-spline", lambda c, x: BSpline(T, c, 3, extrapolate="periodic")(x), C, BEYOND),
    ("fitpack", lambda y, x: interpolate.splev(x, interpolate.splrep(X, y)), Y, BEYOND),
    *[
        ("fitpack", lambda _, x, ext=ext: interpolate.splev(x, TCK, ext=ext), Y, BEYOND)
        for ext in (0, 1, 3)
    ],
    ("fitpack", lambda y, x: interpolate.InterpolatedUnivariateSpline(X, y, ext=3)(x), Y, BEYOND),
    ("fitpack", lambda y, x: interpolate.UnivariateSpline(X, y, s=0).derivative()(x), Y, AT),
    ("hermite", lambda y, x: interpolate.CubicHermiteSpline(X, y, y**2)(x), Y, AT),
]  # fmt: skip


def test_values_and_derivatives_are_scipys(case, check):
    _, f, *args = case
    check(f, *args, order=1)


def test_a_knot_belongs_to_the_interval_of_scipys(client):
    for kind in KINDS:

        def f(y, x, kind=kind):
            return interp1d(X, y, kind)(x)

        at = np.concatenate([X, (X[1:] + X[:-1]) / 2])
        np.testing.assert_allclose(client.function(f)(Y, at), f(Y, at), atol=1e-12)


def test_flat_parts_stay_flat(client):
    def f(y, x):
        level = np.append(y[:3], [1.0] * 5)
        return PchipInterpolator(X, level)(x), Akima1DInterpolator(X, level)(x)

    np.testing.assert_allclose(client.function(f)(Y, AT), f(Y, AT), atol=1e-12)


REFUSED: dict[str, Any] = {
    "recorded x": lambda y: CubicSpline(y, Y)(AT),
    "smooths": lambda y: interpolate.UnivariateSpline(X, y)(AT),
    "roots": lambda y: CubicSpline(X, y).roots(),
    "griddata": lambda y: interpolate.griddata(X, y, AT),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_hangs_on_values_is_refused_by_name(what, client):
    with pytest.raises(gradwire.NotTraceable, match=what) as caught:
        client.function(REFUSED[what])(Y)
    assert caught.value.hint


def test_points_outside_are_refused_as_by_scipy(client):
    f = client.function(through(interp1d))
    np.testing.assert_allclose(f(Y, AT), through(interp1d)(Y, AT))
    with pytest.raises(ValueError, match="below"):
        f(Y, BEYOND[[0, 1, 1, 1, 1]])
