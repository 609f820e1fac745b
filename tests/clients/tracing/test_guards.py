"""Each guard by itself: a recording is not taken for values that Python would decide otherwise."""

import cmath
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.stats
from gradwire.call import drive
from gradwire.tracing.functions import Function


def positive(x: Any) -> Any:
    return np.sum(x > 0)


def rank(x: Any) -> Any:
    cov = np.diag(np.maximum(x, 0))
    return scipy.stats.multivariate_normal([0.0] * 3, cov, allow_singular=True).logpdf(
        np.where(x > 0, 1, 0)
    )


def is_complex(made: Any) -> Any:
    return np.sum(np.abs(made)) * (2 if np.iscomplexobj(made) else 1)


def turned(x: Any) -> Any:
    return np.array([[0.0, x[0]], [x[1], 0.0]])


def trimmed(x: Any, trim: Any) -> Any:
    kept = np.trim_zeros(np.maximum(x, 0), trim)
    return np.sum(kept) * len(kept) + x[0]


#: What decides by the signs of three numbers, or by whole numbers between them.
DECISIONS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda x: x[0] if x[0] > 0 else 3 * x[0],
    "int": lambda x: x[1] * int(positive(x)),
    "float": lambda x: x[1] * float("%f" % positive(x)),  # noqa: UP031 - as C asks for it
    "complex": lambda x: x[1] * abs(cmath.sqrt(positive(x))),
    "index": lambda x: x[1] * [1.0, 5.0, 9.0, 7.0][positive(x)],
    "range": lambda x: sum((x[i] for i in range(positive(x))), x[1]),
    "slice": lambda x: np.sum(x[: positive(x)]) * 2 + x[1],
    "item": lambda x: x[1] * positive(x).item(),
    "floor": lambda x: x[1] * math.floor(x[0]),
    "ceil": lambda x: x[1] * math.ceil(x[0]),
    "trunc": lambda x: x[1] * math.trunc(x[0]),
    "round": lambda x: x[1] * round(x[0]),
    "round to a digit": lambda x: x[1] * round(float(x[0]), 1),
    "is_integer": lambda x: x[1] * (2 if np.floor(x[0]).is_integer() == (x[0] > 0) else 3),
    "is_integer of one": lambda x: x[1] * (2 if positive(x).is_integer() and x[0] > 0 else 3),
    "str": lambda x: x[1] * len(str(positive(x) * 50)),
    "format": lambda x: x[1] * len(f"{x[0]:+.1f}".strip("+")),
    "hash": lambda x: x[1] * {0: 5.0, 1: 6.0, 2: 7.0, 3: 8.0}[positive(x)],
    "array": lambda x: x[1] * np.array([2.0, 3.0, 5.0, 7.0])[np.asarray(positive(x)).item()],
    "elements": lambda x: x[1] * sum({1: 2, 0: 3}[v] for v in (x > 0).astype(int).tolist()),
    "shape": lambda x: x[1] * len(x[x > 0]),
    "rank": rank,
    "eig": lambda x: is_complex(np.linalg.eig(turned(x))[0]),
    "eigvals": lambda x: is_complex(np.linalg.eigvals(turned(x))),
    "real_if_close": lambda x: is_complex(np.real_if_close(x[1] + 1j * np.maximum(x[0], 0))),
    "sqrtm": lambda x: is_complex(scipy.linalg.sqrtm(np.diag(x))),
    "issymmetric": lambda x: (
        x[1] * (2 if scipy.linalg.issymmetric(np.diag(np.maximum(x[:1], 0), 1)) else 3)
    ),
    "in front": lambda x: trimmed(x, "f"),
    "behind": lambda x: trimmed(x, "b"),
    "roots": lambda x: np.sum(np.abs(np.roots(np.maximum(x, 0) * [1, 2, 3]))) + x[1],
    "polymul": lambda x: np.sum(np.polymul(np.maximum(x, 0), [1.0, 2.0])) * x[1],
    "emath": lambda x: is_complex(np.emath.sqrt(x)),
    "emath.power": lambda x: is_complex(np.emath.power(x, 0.5)),
    "emath.arccos": lambda x: is_complex(np.emath.arccos(x / 2)),
    "not in order": lambda x: x[1] if list(x) == sorted(x) else 2 * x[1],
    "equal": lambda x: x[1] if np.array_equal(x, np.abs(x)) else 2 * x[1],
}
POINTS = [
    np.array(point)
    for point in (
        [2.6, 0.7, 1.2],
        [-1.3, 0.9, 0.4],
        [-0.4, 0.9, -2.4],
        [0.3, 0.7, -0.6],
        [1.0, 2, 3],
    )
]


@pytest.mark.parametrize("what", DECISIONS)
def test_a_decision_is_made_anew_for_other_values(what, client):
    f = DECISIONS[what]
    assert len({round(float(f(x) / x[1]), 6) for x in POINTS}) > 1, "nothing is decided"
    for first in POINTS:
        recorded = gradwire.function(f, client)
        np.testing.assert_allclose(recorded(first), f(first))
        for other in POINTS:
            np.testing.assert_allclose(recorded(other), f(other), err_msg=f"{first} {other}")


#: What is right at the first point, and an error at the second.
ERRORS: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "ends": (lambda x: scipy.optimize.brentq(lambda u: u - x, 0, 1), 0.5, 2.0),
    "steps": (lambda x: scipy.optimize.newton(lambda u: u**3 - x, 1.0, maxiter=7), 1.1, 900.0),
    "periodic": (
        lambda x: scipy.interpolate.CubicSpline(
            [0.0, 1, 2], np.stack([x, 3 * x, x * x]), bc_type="periodic"
        )(0.5),
        1.0,
        2.0,
    ),
    "below": (scipy.interpolate.interp1d([0.0, 1, 2], [1.0, 2, 5]), 0.5, -0.5),
    "above": (scipy.interpolate.interp1d([0.0, 1, 2], [1.0, 2, 5]), 0.5, 2.5),
}


@pytest.mark.parametrize("what", ERRORS)
def test_an_error_by_values_is_found_where_there_was_none(what, client):
    f, right, wrong = ERRORS[what]
    recorded = gradwire.function(f, client)
    np.testing.assert_allclose(recorded(right), f(right), rtol=1e-6)
    with pytest.raises((ValueError, RuntimeError)):
        f(wrong)
    with pytest.raises(gradwire.GradwireError):
        recorded(wrong)
    np.testing.assert_allclose(recorded(right), f(right), rtol=1e-6)


def test_a_root_that_is_not_found_is_refused_where_there_was_one(client):
    def f(at: Any) -> Any:
        return scipy.optimize.fsolve(
            lambda u: [u[0] - 13 + ((5 - u[1]) * u[1] - 2) * u[1],
                       u[0] - 29 + ((u[1] + 1) * u[1] - 14) * u[1]], at)  # fmt: skip

    recorded = gradwire.function(f, client)
    np.testing.assert_allclose(recorded(np.array([6.0, 5.0])), [5.0, 4.0])
    with pytest.raises(gradwire.NotTraceable, match="does not converge"):
        recorded(np.array([0.5, -2.0]))


class Unsteady:
    """A recording whose only guard is another each time that it is computed."""

    guards = (SimpleNamespace(term=SimpleNamespace(place=None)),)

    def ask(self, _):
        yield from ()
        return (), [False]

    def guards_hold(self, values):
        return not values


@pytest.mark.parametrize("asks", [False, True])
def test_a_value_that_is_another_each_time_is_refused(monkeypatch, asks):
    """And not asked for without end, by a call nor by a query by name."""

    def path(*_):
        yield from ()
        return Unsteady(), []

    monkeypatch.setattr(Function, "path", path)
    function: Function[..., Any] = Function(np.sin)
    with pytest.raises(gradwire.NotTraceable, match="another each time"):
        drive(function.decided((), asks=asks), lambda call: call)
