"""Special functions are SciPy's, also far out; what SciPy lacks is its functions' differences."""

import math
from itertools import product

import numpy as np
import pytest
import scipy.special
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.special.incomplete import GammaIncInA
from gradwire_engine.ops.special.incomplete_beta import BetaIncInAB
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results
from tests.tables import cases

X = np.array([-2.7, -0.3, 0.2, 0.9, 3.1])
P = np.array([0.1, 0.7, 1.3, 2.9, 8.4])
UNIT = np.array([0.05, 0.3, 0.5, 0.8, 0.99])

CALLS = [
    *[
        (name, X)
        for name in (
            "erfcx dawsn gammaln gamma digamma psi ndtr log_ndtr j0 j1 i0 i1 i0e i1e "
            "entr expi fresnel sici shichi"
        ).split()
    ],
    *[(name, P) for name in "y0 y1 k0 k1 entr exp1 spence".split()],
    *[(name, P[::-1], P) for name in "jv yv iv ive kv kve gammainc gammaincc".split()],
    *[(name, P, P[::-1]) for name in "beta betaln rel_entr kl_div owens_t".split()],
    *[("polygamma", n, P) for n in (0, 1, 4)],
    *[("expn", n, P) for n in (0, 1, 4)],
    ("multigammaln", P + 2, 3),
    ("zeta", P + 1, P),
    ("zeta", P + 1),
    ("ndtri", UNIT),
    ("betainc", P, P[::-1], UNIT),
    ("hyp1f1", P, P[::-1], X),
    ("hyp2f1", P, P[::-1], P + 1, UNIT),
    ("lambertw", P),
    ("lambertw", -UNIT / 3, -1),
]


@pytest.mark.parametrize(("name", "args"), [(c[0], c[1:]) for c in CALLS])
def test_value(name, args):
    found = results(name, *args)
    expected = getattr(scipy.special, name)(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for one, wanted in zip(found, expected, strict=True):
        assert_allclose(one, np.real(wanted), rtol=1e-13)


def slope(f, p):
    """Difference of tenth order in a positive parameter, relative to its scale of variation."""
    h = 0.008 * p / max(1, p**0.5)
    weights = np.array([2100, -600, 150, -25, 2]) / 2520
    return sum(w * (f(p + k * h) - f(p - k * h)) for k, w in enumerate(weights, 1)) / h


@pytest.mark.parametrize("a", [0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 50.0, 300.0, 1000.0])
def test_gammainc_in_a(a):
    for ratio in (0.5, 0.9, 1.0, 1.1, 1.5):
        x = a * ratio if a >= 1 else 2 * ratio**4
        expected = slope(
            lambda p, x=x: (
                scipy.special.gammainc(p, x) if x < a else -scipy.special.gammaincc(p, x)
            ),
            a,
        )
        found = GammaIncInA(1).kernel(NUMPY, np.float64(a), np.float64(x))
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [*product([0.05, 0.3, 1.0, 2.5, 20.0, 1000.0], repeat=2)])
def test_betainc_in_a_and_b(a, b):
    mean = a / (a + b)
    for x in (mean / 2, mean, 1 - (1 - mean) * 0.7):

        def below(p, q, x=x):
            return scipy.special.betainc(p, q, x) if x < mean else -scipy.special.betaincc(p, q, x)

        operands = [np.float64(v) for v in (a, b, x)]
        in_a, in_b = (BetaIncInAB(1 - n, n).kernel(NUMPY, *operands) for n in (0, 1))
        assert in_a == pytest.approx(slope(lambda p, b=b: below(p, b), a), rel=1e-9)
        assert in_b == pytest.approx(slope(lambda p, a=a: below(a, p), b), rel=1e-9)


def test_incomplete_functions_at_the_ends(gradients):
    found = gradients(lambda f, a, x: f.gammainc(a, x), [1.0, 2.0, 2.0], [0.0, 0.0, 1e4])
    assert np.asarray(found) == pytest.approx(np.asarray([[0, 0, 0], [1, 0, 0]]))
    found = gradients(lambda f, a, b, x: f.betainc(a, b, x), [1.0, 2.0], [1.0, 2.0], [0.0, 1.0])
    assert np.asarray(found) == pytest.approx(np.asarray([[0, 0], [0, 0], [1, 0]]))


def test_incomplete_functions_outside_their_domain():
    for operands in ([-1.0, 1.0], [0.0, 1.0], [math.nan, 1.0], [1.0, math.nan], [1.0, -1.0]):
        assert np.isnan(GammaIncInA(1).kernel(NUMPY, *map(np.float64, operands)))
    for operands in ([0.0, 1.0, 0.5], [1.0, -1.0, 0.5], [1.0, 1.0, 1.5], [1.0, 1.0, math.nan]):
        assert np.isnan(BetaIncInAB(0, 1).kernel(NUMPY, *map(np.float64, operands)))


def test_incomplete_functions_of_many_elements():
    a, x = np.linspace(0.5, 9, 20_000), np.full(20_000, 2.0)
    found = GammaIncInA(1).kernel(NUMPY, a, x)
    assert found[::5000] == pytest.approx(GammaIncInA(1).kernel(NUMPY, a[::5000], x[::5000]))


@cases("function, x, expected")
def test_slope(function, x, expected, gradients):
    (found,) = gradients(lambda f, v: getattr(f, function)(v), x)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("function", ["rel_entr", "kl_div"])
def test_nothing_flows_where_both_are_zero(function, gradients):
    assert gradients(lambda f, x, y: getattr(f, function)(x, y), [0.0], [0.0]) == [[0], [0]]
