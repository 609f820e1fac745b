"""Errors about code that cannot be recorded name the user's line and an alternative."""

import fractions
import math
import statistics

import gradwire
import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.optimize
import scipy.spatial

X = np.array([0.1, 0.2, 0.3, 0.4])
T = np.linspace(0.0, 1.0, 4)
ODE, SPLINE = "gradwire.odeint", "numpy.interp"

CASES = [
    ("solve_ivp, where it steps", "t_eval",
     lambda x: scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), x).y.sum()),
    ("solve_ivp, with events", ODE, lambda x: scipy.integrate.solve_ivp(
        lambda t, y: -x[0] * y, (0, 1), [1.0], t_eval=T, events=lambda t, y: y[0]).y[0, -1]),
    ("odeint, with its output", ODE, lambda x: np.sum(
        scipy.integrate.odeint(lambda y, t: -x[0] * y, 1.0, T, full_output=True)[0])),
    ("quad, with a weight", ODE, lambda x: scipy.integrate.quad(
        lambda u: x[0] * u, 0, 1, weight="cos", wvar=1.0)[0]),
    ("dblquad", "leggauss", lambda x: scipy.integrate.dblquad(
        lambda u, v: x[0] * u, 0, 1, 0, 1)[0]),
    ("a masked array", "filled", lambda x: np.sum(x * np.ma.masked_array(T, T > 0.5))),
    ("spline", SPLINE, lambda x: np.sum(scipy.interpolate.CubicSpline(x, T)(0.5))),
    *[(f"scipy.spatial.{name}", "plain arrays",
       lambda x, name=name: getattr(scipy.spatial, name)(np.outer(x, T)).volume)
      for name in ("ConvexHull", "Delaunay", "Voronoi", "HalfspaceIntersection")],
    ("griddata, of points", SPLINE, lambda x: scipy.interpolate.griddata(
        np.stack([T, T * x], 1), T, [[0.5, 0.1]])[0]),
    ("griddata", SPLINE, lambda x: np.sum(scipy.interpolate.griddata(T, x, 0.5))),
    ("minimize", "gradwire.minimize",
     lambda x: scipy.optimize.minimize(lambda u: (u - x[0]) ** 2, 0.0).x[0]),
    ("statistics", "numpy has mean", lambda x: 2 * statistics.mean(x)),
    ("fractions", "compute with it", lambda x: fractions.Fraction(x[0])),
    ("fsum", "compute with the array itself", lambda x: 2 * math.fsum(x)),
    ("attribute", "can be recorded", lambda x: x.tobytes()),
    ("bytes", "can be recorded", lambda x: memoryview(x).nbytes),
    ("column", "to_numpy()", lambda x: x["a"]),
    ("condition in vmap", "gradwire.cond",
     lambda x: gradwire.vmap(lambda u: u if u > 0 else -u)(x).sum()),
]  # fmt: skip


@pytest.mark.parametrize(("told", "f"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_errors_about_unrecordable_code_suggest_an_alternative(client, told, f):
    with pytest.raises(gradwire.NotTraceable) as caught:
        client.grad(f)(X)
    assert told in caught.value.hint
    assert f"{__file__}:" in f"{caught.value}"


@pytest.mark.parametrize(
    ("f", "told"),
    [
        (lambda x: x if x > 0 else -x, "a.any"),
        (lambda x: x[: len(range(x[0]))], "as an integer"),
        (lambda x: len(x[0]), "unsized"),
        (lambda x: list(x[0]), "0-d array"),
        (lambda x, y: x, "missing 1 required positional argument"),
    ],
)
def test_errors_include_the_words_of_python_and_numpy(client, f, told):
    with pytest.raises(gradwire.UsageError, match=told):
        client.grad(f)(X)


def test_the_suggested_table_for_a_spline_is_right(client):
    """The hint says: at fixed points a spline is linear in its data."""
    points = np.linspace(0.0, 1.0, 7)
    table = scipy.interpolate.CubicSpline(T, np.eye(4))(points)
    told = client.function(lambda x: table @ x)(X)
    np.testing.assert_allclose(told, scipy.interpolate.CubicSpline(T, X)(points))


def test_the_user_s_own_errors_are_not_attributed_to_recording(client):
    def checked(x):
        if x.ndim == 1:
            raise ValueError("one axis is too few")
        return x

    with pytest.raises(ValueError, match="too few") as caught:
        client.grad(checked)(X)
    assert type(caught.value) is ValueError
    with pytest.raises(KeyError) as missing:
        client.grad(lambda x: {}[x.ndim])(X)
    assert type(missing.value) is KeyError


@pytest.mark.parametrize("argument", ["3", None, object()])
def test_only_numbers_and_arrays_can_be_differentiated(client, argument):
    with pytest.raises(gradwire.UsageError, match=r"argument 1 is a \w+: a number or an array"):
        client.grad(lambda x, y: x * 2, argnums=1)(1.0, argument)
    assert client.grad(lambda p: 1.0)({}) == {}


def test_data_frames_are_accepted_and_results_must_be_arrays(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    np.testing.assert_array_equal(client.grad(lambda a: np.sum(a**2))(frame["a"]), [2.0, 4.0])
    for f in (
        lambda x: pandas.Series(x).sum(),
        lambda x: frame["a"] * x,
        lambda x: pandas.DataFrame({"a": x}),
        lambda x: frame @ x,
    ):
        with pytest.raises(gradwire.NotTraceable, match=r"pandas .*\n.*\n.*to_numpy\(\)"):
            client.function(f)(np.ones(2))


@pytest.mark.parametrize(
    ("f", "error"),
    [
        (lambda x: x.astype(np.int64, casting="safe"), TypeError),
        (lambda x: x.astype(np.float32, "K", "safe"), TypeError),
        (lambda x: np.astype(x, np.float32, device="gpu"), ValueError),  # type: ignore[call-overload]
    ],
    ids=["casting", "in order", "device"],
)
def test_conversions_refuse_what_numpy_refuses(client, f, error):
    with pytest.raises(error) as numpys:
        f(X)
    with pytest.raises(error) as ours:
        client.grad(lambda x: f(x).sum())(X)
    assert str(numpys.value) in str(ours.value)
