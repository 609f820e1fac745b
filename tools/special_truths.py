"""Write what special functions and laws are, with derivatives, by mpmath, for the tests.

A row has the arguments, the value, and the first and second derivative in each argument that has
one; then, for each of these, its condition: the logarithm to base 2 of how much more than itself
the arguments' relative changes change it. Numbers that overflow are infinite; those that mpmath
cannot tell are null. A quarter of an hour; ``special_truths.py NAME …`` for some functions alone.

Of some functions there are also truths between the places of the others, which were drawn:
``special_truths.py --draw 2000 NAME`` prints as many rows. The file keeps a few, and its points are
those that are computed again.
"""

from __future__ import annotations

import json
import math
import random
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

DATA = Path(__file__).parents[1] / "tests/engine/ops/truths"
#: Rows of a function, candidates for them, and the seconds that one may take.
ROWS, CANDIDATES, SECONDS = 28, 60, 8
#: What stands for infinity.
FAR = mpf(10) ** 400
LARGEST, SMALLEST = mpf(2) ** 1024, mpf(2) ** -1075
INF = math.inf
HALF = mpf("0.5")

Axis = Sequence[float]
Truth = Callable[..., Any]
POSITIVE: Axis = (1e-300, 1e-20, 1e-8, 0.01, 0.3, 0.7, 1.0, 1.5, 2.5, 7.3, 30.0, 170.5, 1e3, 1e5)
HUGE: Axis = (*POSITIVE, 1e10, 1e100, 1e300)
ENDED: Axis = (0.0, 5e-324, *HUGE, INF)
#: Without numbers of which a share underflows.
HALVED: Axis = (0.0, *HUGE, INF)
SHAPE: Axis = (1e-10, 1e-3, 0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 5.0, 13.7, 80.0, 900.0, 3e3, 1e5)
SIGNED: Axis = (*[s * x for x in (1e-8, 0.3, 1.0, 2.5, 7.3, 30.0, 170.5) for s in (1, -1)], 0.0)
ORDER: Axis = (0.0, 1e-10, 0.3, 0.5, 1.0, 1 + 1e-9, 2.5, 3.0, 10.3, 40.0, 150.7, 320.0)
ORDERS: Axis = (*ORDER, -0.5, -1.0, -2.0, -3.3, -1 + 1e-9, -20.6)
UNIT: Axis = (0.0, 1e-300, 1e-20, 1e-7, 0.02, 0.3, 0.5, 0.77, 0.99, 1 - 1e-10, 1 - 2**-53, 1.0)
TAILS: Axis = (
    1e-300,
    1e-200,
    1e-80,
    1e-20,
    1e-7,
    0.02,
    0.3,
    0.5,
    0.77,
    0.99,
    1 - 1e-10,
    1 - 2**-53,
)
#: Parameters of polynomials.
WEIGHTS: Axis = (0.0, -0.5, *SHAPE[2:-2])
BELOW_ONE: Axis = (*[-x for x in (1e-8, 0.3, 1.0, 7.3, 170.5, 1e5, 1e100)], *UNIT)
COUNTS: Axis = (0.0, 1.0, 2.0, 5.0, 19.0, 80.0, 400.0)
MEANS: Axis = (1e-300, 1e-10, 0.01, 0.7, 3.0, 20.0, 100.0, 700.0)


def below_gamma(a: Any, x: Any) -> Any:
    """``P(a, x)``, by a series in which nothing cancels."""
    if not (a > 0 and x >= 0):
        raise ValueError
    if x > a + 40 + 8 * mp.sqrt(a):
        return 1 - above_gamma(a, x)
    return x**a * mp.exp(-x) / mp.gamma(a + 1) * mp.hyp1f1(1, a + 1, x)


def above_gamma(a: Any, x: Any) -> Any:
    """``Q(a, x) = 1 - P(a, x)``."""
    if not (a > 0 and x >= 0):
        raise ValueError
    if x <= a + 40 + 8 * mp.sqrt(a):
        with mp.extradps(40 + int(8 + max(0, float(x - a)) / 2)):
            return 1 - x**a * mp.exp(-x) / mp.gamma(a + 1) * mp.hyp1f1(1, a + 1, x)
    return mp.gammainc(a, x, mp.inf, regularized=True)


def below_beta(a: Any, b: Any, x: Any, rest: Any = None) -> Any:
    """``I_x(a, b)``, by a series in which nothing cancels; ``rest`` is ``1 - x``."""
    rest = 1 - x if rest is None else rest
    if not (a > 0 and b > 0 and x >= 0 and rest >= 0):
        raise ValueError
    if x > (a + 1) / (a + b + 2):
        return 1 - above_beta(a, b, x, rest)
    scale = mp.gamma(a + b) / (mp.gamma(a + 1) * mp.gamma(b))
    return x**a * rest**b * scale * mp.hyp2f1(a + b, 1, a + 1, x)


def above_beta(a: Any, b: Any, x: Any, rest: Any = None) -> Any:
    """``1 - I_x(a, b)``."""
    rest = 1 - x if rest is None else rest
    if x <= (a + 1) / (a + b + 2):
        with mp.extradps(30):
            return 1 - below_beta(a, b, x, rest)
    return below_beta(b, a, rest, x)


def student(df: Any, t: Any) -> Any:
    """Student's distribution function."""
    square = t * t
    tail = below_beta(df / 2, HALF, df / (df + square), square / (df + square)) / 2
    return 1 - tail if t > 0 else tail


def normal(x: Any) -> Any:
    """The normal distribution function."""
    return mp.erfc(-x / mp.sqrt(2)) / 2


def solved(rule: Truth, *, low: Any, high: Any, falls: bool = False) -> Truth:
    """The inverse of ``rule`` in its last argument, which is between two numbers.

    By bisection in few digits, then by secants in all.
    """

    def inverse(*args: Any) -> Any:
        *shape, q = args
        if not 0 < q < 1:
            raise ValueError

        def excess(u: Any) -> Any:
            p = rule(*shape, u)
            return mp.log(p / q) if p > 0 else -mp.inf

        a, b = mpf(low), mpf(high)
        with mp.workdps(25):
            for _ in range(34 + 12):
                middle = (a + b) / 2
                if (excess(middle) > 0) == falls:
                    a = middle
                else:
                    b = middle
        one, other = a, b
        f_one, f_other = excess(one), excess(other)
        for _ in range(60):
            if f_one == f_other:
                break
            one, f_one, other = other, f_other, other - f_other * (other - one) / (f_other - f_one)
            f_other = excess(other)
            if abs(other - one) <= abs(other) * mpf(10) ** (8 - mp.dps):
                break
        else:
            raise ValueError
        return other

    return inverse


def of_exp(rule: Truth, **ends: Any) -> Truth:
    """The inverse in what is positive, found by its logarithm."""
    low, high = ends.pop("low", -2000), ends.pop("high", 40)
    found = solved(lambda *v: rule(*v[:-1], mp.exp(v[-1])), low=low, high=high, **ends)
    return lambda *args: mp.exp(found(*args))


def of_odds(rule: Truth, *, falls: bool = False) -> Truth:
    """The inverse in a share, found by its log-odds."""

    def at(*v: Any) -> Any:
        *shape, u = v
        return rule(*shape, 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u)))

    found = solved(at, low=-5000, high=5000, falls=falls)
    return lambda *args: 1 / (1 + mp.exp(-found(*args)))


def student_quantile(df: Any, p: Any) -> Any:
    """Student's quantile."""
    if p == HALF:
        return mpf(0)
    tail = of_exp(lambda df, t: student(df, -t), high=5000, falls=True)
    return -tail(df, p) if p < HALF else tail(df, 1 - p)


def of_normal(q: Any) -> Any:
    """The normal quantile."""
    if not 0 < q < 1:
        raise ValueError
    if q > HALF:
        return -of_normal(1 - q)
    return -solved(lambda u: normal(-u), low=-1, high=200, falls=True)(q) if q != HALF else mpf(0)


def of_laplace(q: Any) -> Any:
    """Laplace's quantile."""
    return mp.log(2 * q) if q < HALF else -mp.log(2 * (1 - q))


def f_quantile(n: Any, d: Any, p: Any) -> Any:
    """The quantile of F."""
    u = solved(
        lambda n, d, u: below_beta(n / 2, d / 2, 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))),
        low=-5000,
        high=5000,
    )(n, d, p)
    return mp.exp(u) * d / n


def f_below(n: Any, d: Any, x: Any) -> Any:
    """The distribution function of F."""
    return below_beta(n / 2, d / 2, n * x / (d + n * x), d / (d + n * x))


def f_above(n: Any, d: Any, x: Any) -> Any:
    """Its rest to 1."""
    return above_beta(n / 2, d / 2, n * x / (d + n * x), d / (d + n * x))


def positive(rule: Truth, *places: int) -> Truth:
    """Refuse what is not positive in these places."""

    def checked(*args: Any) -> Any:
        if any(not args[i] > 0 for i in places):
            raise ValueError
        return rule(*args)

    return checked


def beta(a: Any, b: Any) -> Any:
    """``B(a, b)``."""
    return mp.gammaprod([a, b], [a + b])


def log_beta(a: Any, b: Any) -> Any:
    """``ln B(a, b)`` of positive numbers."""
    with mp.workdps(700):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def entropy(x: Any, y: Any) -> Any:
    """``x ln(x / y)``."""
    return x * mp.log(x / y)


def owens(h: Any, a: Any) -> Any:
    """By Owen's integral, as far as the bell in it has digits."""
    width = mp.sqrt(2 * mp.log(10) * (mp.dps + 10)) / max(abs(h), mpf(10) ** -9)
    pieces = mp.linspace(0, min(abs(a), width), 9)

    def bell(t: Any) -> Any:
        return mp.exp(-h * h * t * t / 2) / (1 + t * t)

    found = mp.quad(bell, pieces, method="gauss-legendre")
    return mp.sign(a) * mp.exp(-h * h / 2) * found / (2 * mp.pi)


def voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    """Voigt's profile."""
    z = mp.mpc(x, gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def positive_part(x: Any) -> Any:
    """``x``, which must be positive."""
    if not x > 0:
        raise ValueError
    return x


def gauss(a: Any, b: Any, c: Any, z: Any) -> Any:
    """``₂F₁(a, b; c; z)``, but where ``c`` is 0, -1, -2, …"""
    if c <= 0 and c == mp.floor(c):
        raise ValueError
    return mp.hyp2f1(a, b, c, z)


def xlog(k: Any, p: Any) -> Any:
    """``k ln p``, and 0 for 0."""
    return k * mp.log(p) if k else mpf(0)


def xlog1p(k: Any, p: Any) -> Any:
    """``k ln(1 + p)``, and 0 for 0."""
    return k * mp.log1p(p) if k else mpf(0)


def logarithm(rule: Truth, rest: Truth) -> Truth:
    """That of a probability, with all digits also where it is nearly 1."""

    def log(*args: Any) -> Any:
        p = rule(*args)
        return mp.log(p) if p < HALF else mp.log1p(-rest(*args))

    return log


def log_choices(n: Any, k: Any) -> Any:
    """Logarithm of ``n`` over ``k``."""
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(positive_part(n - k + 1))


def log_rising(a: Any, k: Any) -> Any:
    """``ln((a)ₖ / k!)``."""
    return mp.loggamma(a + k) - mp.loggamma(a) - mp.loggamma(k + 1)


#: Points besides those that are drawn, by text.
EXTRA: dict[str, list[tuple[float, ...]]] = {
    "binom(x0, x1)": [(n, k) for n in (0.0, 1.0, 2.0, 5.0) for k in (0.0, 1.0, 2.0, 3.0, 7.0)],
    "poch(x0, x1)": [(0.0, 1.5), (-2.0, 2.7), (-1.0, 4.5), (-1.5, 2.0)],
    "struve(x0, x1)": [(0.0, -2.5), (1.0, -2.5), (1.0, -0.5), (0.0, 0.0), (1.0, 0.0), (2.0, 0.0)],
    "modstruve(x0, x1)": [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)],
}
LOG_MASSES: dict[str, tuple[Truth, Sequence[Axis]]] = {
    "bernoulli": (lambda k, p: mp.log(p) if k else mp.log1p(-p), [(0.0, 1.0), UNIT]),
    "binom": (
        lambda k, n, p: log_choices(n, k) + xlog(k, p) + xlog1p(n - k, -p),
        [COUNTS, (1.0, 2.0, 19.0, 90.0, 500.0, 1e5), UNIT],
    ),
    "nbinom": (
        lambda k, n, p: log_rising(n, k) + n * mp.log(p) + xlog1p(k, -p),
        [COUNTS, SHAPE, UNIT],
    ),
    "geom": (lambda k, p: mp.log(p) + xlog1p(k - 1, -p), [(1.0, 2.0, 9.0, 300.0), UNIT]),
    "poisson": (lambda k, mu: xlog(k, mu) - mu - mp.loggamma(k + 1), [COUNTS, MEANS]),
    "betabinom": (
        lambda k, n, a, b: log_rising(a, k) + log_rising(b, n - k) - log_rising(a + b, n),
        [COUNTS, (1.0, 2.0, 19.0, 90.0, 500.0), SHAPE, SHAPE],
    ),
}
#: Probabilities of at most, and of more than, a count.
SUMS: dict[str, tuple[Truth, Truth]] = {
    "bernoulli": (lambda k, p: mpf(1) if k else 1 - p, lambda k, p: mpf(0) if k else p),
    "binom": (
        lambda k, n, p: above_beta(k + 1, positive_part(n - k), p),
        lambda k, n, p: below_beta(k + 1, positive_part(n - k), p),
    ),
    "nbinom": (
        lambda k, n, p: below_beta(n, k + 1, p),
        lambda k, n, p: above_beta(n, k + 1, p),
    ),
    "poisson": (
        lambda k, mu: above_gamma(k + 1, mu),
        lambda k, mu: below_gamma(k + 1, mu),
    ),
}
#: Quantiles by law, of the probability below and of that above.
QUANTILES: dict[str, tuple[Truth, Truth, Sequence[Axis]]] = {
    "norm": (of_normal, lambda q: -of_normal(q), []),
    "laplace": (of_laplace, lambda q: -of_laplace(q), []),
    "logistic": (lambda q: mp.log(q / (1 - q)), lambda q: mp.log((1 - q) / q), []),
    "cauchy": (lambda q: -mp.cot(mp.pi * q), lambda q: mp.cot(mp.pi * q), []),
    "uniform": (lambda q: q, lambda q: 1 - q, []),
    "expon": (lambda q: -mp.log1p(-q), lambda q: -mp.log(q), []),
    "pareto": (lambda q, b: mp.exp(-mp.log1p(-q) / b), lambda q, b: q ** (-1 / b), [POSITIVE]),
    "gumbel_r": (lambda q: -mp.log(-mp.log(q)), lambda q: -mp.log(-mp.log1p(-q)), []),
    "gumbel_l": (lambda q: mp.log(-mp.log1p(-q)), lambda q: mp.log(-mp.log(q)), []),
    "lognorm": (
        lambda q, s: mp.exp(of_normal(q) * s),
        lambda q, s: mp.exp(-of_normal(q) * s),
        [POSITIVE],
    ),
    "weibull_min": (
        lambda q, c: (-mp.log1p(-q)) ** (1 / c),
        lambda q, c: (-mp.log(q)) ** (1 / c),
        [POSITIVE],
    ),
    "gamma": (
        lambda q, a: of_exp(below_gamma)(a, q),
        lambda q, a: of_exp(above_gamma, falls=True)(a, q),
        [SHAPE],
    ),
    "chi2": (
        lambda q, df: 2 * of_exp(below_gamma)(df / 2, q),
        lambda q, df: 2 * of_exp(above_gamma, falls=True)(df / 2, q),
        [SHAPE],
    ),
    "beta": (
        lambda q, a, b: of_odds(below_beta)(a, b, q),
        lambda q, a, b: of_odds(above_beta, falls=True)(a, b, q),
        [SHAPE, SHAPE],
    ),
    "t": (
        lambda q, df: student_quantile(df, q),
        lambda q, df: -student_quantile(df, q),
        [SHAPE],
    ),
}


def polynomials() -> Iterator[tuple[str, Truth, Sequence[Axis]]]:
    """Orthogonal polynomials: text, truth and axes."""
    for n in (0, 1, 2, 7, 60):
        yield f"eval_legendre({n}, x0)", lambda x, n=n: mp.legendre(n, x), [SIGNED]
        yield f"eval_chebyt({n}, x0)", lambda x, n=n: mp.chebyt(n, x), [SIGNED]
        yield f"eval_chebyu({n}, x0)", lambda x, n=n: mp.chebyu(n, x), [SIGNED]
        yield f"eval_hermite({n}, x0)", lambda x, n=n: mp.hermite(n, x), [SIGNED]
        yield (
            f"eval_hermitenorm({n}, x0)",
            lambda x, n=n: mp.hermite(n, x / mp.sqrt(2)) * mpf(2) ** (mpf(-n) / 2),
            [SIGNED],
        )
        yield f"eval_laguerre({n}, x0)", lambda x, n=n: mp.laguerre(n, 0, x), [SIGNED]
        yield (
            f"eval_genlaguerre({n}, x0, x1)",
            lambda a, x, n=n: mp.laguerre(n, a, x),
            [WEIGHTS, SIGNED],
        )
        yield (
            f"eval_gegenbauer({n}, x0, x1)",
            lambda a, x, n=n: mp.gegenbauer(n, a, x),
            [WEIGHTS[1:], SIGNED],
        )
        yield (
            f"eval_jacobi({n}, x0, x1, x2)",
            lambda a, b, x, n=n: mp.jacobi(n, a, b, x),
            [WEIGHTS, WEIGHTS, SIGNED],
        )


def with_degrees() -> Iterator[tuple[str, Truth, Sequence[Axis]]]:
    """Functions of a whole order or degree."""
    for n in (0, 1, 2, 5, 40):
        yield f"expn({n}, x0)", lambda x, n=n: mp.expint(n, x), [HUGE]
        for kind, of in (("in", mp.besseli), ("kn", mp.besselk), ("yn", mp.bessely)):
            yield (
                f"spherical_{kind}({n}, x0)",
                positive(lambda x, n=n, of=of: mp.sqrt(mp.pi / 2 / x) * of(n + HALF, x), 0),
                [HUGE],
            )
    for n in (0, 1, 2, 6):
        yield (
            f"polygamma({n}, x0)",
            lambda x, n=n: mp.psi(n, x),
            [(*HUGE, -0.5, -3 + 1e-9, -20.3)],
        )
    for k in (0, -1):
        yield (
            f"lambertw(x0, {k})",
            lambda x, k=k: mp.lambertw(x, k),
            [(*[-x for x in (1e-300, 1e-8, 0.1, 0.36, 0.3678794411)], *(HUGE if k == 0 else ()))],
        )
    for d in (1, 3):
        yield (
            f"multigammaln(x0, {d})",
            lambda a, d=d: (
                mpf(d * (d - 1)) / 4 * mp.log(mp.pi)
                + sum(mp.loggamma(a - mpf(j) / 2) for j in range(d))
            ),
            [(1.01, 1.5, 7.3, 170.5, 1e5, 1e100)],
        )


def special() -> Iterator[tuple[str, Truth, Sequence[Axis], int]]:
    """The text, the truth, places where each argument is looked at, and how many have no slope."""
    plain: dict[str, tuple[Truth, Sequence[Axis]]] = {
        **{f"{n}v": (getattr(mp, f"bessel{n}"), [ORDERS, ENDED]) for n in "jyik"},
        "ive": (lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)), [ORDERS, ENDED[2:]]),
        "kve": (lambda v, x: mp.besselk(v, x) * mp.exp(x), [ORDERS, ENDED[2:]]),
        "gammainc": (below_gamma, [SHAPE, ENDED]),
        "gammaincc": (above_gamma, [SHAPE, ENDED]),
        "gammaincinv": (of_exp(below_gamma), [SHAPE, TAILS]),
        "gammainccinv": (of_exp(above_gamma, falls=True), [SHAPE, TAILS]),
        "betainc": (below_beta, [SHAPE, SHAPE, UNIT]),
        "betaincc": (above_beta, [SHAPE, SHAPE, UNIT]),
        "betaincinv": (of_odds(below_beta), [SHAPE, SHAPE, TAILS]),
        "betainccinv": (of_odds(above_beta, falls=True), [SHAPE, SHAPE, TAILS]),
        "beta": (lambda a, b: mp.exp(log_beta(a, b)), [HUGE, HUGE]),
        "beta ": (beta, [SIGNED, SIGNED]),
        "betaln": (log_beta, [HUGE, HUGE]),
        "binom": (mp.binomial, [(*ORDERS, *SIGNED), (*ORDERS, *SIGNED)]),
        "poch": (mp.rf, [(*ORDERS, *SIGNED), (*ORDERS, *SIGNED)]),
        "hyp0f1": (mp.hyp0f1, [ORDERS, (*SIGNED, 1e3, -1e3, 1e10, -1e10)]),
        "hyp1f1": (mp.hyp1f1, [(*ORDERS, -4.0), ORDERS, (*SIGNED, 1e3, -1e3, 1e10, -1e10)]),
        "hyp2f1": (gauss, [ORDERS[:9], ORDERS[:9], ORDERS, BELOW_ONE]),
        "zeta": (mp.zeta, [(1 + 1e-9, 1.5, 2.0, 7.3, 40.0, 320.0), HUGE]),
        "owens_t": (owens, [(0.0, 1e-10, 0.3, 2.5, -6.0, 20.0, 37.0), SIGNED]),
        "ellipkinc": (mp.ellipf, [(*SIGNED[:8], 1.5, 1.57), (*BELOW_ONE,)]),
        "ellipeinc": (mp.ellipe, [(*SIGNED[:8], 1.5, 1.57), (*BELOW_ONE,)]),
        "elliprc": (positive(mp.elliprc, 1), [(0.0, *HUGE), HUGE]),
        "elliprf": (mp.elliprf, [HUGE, HUGE, (0.0, *HUGE)]),
        "elliprd": (positive(mp.elliprd, 2), [HUGE, (0.0, *HUGE), HUGE]),
        "elliprg": (mp.elliprg, [HUGE, HUGE, (0.0, *HUGE)]),
        "elliprj": (positive(mp.elliprj, 3), [HUGE, HUGE, (0.0, *HUGE), HUGE]),
        "agm": (mp.agm, [HUGE, HUGE]),
        "voigt_profile": (voigt, [SIGNED, (1e-5, 0.3, 1.0, 7.3), (1e-10, 0.3, 1.0, 7.3, 1e5)]),
        "kl_div": (lambda x, y: entropy(x, y) - x + y, [HUGE, HUGE]),
        "rel_entr": (entropy, [HUGE, HUGE]),
        "xlog1py": (
            lambda x, y: x * mp.log1p(y),
            [(*SIGNED, 1e300), (*HUGE, -1e-20, -0.5, -1 + 1e-10)],
        ),
        "stdtr": (student, [SHAPE, (*SIGNED, -1e10, 1e10, -1e100)]),
        "stdtrit": (student_quantile, [SHAPE, TAILS]),
        "chdtr": (lambda v, x: below_gamma(v / 2, x / 2), [SHAPE, HALVED]),
        "chdtrc": (lambda v, x: above_gamma(v / 2, x / 2), [SHAPE, HALVED]),
        "chdtri": (lambda v, p: 2 * of_exp(above_gamma, falls=True)(v / 2, p), [SHAPE, TAILS]),
        "fdtr": (f_below, [SHAPE, SHAPE, ENDED[:-1]]),
        "fdtrc": (f_above, [SHAPE, SHAPE, ENDED[:-1]]),
        "fdtri": (f_quantile, [SHAPE, SHAPE, TAILS]),
        "gdtr": (lambda a, b, x: below_gamma(b, a * x), [POSITIVE[3:], SHAPE, HALVED]),
        "gdtrc": (lambda a, b, x: above_gamma(b, a * x), [POSITIVE[3:], SHAPE, HALVED]),
    }
    for name, (rule, axes) in plain.items():
        yield f"{name.strip()}({arguments(len(axes))})" + " " * name.count(" "), rule, axes, 0
    counted = {
        "pdtr": (SUMS["poisson"][0], LOG_MASSES["poisson"][1]),
        "pdtrc": (SUMS["poisson"][1], LOG_MASSES["poisson"][1]),
        "bdtr": (SUMS["binom"][0], LOG_MASSES["binom"][1]),
        "bdtrc": (SUMS["binom"][1], LOG_MASSES["binom"][1]),
        "nbdtr": (SUMS["nbinom"][0], LOG_MASSES["nbinom"][1]),
        "nbdtrc": (SUMS["nbinom"][1], LOG_MASSES["nbinom"][1]),
    }
    for name, (rule, axes) in counted.items():
        yield f"{name}({arguments(len(axes))})", rule, axes, 1
    yield "struve(x0, x1)", mp.struveh, [ORDERS, POSITIVE], 1
    yield "modstruve(x0, x1)", mp.struvel, [ORDERS, POSITIVE], 1
    yield "hyperu(x0, x1, x2)", positive(mp.hyperu, 2), [ORDER[:10], ORDER[:10], HUGE], 2
    for m in (1, 2, 3, 5):
        yield f"poch(x0, {float(m)})", lambda x, m=m: mp.rf(x, m), [(-3.0, -2.0, -1.0, 0.0, 1.0)], 0
    for text, rule, axes in (*polynomials(), *with_degrees()):
        yield text, rule, axes, 0


def laws() -> Iterator[tuple[str, Truth, Sequence[Axis], int]]:
    """Quantiles, and functions of counts."""
    for law, (below, above, axes) in QUANTILES.items():
        given = arguments(1 + len(axes))
        yield f"scipy.stats.{law}.ppf({given})", below, [TAILS, *axes], 0
        yield f"scipy.stats.{law}.isf({given})", above, [TAILS, *axes], 0
    for law, (log_mass, axes) in LOG_MASSES.items():
        call = f"scipy.stats.{law}.{{}}({arguments(len(axes))})"
        yield call.format("logpmf"), log_mass, axes, 1
        yield call.format("pmf"), lambda *v, of=log_mass: mp.exp(of(*v)), axes, 1
        for name, rules in zip(("cdf", "sf"), pairs(law), strict=False):
            yield call.format(name), rules[0], axes, 1
            yield call.format(f"log{name}"), logarithm(*rules), axes, 1


def pairs(law: str) -> list[Sequence[Truth]]:
    """The two sums of a law and the rest of each."""
    return [SUMS[law], SUMS[law][::-1]] if law in SUMS else []


def arguments(count: int) -> str:
    """Names of so many arguments."""
    return ", ".join(f"x{i}" for i in range(count))


def real(z: Any) -> Any:
    """A finite real number."""
    z = mpmath.mpmathify(z)
    if not mp.isfinite(z) or mp.im(z) != 0:
        raise ValueError
    return mp.re(z)


def distance(x: Any) -> Any:
    """From 0 and the halves of whole numbers, where a function may be singular; 1 of these."""
    near = [abs(x - mp.nint(2 * x) / 2), abs(x)]
    return min([mpf(1), *[d for d in near if d]])


def differences(f: Truth, point: Sequence[Any], i: int, value: Any, step: Any) -> list[Any]:
    """Two derivatives in place ``i``: by central differences, at ends by those to one side."""
    for side in (0, 1, -1):
        moved = []
        try:
            for k in (-1, 0, 1) if side == 0 else (0, side, 2 * side, 3 * side):
                there = [*point]
                there[i] = point[i] + k * step
                moved.append(real(f(*there)) if k else value)
        except (ValueError, ZeroDivisionError, mp.NoConvergence):
            continue
        break
    else:
        return [None, None]
    if side == 0:
        a, b, c = moved
        found = [(c - a) / (2 * step), (a - 2 * b + c) / step**2]
    else:
        a, b, c, d = moved
        found = [side * (-11 * a + 18 * b - 9 * c + 2 * d) / (6 * step)]
        found.append((2 * a - 5 * b + 4 * c - d) / step**2)
    noise = max(map(abs, moved)) * mpf(10) ** (4 - mp.dps)
    for k, d in enumerate(found, 1):
        unit = abs(point[i]) ** k or 1
        if abs(d) * step**k <= noise * mpf(10) ** 16:
            vanishes = noise / step**k * unit <= abs(value) * mpf(10) ** -40
            known = vanishes and mp.dps > 150 and (point[i] == 0 or abs(point[i]) > mpf(10) ** -30)
            found[k - 1] = mpf(0) if known else None
    return found


def derivatives(f: Truth, point: Sequence[Any], places: Sequence[int], step: Any) -> list[Any]:
    """The value, and two derivatives in each place, by steps of a share of its distance."""
    value = real(f(*point))
    found = [value]
    for i in places:
        slopes = differences(f, point, i, value, distance(point[i]) * step)
        if None in slopes and abs(point[i]) > 1:
            beside = [*point]
            beside[i] = point[i] * (1 + step)
            if abs(real(f(*beside)) - value) < abs(value) / 1000:  # it does not oscillate
                slopes = differences(f, point, i, value, abs(point[i]) * step)
        found += slopes
    return found


def settled(f: Truth, point: Sequence[float], places: Sequence[int]) -> list[Any]:
    """The value and derivatives, where more digits and shorter steps give the same."""
    before: list[Any] = []
    found: list[Any] = []
    for digits, step in ((50, -45), (90, -70), (200, -100)):
        with mp.workdps(digits):
            exact = [FAR * (1 if x > 0 else -1) if math.isinf(x) else mpf(x) for x in point]
            before, found = found, derivatives(f, exact, places, mpf(2) ** step)
        if before and all(map(agree, before, found)):
            break
    ends = [False, *[abs(point[i]) <= 1 for i in places for _ in range(2)]]
    return [told(*both) for both in zip(before, found, ends, strict=True)]


def told(a: Any, b: Any, end: bool) -> Any:
    """What two steps agree on, or 0 to all digits; infinity where it grows at an end."""
    if agree(a, b) or (b == 0 and a is None):
        return b
    grows = end and a is not None and b is not None and a * b > 0 and abs(b) > abs(a) * 100
    return FAR * mp.sign(b) if grows else None


def agree(a: Any, b: Any) -> bool:
    """Whether two numbers are one, or both underflow or overflow."""
    if a is None or b is None:
        return False
    if max(abs(a), abs(b)) < SMALLEST or (a * b > 0 and min(abs(a), abs(b)) > LARGEST):
        return True
    return bool(abs(a - b) <= abs(b) * mpf(10) ** -14)


def conditions(f: Truth, point: Sequence[float], places: Sequence[int], found: list[Any]) -> Any:
    """Binary logarithms of the condition of each, by a small change of each argument."""
    changes = [mpf(0)] * len(found)
    largest = max([abs(x) for x in point if not math.isinf(x)], default=1)
    with mp.workdps(60 + max(0, int(mp.log10(largest or 1)))):
        exact = [FAR if math.isinf(x) else mpf(x) for x in point]
        for j, x in enumerate(exact):
            if j not in places or x == 0 or math.isinf(point[j]):
                continue
            step = distance(x) * mpf(2) ** -20
            moved = [*exact]
            moved[j] = x + step
            if point[j] == 1:
                moved[j] = x - step
            try:
                beside = derivatives(f, moved, places, mpf(2) ** -50)
            except (ValueError, ZeroDivisionError, mp.NoConvergence):
                continue
            for i, (a, b) in enumerate(zip(found, beside, strict=True)):
                if a is not None and b is not None:
                    changes[i] += abs((b - a) * x / step)
        return [
            0
            if a is None or not change or abs(a) > LARGEST
            else min(1100, max(0, math.ceil(mp.log(change / max(abs(a), SMALLEST), 2))))
            for a, change in zip(found, changes, strict=True)
        ]


def written(x: Any) -> float | None:
    """A number of 14 digits, or null."""
    if x is None:
        return None
    if abs(x) >= LARGEST:
        return math.copysign(INF, x)
    return float(f"{float(x):.14g}")


def far(x: Any) -> Any:
    """The limit of a number that is nearly there."""
    if x is None or mpf(10) ** -100 < abs(x) < mpf(10) ** 100:
        return x
    return mpf(0) if abs(x) < 1 else FAR * mp.sign(x)


class TooLongError(Exception):
    """More than the seconds of a row."""


def expired(*_: object) -> None:
    """End a row."""
    raise TooLongError


def row(f: Truth, point: Sequence[float], places: Sequence[int]) -> list[Any] | None:
    """The row of a point; None if there is no truth."""
    with mp.workdps(300):
        mp.gamma(HALF + 1)  # fills its table
    signal.signal(signal.SIGALRM, expired)
    signal.alarm(SECONDS)
    try:
        found = settled(f, point, places)
        if found[0] is None:
            return None
        found_conditions = conditions(f, point, places, found)
    except (
        ValueError,
        ZeroDivisionError,
        OverflowError,
        TypeError,
        mp.NoConvergence,
        TooLongError,
        MemoryError,
    ):
        return None
    finally:
        signal.alarm(0)
    if INF in point:
        found = [far(x) for x in found]
    return [*point, *map(written, found), *found_conditions]


def points(name: str, axes: Sequence[Axis]) -> Iterator[tuple[float, ...]]:
    """Candidates: all there are on one axis, else draws in which each number comes as often."""
    yield from EXTRA.get(name, ())
    if len(axes) == 1:
        yield from ((x,) for x in axes[0])
        return
    rng = random.Random(name)  # noqa: S311
    columns = []
    for axis in axes:
        column = [*axis] * (CANDIDATES // len(axis) + 1)
        rng.shuffle(column)
        columns.append(column[:CANDIDATES])
    yield from dict.fromkeys(zip(*columns, strict=True))


def rows(case: tuple[str, int]) -> tuple[str, dict[str, Any]]:
    """All rows of a function."""
    which, number = case
    name, f, axes, held = [*FILES[which]()][number]
    places = range(held, len(axes))
    found: list[Any] = []
    if which == "between":
        texts = json.loads((DATA / "between.json").read_text(encoding="utf-8"))
        at = [one[: len(axes)] for one in texts[name]["rows"]]
        found = [one for point in at if (one := row(f, point, places)) is not None]
        return name, {"held": held, "rows": found}
    for point in points(name, axes):
        if (one := row(f, point, places)) is not None:
            found.append(one)
        if len(found) == (ROWS + len(EXTRA.get(name, ())) if len(axes) > 1 else 14):
            break
    return name, {"held": held, "rows": found}


def between(axis: Axis, rng: random.Random) -> float:
    """A number between two neighbours of an axis, of any order of magnitude between these."""
    places = sorted({x for x in axis if math.isfinite(x)})
    i, share = rng.randrange(len(places) - 1), rng.random()
    low, high = places[i : i + 2]
    if low * high > 0:
        log = math.log(abs(low)) * (1 - share) + math.log(abs(high)) * share
        return math.copysign(math.exp(log), low)
    return low + (high - low) * share


def draw(count: int, chosen: str) -> None:
    """Print rows of points that are drawn with a fixed seed."""
    for name, f, axes, held in special():
        if name.partition("(")[0] == chosen:
            rng = random.Random(f"between {name}")  # noqa: S311
            for _ in range(count):
                point = [between(axis, rng) for axis in axes]
                if (one := row(f, point, range(held, len(axes)))) is not None:
                    sys.stdout.write(json.dumps(one) + "\n")


def kept() -> Iterator[tuple[str, Truth, Sequence[Axis], int]]:
    """Functions of which there are points between the places of the axes."""
    texts = json.loads((DATA / "between.json").read_text(encoding="utf-8"))
    yield from (case for case in special() if case[0] in texts)


FILES = {"special": special, "laws": laws, "between": kept}


def main(chosen: Sequence[str]) -> None:
    """Write all functions, or those of these names."""
    for which, cases in FILES.items():
        path = DATA / f"{which}.json"
        names = [case[0] for case in cases()]
        data = json.loads(path.read_text(encoding="utf-8")) if chosen else {}
        todo = [i for i, n in enumerate(names) if not chosen or n.partition("(")[0] in chosen]
        with Pool(2) as pool:
            data |= dict(pool.imap(rows, [(which, i) for i in todo], chunksize=1))
        lines = []
        for name in names:
            listed = ",\n".join(
                json.dumps(one, separators=(",", ":")) for one in data[name]["rows"]
            )
            lines.append(
                f'{json.dumps(name)}:{{"held":{data[name]["held"]},"rows":[\n{listed}\n]}}'
            )
        path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--draw"]:
        draw(int(sys.argv[2]), sys.argv[3])
    else:
        main(sys.argv[1:])
