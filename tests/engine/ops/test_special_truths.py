"""Special functions, their slopes and second derivatives beside mpmath's, from 5e-324 to 1e300.

The tolerance is some units of rounding times the condition of each, that is how much a unit in the
argument changes it. SciPy decides at poles, limits at infinity.
"""

import math
from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests import effort
from tests.effort import some

mpmath = pytest.importorskip("mpmath")
mp, mpf = mpmath.mp, mpmath.mpf

HALF, ROOT = mpf("0.5"), mpmath.sqrt
EPS, ROUNDINGS = mpf(2) ** -52, 1000
#: Scales are products that cancel, derivatives of polynomials come from their neighbours.
MORE_ROUNDINGS = {"airye": 100_000, "eval_": 10_000}
#: What takes more digits is left out: derivatives that vanish beside their function, or beside 0.
MOST_DIGITS = 250
#: What subnormal numbers lose.
SMALLEST = mpf(2) ** -1022
MAGNITUDES = [5e-324, 1e-154, 1e-60, 1e-16, 1e-8, 1e-4, 0.3, 1 - 2.0**-53, 1.0]
MAGNITUDES += [1 + 2.0**-52, 1.5, 2.5, 5.0, 15.0, 38.0, 170.5, 745.0, 1e4, 1e6, 1e8, 1e16]
MAGNITUDES += [1e154, 1e300]


def normal(x):
    return mp.erfc(-x / ROOT(2)) / 2


def airy_scale(x):
    return mp.exp(2 * x * ROOT(x) / 3)


def spherical(bessel, n):
    return lambda x: ROOT(mp.pi / 2 / x) * bessel(n + HALF, x)


def dilogarithm(x):
    if x > 2:
        return -(mp.pi**2) / 6 - mp.log(x - 1) ** 2 / 2 - mp.polylog(2, 1 / (1 - x))
    return mp.polylog(2, 1 - x)


def of_order(bessel, v):
    return lambda x: bessel(v, x)


#: By program: its truth for positive ``x``, and whether it is one for negative ``x``.
FUNCTIONS = {
    "gammaln(x)": (mp.loggamma, False),
    "loggamma(x)": (mp.loggamma, False),
    "gamma(x)": (mp.gamma, True),
    "rgamma(x)": (mp.rgamma, True),
    "digamma(x)": (mp.digamma, True),
    "gammainc(1.0, x)": (lambda x: -mp.expm1(-x), False),
    "betainc(1.0, 3.0, x)": (lambda x: 1 - (1 - x) ** 3 if x < 1 else mp.nan, False),
    "beta(0.3, x)": (lambda x: mp.exp(log_beta(mpf(0.3), x)), False),
    "betaln(1e-16, x)": (lambda x: log_beta(mpf(1e-16), x), False),
    "betaln(x, 2.5)": (lambda x: log_beta(mpf(2.5), x), False),
    "erf(x)": (mp.erf, True),
    "erfc(x)": (mp.erfc, True),
    "erfi(x)": (mp.erfi, True),
    "erfcx(x)": (lambda x: mp.exp(x * x) * mp.erfc(x), False),
    "dawsn(x)": (lambda x: ROOT(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), True),
    "imag(wofz(x))": (lambda x: mp.exp(-x * x) * mp.erfi(x), True),
    "real(wofz(x))": (lambda x: mp.exp(-x * x), True),
    "logit(x)": (lambda x: mp.log(x / (1 - x)), False),
    "ndtr(x)": (normal, True),
    "log_ndtr(x)": (lambda x: mp.log(normal(x)), True),
    "entr(x)": (lambda x: -x * mp.log(x), False),
    **{f"j{n}(x)": (of_order(mp.besselj, n), True) for n in (0, 1)},
    **{f"y{n}(x)": (of_order(mp.bessely, n), False) for n in (0, 1)},
    **{f"i{n}(x)": (of_order(mp.besseli, n), True) for n in (0, 1)},
    **{f"k{n}(x)": (of_order(mp.besselk, n), False) for n in (0, 1)},
    **{f"jv({v}, x)": (of_order(mp.besselj, v), False) for v in (1e-16, 0.5, 3.3)},
    **{f"yv({v}, x)": (of_order(mp.bessely, v), False) for v in (0.0, 1e-16, 2.5, -1.5, -3.3)},
    **{f"iv({v}, x)": (of_order(mp.besseli, v), False) for v in (1e-16, 0.5, 1.0, 3.3, 20.0)},
    **{f"kv({v}, x)": (of_order(mp.besselk, v), False) for v in (0.0, 1e-16, 2.5)},
    "i0e(x)": (lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), True),
    "i1e(x)": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), True),
    "ive(2.5, x)": (lambda x: mp.exp(-x) * mp.besseli(2.5, x), False),
    **{f"kve({v}, x)": (lambda x, v=v: mp.exp(x) * mp.besselk(v, x), False) for v in (0.0, 4.5)},
    "spherical_jn(2, x)": (spherical(mp.besselj, 2), False),
    "spherical_yn(1, x)": (spherical(mp.bessely, 1), False),
    "spherical_in(1, x)": (spherical(mp.besseli, 1), False),
    "spherical_kn(1, x)": (spherical(mp.besselk, 1), False),
    "airy(x)[0]": (mp.airyai, False),
    "airy(x)[1]": (lambda x: mp.airyai(x, derivative=1), False),
    "airy(x)[2]": (mp.airybi, False),
    "airy(x)[3]": (lambda x: mp.airybi(x, derivative=1), False),
    "airye(x)[0]": (lambda x: mp.airyai(x) * airy_scale(x), False),
    "airye(x)[1]": (lambda x: mp.airyai(x, derivative=1) * airy_scale(x), False),
    "airye(x)[2]": (lambda x: mp.airybi(x) / airy_scale(x), False),
    "airye(x)[3]": (lambda x: mp.airybi(x, derivative=1) / airy_scale(x), False),
    **{f"struve({v}, x)": (of_order(mp.struveh, v), False) for v in (1.0, 2.5)},
    "modstruve(1.0, x)": (lambda x: mp.struvel(1, x), False),
    "expi(x)": (mp.ei, True),
    "exp1(x)": (mp.e1, False),
    "expn(2, x)": (lambda x: mp.expint(2, x), False),
    "spence(x)": (dilogarithm, False),
    "sici(x)[0]": (mp.si, True),
    "sici(x)[1]": (mp.ci, False),
    "shichi(x)[0]": (mp.shi, True),
    "shichi(x)[1]": (mp.chi, False),
    "lambertw(x)": (mp.lambertw, False),
    "lambertw(-x, -1)": (lambda x: mp.lambertw(-x, -1), False),
    "ellipk(x)": (mp.ellipk, True),
    "ellipe(x)": (mp.ellipe, True),
    "zeta(x)": (lambda x: mp.zeta(x) if x > 1 else mp.nan, False),
    "inv_boxcox(30.0, x)": (lambda x: mp.exp(mp.log1p(30 * x) / x), False),
    "ellipkinc(0.3, x)": (lambda x: mp.ellipf(mpf(0.3), x) if x <= 1 else mp.nan, True),
    "exprel(x)": (lambda x: mp.expm1(x) / x, True),
    "cosm1(x)": (lambda x: mp.cos(x) - 1, True),
    "sindg(x)": (lambda x: mp.sin(x * mp.pi / 180), True),
    "cosdg(x)": (lambda x: mp.cos(x * mp.pi / 180), True),
    "tandg(x)": (lambda x: mp.tan(x * mp.pi / 180), True),
    "cotdg(x)": (lambda x: mp.cot(x * mp.pi / 180), True),
    "log1mexp(x)": (lambda x: mp.log(-mp.expm1(-x)), False),
    "eval_legendre(5, x)": (lambda x: mp.legendre(5, x), True),
    "eval_chebyt(6, x)": (lambda x: mp.chebyt(6, x), True),
    "eval_chebyu(5, x)": (lambda x: mp.chebyu(5, x), True),
    "eval_hermite(5, x)": (lambda x: mp.hermite(5, x), True),
    "eval_laguerre(5, x)": (lambda x: mp.laguerre(5, 0, x), True),
    "eval_gegenbauer(5, 0.7, x)": (lambda x: mp.gegenbauer(5, mpf(0.7), x), True),
}


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def real(z):
    if not mp.isfinite(z) or mp.im(z) != 0:
        raise ValueError("not in the domain")
    return mp.re(z)


def truths(f, x):
    """The function and three derivatives, by differences in as many digits as these take."""
    near = min(abs(x), 1, *[d for d in (abs(x - round(x)), abs(x - round(2 * x) / 2)) if d])
    digits = 12 - math.floor(math.log10(near))
    size = max(0, math.ceil(math.log10(abs(x))))
    needed = 40 + 3 * digits + 2 * size
    for _ in range(4):
        if needed > MOST_DIGITS:
            raise ValueError("derivatives far below the function")
        with mp.workdps(needed):
            h = mpf(2) ** -int(3.33 * digits)
            a, b, c, d, e = [real(f(mpf(x) + k * h)) for k in (-2, -1, 0, 1, 2)]
            slope, second = (d - b) / (2 * h), (b - 2 * c + d) / h**2
            found = [c, slope, second, (-a + 2 * b - 2 * d + e) / (2 * h**3)]
            lost = [mp.log10(abs(c / v / h**k)) for k, v in enumerate(found) if v and c]
            if 0 not in found[1:] and max(lost, default=0) + 30 < needed:
                break
            needed = 40 + int(max(lost, default=0)) if 0 not in found[1:] else 3 * needed
    return found


def derivatives(text):
    return f"f = lambda x: sum({text})\ng = grad(f)\n({text}, g(x), grad(lambda x: sum(g(x)))(x))"


def points_of(text):
    truth, both = FUNCTIONS[text]
    points = [*MAGNITUDES, *([-x for x in MAGNITUDES] if both else [])]
    for x in points if effort.effort == "thorough" else some(points):
        try:
            yield x, truths(truth, x)
        except (ValueError, ZeroDivisionError, OverflowError, mp.NoConvergence):
            continue


@pytest.mark.parametrize("text", FUNCTIONS)
def test_nothing_is_lost(ask, text):
    cases = list(points_of(text))
    given = [x for x, _ in cases]
    roundings = next((most for name, most in MORE_ROUNDINGS.items() if name in text), ROUNDINGS)
    found = ask.value(derivatives(text), {"x": np.array([*given, nan])})
    assert np.isnan([part[-1] for part in found]).all()
    for i, (x, true) in enumerate(cases):
        for order, (got, want, more) in enumerate(zip(found, true, true[1:], strict=False)):
            expected, size = float(want), abs(want)
            bound = roundings * EPS * (size + abs(x * more)) + SMALLEST
            if math.isinf(expected):
                assert got[i] == expected or (math.isnan(got[i]) and order), (x, order, got[i])
            else:
                assert abs(mpf(float(got[i])) - want) <= bound, (x, order, got[i], expected)


ZEROS = 0.0, 0.0, 0.0
#: Where a function goes at infinity, and its slope and second derivative.
ENDS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(["rgamma(x)", "erfc(x)", "erfcx(x)", "dawsn(x)", "log_ndtr(x)"], ZEROS),
    **dict.fromkeys(["j0(x)", "y1(x)", "k0(x)", "jv(0.5, x)", "kv(2.5, x)", "yv(2.5, x)"], ZEROS),
    **dict.fromkeys(["kve(2.5, x)", "ive(2.5, x)", "airye(x)[0]", "airye(x)[2]"], ZEROS),
    **dict.fromkeys(
        ["sici(x)[1]", "spherical_jn(2, x)", "spherical_kn(2, x)", "ellipk(-x)"], ZEROS
    ),
    **dict.fromkeys(["erf(x)", "ndtr(x)", "gammainc(2.0, x)", "zeta(x)"], (1, 0, 0)),
    **dict.fromkeys(["gammaln(x)", "loggamma(x)"], (inf, inf, 0)),
    "log_ndtr(-x)": (-inf, -inf, -1),
    "sici(x)[0]": (math.pi / 2, 0, 0),
    "spence(x)": (-inf, 0, 0),
    **dict.fromkeys(["i0(x)", "iv(2.5, x)", "airy(x)[2]", "airy(x)[3]", "i1(x)"], (inf, inf, inf)),
    "eval_chebyt(3, x)": (inf, inf, inf),
    "eval_hermite(3, -x)": (-inf, -inf, -inf),
}


@pytest.mark.parametrize("text", ENDS)
def test_ends_are_limits(ask, text):
    found = ask.value(derivatives(text), {"x": np.array([inf, 1.0])})
    assert_array_equal([part[0] for part in found], ENDS[text])


#: Of large parameters, and how far from the mean in standard deviations.
SHAPES = [(a, t) for a in (3.0, 30.0, 1e4, 1e8, 1e12, 1e15) for t in (0.0, -1.5, 0.5)]


def test_densities_have_their_digits_for_large_shapes(ask):
    a = np.array([a for a, _ in SHAPES])
    t = np.array([t for _, t in SHAPES])
    x, y = a + t * np.sqrt(a), 0.5 + t / 4 / np.sqrt(a)
    program = "f = lambda x: sum(gammainc(a, x))\ng = lambda y: sum(betainc(a, a, y))\n"
    first = ask.value(f"{program}grad(f)(x), grad(g)(y)", {"a": a, "x": x, "y": y})
    for i in range(len(a)):
        with mp.workdps(60):
            p, u, v = mpf(a[i]), mpf(x[i]), mpf(y[i])
            gamma = (p - 1) * mp.log(u) - u - mp.loggamma(p)
            beta = (p - 1) * mp.log(v * (1 - v)) - log_beta(p, p)
            for got, want, slope in (
                (first[0][i], gamma, u * ((p - 1) / u - 1)),
                (first[1][i], beta, (p - 1) * (1 - v / (1 - v))),
            ):
                assert abs(got / mp.exp(want) - 1) <= 100 * EPS * (1 + abs(slope)), (a[i], t[i])


@pytest.mark.parametrize(
    "text", ["iv(0.5, x)", "airy(x)[2]", "betaln(x, 30.0)", "gammainc(40.0, x)"]
)
def test_an_element_is_alone_what_it_is_among_others(ask, text):
    x = np.array([5e-324, 1e-200, 0.3, 30.0, 200.0, 1e9, inf])
    together = ask.value(derivatives(text), {"x": x})
    for i, value in enumerate(x):
        alone = ask.value(derivatives(text), {"x": value})
        assert_allclose(alone, [part[i] for part in together], 1e-14, equal_nan=True)
