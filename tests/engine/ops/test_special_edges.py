"""Special functions at the ends of their domains are SciPy's, and their slopes there the limits."""

from math import inf, nan, pi, sqrt

import numpy as np
import pytest
import scipy.special
from gradwire_engine.autodiff.reverse import gradient
from gradwire_engine.check import Call, evaluate
from gradwire_engine.ops.base import FUNCTIONS
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results
from tests.tables import cases

X = np.array([-inf, -3.7, -1.0, 0.0, 1e-9, 0.5, 1.0, 2.0, 40.0, inf, nan])
COLUMN = np.array([[0.5], [3.0]])
UNIT = np.array([0.0, 1e-9, 0.5, 1.0, nan])
COUNTS = np.array([[0.0], [1.0], [3.0]])

CALLS = [
    *[(name, X) for name in "erfi exprel cosm1 exp10 wofz".split()],
    ("erfcinv", 2 * UNIT),
    ("voigt_profile", X[1:-2], 0.7, COLUMN - 0.5),
    ("powm1", X[3:9], X[3:9, None]),
    *[(name, np.abs(X), X[3:, None]) for name in ("boxcox", "boxcox1p")],
    *[(name, X[3:6], COLUMN - 0.5) for name in ("inv_boxcox", "inv_boxcox1p")],
    *[(name, COLUMN, UNIT) for name in "gammaincinv gammainccinv chdtri".split()],
    ("stdtrit", COLUMN, UNIT[UNIT > 0]),  # SciPy's of 0 is inf
    *[(name, COLUMN, 2.5, UNIT) for name in "betaincc betaincinv betainccinv fdtri".split()],
    ("stdtr", COLUMN, X),
    *[(name, COLUMN, X[3:]) for name in ("chdtr", "chdtrc")],
    *[(name, COLUMN, 2.5, X[3:]) for name in "gdtr gdtrc fdtr fdtrc".split()],
    *[(name, COUNTS, X[3:]) for name in ("pdtr", "pdtrc")],
    *[(name, X) for name in ("ellipk", "ellipkm1", "ellipe")],
    *[(name, X[1:-2], COLUMN / 4) for name in ("ellipkinc", "ellipeinc")],
    *[(name, X[3:], COLUMN, 2.0) for name in ("elliprf", "elliprd", "elliprg")],
    ("elliprj", X[3:9], COLUMN, 2.0, 0.7),
    ("elliprc", X[3:9], COLUMN - 1),
    ("agm", X[3:9], COLUMN),
    *[(name, X) for name in ("loggamma", "rgamma", "gamma", "digamma")],
    *[(name, X[1:5] + 0.3j) for name in ("loggamma", "rgamma", "gamma", "digamma")],
    *[(name, X[1:9], COLUMN) for name in ("poch", "binom")],
    ("factorial", X[3:]),
    *[(name, X[1:9, None], X[1:9]) for name in ("huber", "pseudo_huber")],
    *[(name, COLUMN, X[1:9] + 0.2j) for name in "jv yv iv kv kve hankel1 hankel2".split()],
    *[(name, COLUMN, X[5:9]) for name in ("hankel1", "hankel2", "struve", "modstruve")],
    *[(f"spherical_{name}", 2, X[5:9]) for name in ("yn", "in", "kn")],
    *[(f"eval_{name}", 7, X[1:9]) for name in "legendre chebyt chebyu laguerre hermite".split()],
    ("eval_jacobi", 7, 0.5, -0.3, X[1:9] + 0.2j),
    ("lambertw", X[1:9] + 0.2j, 3),
    ("hyp0f1", COLUMN, X[1:9]),
    ("hyp1f1", COLUMN, 2.5, X[1:9]),
    ("hyp2f1", COLUMN, 2.5, -0.5, X[1:6] + 0.3j),
    ("hyp2f1", COLUMN, 0.5, 4.5, X[1:7]),
    *[(name, COUNTS, 3, UNIT[:-1]) for name in "bdtr bdtrc nbdtr nbdtrc".split()],
]


@pytest.mark.parametrize(("name", "args"), [(c[0], c[1:]) for c in CALLS])
def test_values_are_scipys(name, args):
    (found,) = results(name, *args)
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(*args)
    assert_allclose(found, expected, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("exprel", [0.0], [0.5]),
        ("exprel", [inf], [inf]),
        ("exprel", [1e300], [inf]),
        ("erfcinv", [0.0], [-inf]),
        ("log1mexp", [1e-20], [1e20]),
        ("powm1", [0.0, 0.0], [0, 0]),
        ("boxcox", [2.0, 0.0], [0.5, np.log(2) ** 2 / 2]),
        ("boxcox1p", [0.0, 0.0], [1, 0]),
        ("inv_boxcox", [2.0, 0.0], [np.e**2, -2 * np.e**2]),
        ("inv_boxcox1p", [0.0, 0.0], [1, 0]),
        ("stdtr", [1.0, 0.0], [0, 1 / pi]),
        ("stdtr", [2.0, 0.0], [0, 1 / sqrt(8)]),
        ("stdtr", [1e4, 30.0], [0, 0]),
        ("stdtr", [inf, 1.0], [0, np.exp(-0.5) / sqrt(2 * pi)]),
        ("stdtr", [50.0, 3.0], [1.6720407135640352e-05, 0.00583106055835652]),
        ("stdtrit", [1.0, 0.5], [0, pi]),
        ("chdtr", [2.0, 0.0], [0, 0.5]),
        ("rgamma", [-3.0], [-6.0]),
        ("rgamma", [0.0], [1.0]),
        ("loggamma", [-0.5], [nan]),
        ("zeta", [2.0, 1.0], [-0.9375482543158437, -2 * scipy.special.zeta(3)]),
        ("betaln", [0.0054, 3621.4], [-193.94803247577778, -1.4913408100357158e-06]),
        ("huber", [2.0, -3.0], [1, -2]),
        ("pseudo_huber", [0.0, -3.0], [3, 0]),
        ("pseudo_huber", [2.0, 0.0], [0, 0]),
        ("binom", [5.0, 2.0], [10 * (1 / 5 + 1 / 4), 10 * (1 / 3)]),
        ("poch", [2.0, 0.0], [0, scipy.special.digamma(2)]),
        ("struve", [0.0, 0.0], [None, 2 / pi]),
        ("modstruve", [1.0, 0.0], [None, 0]),
        ("hyp1f1", [0.0, 2.0, 0.0], [0, 0, 0]),
        ("hyp1f1", [-1.0, 2.0, 1.0], [0.4089510757272020, 0.25, -0.5]),
        ("hyp2f1", [0.0, 2.0, 2.0, -3.0], [-np.log(4), 0, 0, 0]),
        ("hyp2f1", [1.0, 2.0, 2.0, 0.9999], [nan, nan, nan, 1e8]),
        ("hyp1f1", [1.5, 2.0, -800.0], [nan, nan, 4.6824337818591726e-08]),
        ("hyperu", [1.0, 2.0, 4.0], [None, None, -1 / 16]),
        ("ellipk", [0.0], [pi / 8]),
        ("ellipe", [0.0], [-pi / 8]),
        ("ellipe", [1.0], [-inf]),
        ("ellipkinc", [0.0, 0.5], [1, 0]),
        ("ellipkinc", [pi / 2, 0.0], [1, pi / 8]),
        ("ellipeinc", [-pi, 0.0], [1, pi / 4]),
        ("elliprf", [1.0, 1.0, 1.0], [-1 / 6, -1 / 6, -1 / 6]),
        ("elliprf", [0.0, 1.0, 1.0], [-inf, -pi / 8, -pi / 8]),
        ("elliprg", [1.0, 1.0, 1.0], [1 / 6, 1 / 6, 1 / 6]),
        ("elliprc", [1.0, -1.0], [nan, nan]),
        ("agm", [3.0, 3.0], [0.5, 0.5]),
        ("agm", [inf, 2.0], [0, inf]),
        ("agm", [-2.0, -inf], [inf, 0]),
        ("ellipkinc", [1e16, 0.5], [1.1986209642854728, 5393526011883793.9]),
        ("zeta", [1e16, 2.5], [0, 0]),
        ("inv_boxcox1p", [-30.0, 1e-300], [np.exp(-30), -450 * np.exp(-30)]),
        ("rel_entr", [1e-300, 1e300], [1 - 600 * np.log(10), 0]),
        ("kl_div", [1e300, 1e-300], [600 * np.log(10), -inf]),
        ("pdtr", [0.0, 1.0], [None, -np.exp(-1)]),
        ("bdtr", [3.0, 3.0, 0.2], [None, 0, 0]),
        ("bdtr", [0.0, 2.0, 0.25], [None, np.log(0.75) * 0.75**2, -1.5]),
        ("nbdtr", [0.0, 2.0, 0.5], [None, np.log(0.5) / 4, 1]),
    ],
)
def test_slopes(name, args, expected, gradients):
    found = gradients(lambda f, *xs: getattr(f, name)(*xs), *args)
    assert [bar is None for bar in found] == [bar is None for bar in expected]
    for bar, wanted in zip(found, expected, strict=True):
        assert bar is None or bar == pytest.approx(wanted, rel=1e-9, abs=1e-13, nan_ok=True)


@pytest.mark.thorough
@pytest.mark.parametrize("t", [1e-6, 0.3, 50.0, 1e6])
def test_student_in_degrees_of_freedom(t, gradients):
    """For two degrees ``P = 1/2 + t / (2 sqrt(2 + t²))``; its neighbours by differences."""
    (slope, _) = gradients(lambda f, df, x: f.stdtr(df, x), 2.0, -t)
    weights = np.array([2100, -600, 150, -25, 2]) / 2520
    h = 0.01
    expected = sum(
        w * (scipy.special.stdtr(2 + k * h, -t) - scipy.special.stdtr(2 - k * h, -t))
        for k, w in enumerate(weights, 1)
    )
    assert slope == pytest.approx(expected / h, rel=1e-7, abs=1e-13)


@pytest.mark.parametrize("name", ["airy", "airye"])
def test_airy_functions_are_scipys(name):
    for found, expected in zip(results(name, X), getattr(scipy.special, name)(X), strict=True):
        known = ~np.isnan(expected) | np.isnan(X)  # SciPy's have no limits at infinity
        assert_allclose(found[known], expected[known], rtol=1e-13)


@cases("x, expected")
def test_polygamma_of_complex_numbers_is_mpmaths_up_to_its_highest_order(x, expected):
    assert results("polygamma", 100, x)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("x", [1e12, 1e300, inf])
def test_kummers_function_grows_with_the_sign_of_its_gamma_functions(x):
    a, b = np.array([2, -0.5, -1.5, 2, -0.5, 1e7]), np.array([3, 3, 3, -0.5, -0.5, 3])
    call = Call.of("hyp1f1", a, b, np.full(6, x))
    (found,) = evaluate(call.record, call.values)
    assert_array_equal(found, [inf, -inf, inf, -inf, inf, nan])
    call = Call.of("hyp1f1", -2.0, 1.5, 1e12)  # 1 - 2 x / 1.5 + x² / 3.75
    assert evaluate(call.record, call.values)[0] == pytest.approx(1e24 / 3.75)


def test_bessels_limit_of_order_0_grows_without_end():
    (found,) = results("hyp0f1", 1.0, np.array([1e5, 1.2e5, 1.3e5, 1e6, 1e300]))
    assert_allclose(found, [7.454672734273921e272, 1.1714436718895324e299, inf, inf, inf])


@pytest.mark.parametrize(
    ("a", "b", "x", "expected"),
    [
        (0.1, 0.5, -1e12, 0.05041759859557115),
        (-0.7, 1.5, -(2.0**63), 15165753737407.59),
        (20.5, 300.25, -1e10, 2.896936819964107e-155),
        (3.0, 0.5, -1e10, -1.87500000196875e-30),
        (1.5, 1.5, -1e12, 0.0),
        (1e4, 0.5, -1e12, nan),
        (-1.0, 0.5, -1e12, 2e12 + 1),
    ],
)
def test_kummers_function_far_out_on_the_other_side_is_mpmaths(a, b, x, expected):
    (found,) = results("hyp1f1", a, b, x)
    assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("weights", [None, np.array([[1.0, -2.0, 0.5]])])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_with_signs_are_scipys(weights, keepdims):
    exponents = np.array([[0.3, 0.9, -1.0], [-inf, -inf, -inf], [800.0, 1.0, 2.0]])
    named = {"b": weights, "keepdims": keepdims, "return_sign": True}
    call = Call.of("logsumexp", exponents, 1, **named)
    with np.errstate(all="ignore"):
        expected = scipy.special.logsumexp(exponents, axis=1, **named)
    for found, wanted in zip(evaluate(call.record, call.values), expected, strict=True):
        assert_allclose(found, wanted, rtol=1e-14)


@cases("exponents, weights, expected")
def test_what_has_no_weight_is_in_no_sum_but_would_be(ask, exponents, weights, expected):
    given = {"a": np.array(exponents), "w": np.array(weights)}
    answer = ask.answer("logsumexp(a, b=w)", given)
    found = answer.value, *[answer.gradients[name] for name in given]
    for got, wanted in zip(found, expected, strict=True):
        assert_allclose(got, wanted, rtol=1e-14)
    assert ("backward" in answer.nonfinite) == bool(np.isinf(expected[2]).any())


@pytest.mark.parametrize("order", [0.5, 1.5, 2.5, 3])
def test_slopes_of_norms_where_some_coordinates_are_zero(ask, order):
    """Beside 0 a coordinate is as ``|x|^p``, whose second derivative there may be infinite."""
    x = np.array([1.0, 0.0, -2.0])
    answer = ask.answer(f"norm(x, {order})", {"x": x}, kind="hessian")
    found = answer.derivatives["hessian"]["x"]["x"]
    others = ask.answer(f"norm(x, {order})", {"x": x[::2]}, kind="hessian").derivatives
    assert_allclose(found[::2, ::2], others["hessian"]["x"]["x"], rtol=1e-14)
    assert found[1].tolist() == [0, {0.5: -inf, 1.5: inf}.get(order, 0), 0]
    assert found[:, 1].tolist() == found[1].tolist()
    assert ("backward" in answer.nonfinite) == (order < 2)


@pytest.mark.parametrize(("x", "m"), [(-2.5, -1.0), (-3.7, 2.0), (-12.25, 5.0), (0.3, 2.0)])
def test_mixed_derivatives_of_rising_factorials_of_whole_length(ask, x, m):
    """``∂(x)ₘ/∂m = (x)ₘ ψ(x + m)``, differentiated in ``x``."""
    found = ask.value("grad(lambda m: grad(poch)(x, m))(m)", {"x": x, "m": m})
    z, end = scipy.special.poch(x, m), x + m
    turn = np.pi / np.sin(np.pi * end)  # DLMF 5.5.4
    psi, start = scipy.special.digamma(end), scipy.special.digamma(x)
    slope = turn**2 - scipy.special.zeta(2, 1 - end) if end < 0 else scipy.special.zeta(2, end)
    assert found == pytest.approx(z * ((psi - start) * psi + slope), rel=1e-10)


@pytest.mark.parametrize("ratio", [1e-9, 1e-3, 0.5, 10.0, 1e9])
def test_slopes_of_smooth_penalties_in_their_scale(ask, ratio):
    """By the half of the angle ``t``, ``tan t = r / delta``: ``delta (1 - cos t)² / cos t``."""
    found = ask.gradients("pseudo_huber(d, r)", {"d": 3.0, "r": 3.0 * ratio})
    cosine, half = 1 / np.hypot(1, ratio), np.sin(np.arctan(ratio) / 2)
    assert found["d"] == pytest.approx(3.0 * 4 * half**4 / cosine, rel=1e-13)
    assert found["r"] == pytest.approx(3.0 * ratio * cosine, rel=1e-13)


@pytest.mark.parametrize(("df", "p"), [(0.9, 1e-130), (2.5, 1e-150), (5.0, 1e-200)])
def test_quantiles_of_student_far_out(ask, df, p):
    """There SciPy's end, or are infinite on the wrong side."""
    found = ask.answer("stdtrit(df, p)", {"df": df, "p": p})
    share = (2 * p * df / 2 * scipy.special.beta(df / 2, 0.5)) ** (1 / df)
    assert found.value == pytest.approx(-sqrt(df) / share, rel=1e-12)
    assert found.gradients["p"] == pytest.approx(1 / (p * df / -found.value), rel=1e-9)


@pytest.mark.parametrize(
    "text",
    "stdtr(3.0,x) fdtr(2.0,3.0,x) fdtrc(2.0,3.0,x) arctan2(30.0,x) arctan2(x,2.0)".split(),
)
def test_what_settles_has_no_slopes_at_infinity(ask, text):
    found = ask.answer(text, {"x": inf}, kind="hessian").derivatives
    assert found["gradients"]["x"] == found["hessian"]["x"]["x"] == 0


@pytest.mark.parametrize(
    ("name", "at", "expected"),
    [
        ("spence", 1.0, [-1, 1 / 2, -2 / 3, 3 / 2, -24 / 5, 20]),
        ("shichi", 0.0, [1, 0, 1 / 3, 0, 1 / 5, 0]),
        ("exprel", 0.0, [1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7]),
    ],
)
def test_derivatives_of_high_order_where_a_formula_is_zero_over_zero(name, at, expected):
    def recording(b, x):
        z = FUNCTIONS[name].record(b, x)
        derivatives = [z[0] if isinstance(z, list) else z]
        for _ in expected:
            derivatives += gradient(b, derivatives[-1:], [x])
        return derivatives[1:]

    found = evaluate(recording, [np.array(at)])
    assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (-2.0, -3.0, [0.556487413155, 0.453901869975, 0.0777125050884, -0.0518083367256]),
        (1.0, 1 + 1e-9, [0.500000000125, 0.499999999875, -0.125, 0.125]),
        (1.0, 1e-5, [0.11233406551, 944.045635589, -0.00797673119867, 797.673119867]),
        (1.0, 1e300, [3.27872199994e294, 0.00226612747216, -3.26924814023e294, 3.26924814023e-6]),
        (1e300, 1e-300, [0.00113501922995, inf, -8.20136866759e-307, inf]),
        (0.0, 1.0, [inf, 0, -inf, inf]),
    ],
)
def test_slopes_of_the_mean_of_means_are_mpmaths(ask, x, y, expected):
    program = "f = lambda x, y: agm(x, y)\ng = grad(f)\ng(x, y), grad(f, argnums=1)(x, y), "
    program += "grad(g)(x, y), grad(g, argnums=1)(x, y)"
    assert ask.value(program, {"x": x, "y": y}) == pytest.approx(expected, rel=1e-9)
