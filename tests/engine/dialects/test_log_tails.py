"""Logarithms of probabilities that underflow, with two derivatives in all parameters: mpmath's.

Probabilities are about 1e-109, 1e-320 and 1e-1000.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.tables import table

mpmath = pytest.importorskip("mpmath")
mp, mpf = mpmath.mp, mpmath.mpf


def below_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def above_gamma(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def below_beta(a, b, x, rest):
    """By a series in which nothing cancels."""
    return x**a * rest**b / (a * mp.beta(a, b)) * mp.hyp2f1(a + b, 1, a + 1, x)


def normal(y):
    return mp.erfc(-y / mp.sqrt(2)) / 2


def between(a, b):
    return normal(b) - normal(a) if a < 0 else normal(-a) - normal(-b)


def student(y, df):
    return below_beta(df / 2, mpf(0.5), df / (df + y * y), y * y / (df + y * y)) / 2


#: By law: the probability below ``y``, or of what is even in both tails, and that above.
LAWS = {
    "norm": (normal, None),
    "laplace": (lambda y: mp.exp(y) / 2, None),
    "logistic": (lambda y: 1 / (1 + mp.exp(-y)), None),
    "cauchy": (lambda y: mp.acot(-y) / mp.pi, None),
    "t": (student, None),
    "gennorm": (lambda y, beta: above_gamma(1 / beta, (-y) ** beta) / 2, None),
    "expon": (lambda y: -mp.expm1(-y), lambda y: mp.exp(-y)),
    "gamma": (lambda y, a: below_gamma(a, y), lambda y, a: above_gamma(a, y)),
    "chi2": (lambda y, df: below_gamma(df / 2, y / 2), lambda y, df: above_gamma(df / 2, y / 2)),
    "beta": (
        lambda y, a, b: below_beta(a, b, y, 1 - y),
        lambda y, a, b: below_beta(b, a, 1 - y, y),
    ),
    "pareto": (lambda y, b: -mp.expm1(-b * mp.log(y)), lambda y, b: y**-b),
    "gumbel_r": (lambda y: mp.exp(-mp.exp(-y)), lambda y: -mp.expm1(-mp.exp(-y))),
    "gumbel_l": (lambda y: -mp.expm1(-mp.exp(y)), lambda y: mp.exp(-mp.exp(y))),
    "lognorm": (lambda y, s: normal(mp.log(y) / s), lambda y, s: normal(-mp.log(y) / s)),
    "weibull_min": (lambda y, c: -mp.expm1(-(y**c)), lambda y, c: mp.exp(-(y**c))),
    "truncnorm": (
        lambda y, a, b: between(a, y) / between(a, b),
        lambda y, a, b: between(y, b) / between(a, b),
    ),
    "poisson": (lambda k, mu: above_gamma(k + 1, mu), lambda k, mu: below_gamma(k + 1, mu)),
    "binom": (
        lambda k, n, p: below_beta(n - k, k + 1, 1 - p, p),
        lambda k, n, p: below_beta(k + 1, n - k, p, 1 - p),
    ),
    "nbinom": (
        lambda k, n, p: below_beta(n, k + 1, p, 1 - p),
        lambda k, n, p: below_beta(k + 1, n, 1 - p, p),
    ),
}
#: Shapes of a law, and where a probability below and one above is small.
POINTS = table(__file__, "POINTS")
CASES = [
    *[(law, "logcdf", LAWS[law][0], shape, low) for law, shape, low, _ in POINTS if low],
    *[(law, "logsf", LAWS[law][1], shape, high) for law, shape, _, high in POINTS if high],
]


def derivatives(rule, point, place):
    """``ln P`` and its first two derivatives in an argument, by differences of 60 digits."""
    with mp.workdps(60):
        x = mpf(point[place])
        step = min(abs(x), abs(1 - x) if x < 1 else abs(x)) * mpf(10) ** -13
        moved = [[*map(mpf, point)] for _ in range(5)]
        for k in range(5):
            moved[k][place] = x + (k - 2) * step
        a, b, c, d, e = [mp.log(rule(*given)) for given in moved]
        slope = (a - 8 * b + 8 * d - e) / (12 * step)
        return c, slope, (-a + 16 * b - 30 * c + 16 * d - e) / (12 * step * step)


@pytest.mark.parametrize(("law", "function", "rule", "shape", "points"), CASES)
def test_nothing_underflows(ask, law, function, rule, shape, points):
    names = [f"v{i}" for i in range(len(shape) + 1)]
    call = f"scipy.stats.{law}.{function}({', '.join(names)})"
    variables = {
        name: np.full(len(points), x) for name, x in zip(names, [0.0, *shape], strict=True)
    }
    variables["v0"] = np.array(points)
    places = range(law in ("poisson", "binom", "nbinom"), len(names))
    program = f"y = {call}\n" + "".join(f"d{i} = grad(sum(y), v{i})\n" for i in places)
    program += "y, " + ", ".join(f"d{i}, grad(sum(d{i}), v{i})" for i in places)
    value, *found = [np.ravel(z) for z in ask.value(program, variables)]
    for row, point in enumerate(points):
        given = [point, *shape]
        true = [derivatives(rule, given, i) for i in places]
        spread = sum(abs(x * of[1]) for x, of in zip(given[places[0] :], true, strict=True))
        assert abs(value[row] - true[0][0]) < 1e-14 * (spread + 10 * abs(true[0][0]))
        for i, (_, slope, second) in enumerate(true):
            x, relative = given[places[i]], 1e-10 + 1e-14 * spread / abs(true[0][0])
            bound = relative * abs(slope) + 1e-14 * abs(x * second) + 1e-30
            assert is_near(found[2 * i][row], slope, bound), (point, i)
            bound = 1e-7 * abs(second) + 1e-15 * abs(slope / x) + 1e-30
            assert is_near(found[2 * i + 1][row], second, bound), (point, i)


def is_near(found, true, bound):
    return abs(found - true) < bound or (math.isinf(found) and abs(true) > 1e308)


MIRRORED = [case for case in CASES if LAWS[case[0]][1] is None]


@pytest.mark.parametrize(("law", "function", "rule", "shape", "points"), MIRRORED)
def test_even_laws_have_one_tail(ask, law, function, rule, shape, points):
    listed = "".join(f", {x}" for x in shape)
    for sign, name in ((1, "logcdf"), (-1, "logsf")):
        answer = ask.answer(
            f"sum(scipy.stats.{law}.{name}(x{listed}))", {"x": np.multiply(sign, points)}
        )
        slopes = sign * answer.gradients["x"]
        assert math.isfinite(answer.value)
        if sign > 0:
            first = answer.value, slopes
        assert_allclose((answer.value, *slopes), (first[0], *first[1]), 1e-14)
