"""Logarithms of probabilities that underflow, with two derivatives in all parameters: mpmath's.

Probabilities are about 1e-109, 1e-320 and 1e-1000.
"""

import math

import numpy as np
import pytest

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
POINTS = [
    ("norm", [], [-22.18, -38.274, -67.792], []),
    ("laplace", [], [-249.31, -736.31, -2302.3], []),
    ("logistic", [], [-250.0, -737.0, -2303.0], []),
    ("cauchy", [], [-1.1925e108, -1e200], []),
    ("t", [5.0], [-8.1317e21, -1.6235e64, -1.7041e200], []),
    ("t", [0.7], [-1e9, -2.4e154], []),
    ("t", [300.0], [-35.355, -198.78, -36901.0], []),
    ("t", [3000.0], [-23.123, -43.462, -104.33], []),
    ("gennorm", [0.7], [-2692.0, -12540.0, -63682.0], []),
    ("gennorm", [20.0], [-1.3156, -1.3902, -1.4723], []),
    ("expon", [], [2.6692e-109, 9.8597e-305], [250.0, 737.0, 2303.0]),
    ("gamma", [3.0], [1.17e-36, 3.6958e-107, 9.8597e-300], [260.44, 749.55, 2317.8]),
    ("gamma", [0.4], [2.7295e-272, 9.8597e-305], [245.9, 732.24, 2297.6]),
    ("gamma", [70.0], [0.76439, 0.00071977, 1.3849e-13], [444.7, 986.59, 2619.9]),
    ("gamma", [2000.0], [1164.6, 737.52, 266.37], [3161.8, 4230.5, 6721.9]),
    ("chi2", [70.0], [0.021995, 1.992e-08, 7.3742e-28], [723.63, 1757.9, 4960.4]),
    ("beta", [2.0, 3.0], [2.1092e-55, 9.8597e-150], []),
    ("beta", [0.5, 40.0], [1.4077e-219, 9.8597e-305], [0.99795]),
    ("beta", [3000.0, 0.7], [0.92063, 0.78276, 0.46448], []),
    ("beta", [500.0, 900.0], [0.12542, 0.040073, 0.0016295], [0.64899, 0.82055, 0.97131]),
    ("beta", [2000.0, 3000.0], [0.25632, 0.065185], [0.5564, 0.82832]),
    ("pareto", [1.7], [], [7.3593e63, 1.903e188]),
    ("pareto", [1e-200], [1.0000002, 3.0], []),
    ("gumbel_r", [], [-5.5215, -6.6026, -7.742], [250.0, 737.0, 2303.0]),
    ("gumbel_l", [], [-250.0, -737.0, -2303.0], [5.5215, 6.6026, 7.742]),
    ("lognorm", [0.7], [1.8076e-07, 2.3152e-12, 2.4597e-21], [5532300.0, 4.0656e20]),
    ("weibull_min", [0.4], [3.6809e-272, 9.8597e-300], [988210.0, 14746000.0, 254530000.0]),
    ("weibull_min", [1000.0], [0.7788, 0.47855, 0.099959], [1.0055, 1.0066, 1.0078]),
    ("truncnorm", [-300.0, 200.0], [-22.18, -38.274, -67.792], [22.18, 38.274, 67.792]),
    ("truncnorm", [50.0, 70.0], [50.00001], [54.771, 63.036]),
    ("truncnorm", [-70.0, -60.0], [-64.03], [-60.00001]),
    ("poisson", [2.2], [], [89.0, 206.0, 514.0]),
    ("poisson", [900.0], [322.0, 40.0], [1642.0, 2272.0, 3605.0]),
    ("poisson", [1e-200], [], [0.0, 4.0]),
    ("binom", [300.0, 0.2], [], [292.0]),
    ("binom", [300.0, 0.9], [50.0, 91.0], []),
    ("nbinom", [5.0, 0.3], [], [752.0, 2128.0, 6532.0]),
    ("nbinom", [70.0, 0.01], [857.0, 171.0, 0.0], []),
]
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
        np.testing.assert_allclose((answer.value, *slopes), (first[0], *first[1]), 1e-14)
