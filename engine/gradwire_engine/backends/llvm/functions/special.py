"""Error functions, the gamma function's logarithm and that one's slope.

Source: Shepherd and Laframboise, Chebyshev Approximation of (1 + 2x) exp(x²) erfc x (1981), for
the form of erfcx; DLMF 5.5, 5.7 and 5.11 for those of gamma.
"""

from __future__ import annotations

import math

from gradwire_engine.backends.llvm.functions.coefficients import (
    DIGAMMA,
    DIGAMMA_FAR,
    ERF,
    ERFCX,
    ERFCX_SLOPE,
    GAMMA,
    STIRLING,
)
from gradwire_engine.backends.llvm.functions.exponentials import reduced_exponential, scaled
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import (
    INF,
    NAN,
    Function,
    Pair,
    passing_nan,
)
from gradwire_engine.backends.llvm.functions.logarithms import long_logarithm
from gradwire_engine.backends.llvm.functions.trigonometric import sine_and_cosine

#: What maps 0 to infinity on -1 to 1: ``t = (x - k) / (x + k)``.
ERFCX_K = 3.75
_GAMMA_0 = 0.42278433509846713, 4.942915152430645e-18
_GAMMA_1 = 0.3224670334241132
_HALF_LN_2_PI = 0.9189385332046728
#: From where on the asymptotic series of ln gamma and of digamma are used, after these shifts.
_FAR, _SHIFTS = 7.5, 5
_DIGAMMA_FAR, _DIGAMMA_SHIFTS = 4.5, 2
_PI, _PER_PI = (math.pi, 1.2246467991473532e-16), (0.3183098861837907, -1.9678676675182486e-17)
#: The largest double and the largest float for which ln gamma is finite.
_LARGEST_GAMMA = 2.5599833278516383e305, 4.085003108497519e36
#: Up to where erfc is computed from erf.
_NEAR = 0.75
#: 7/4 less the positive root of digamma.
_TO_ROOT = 0.28836785503163764, 1.5522348162858677e-17


def _scaled_erfc(f: Function, x: str) -> Pair:
    """``exp(x²) erfc x`` for ``x`` of at least 0, in ``t = (x - k) / (x + k)``."""
    d = f.exact_sum(x, f.c(ERFCX_K))
    t, low = f.quotient(f.exact_sum(x, f.c(-ERFCX_K)), d)
    high, lost = f.long_polynomial(t, ERFCX)
    lost = f.fma(low, f.polynomial(t, ERFCX_SLOPE), lost)
    return f.quotient(Pair(high, lost), f.ordered_sum(f.c(1.0), f.add(x, x)))


def _complement(f: Function, x: str) -> str:
    """``erfc x`` for ``x`` of at least 0."""
    square = f.exact_product(x, x)
    n, s, t = reduced_exponential(f, f.negative(square.high), f.negative(square.low))
    return scaled(f, n, s, t, _scaled_erfc(f, x))


def _near(f: Function, x: str) -> Pair:
    """``erf x`` for small ``x``."""
    return f.product(Pair(x, f.c(0.0)), f.long_polynomial(f.mul(x, x), ERF))


def _near_complement(f: Function, x: str) -> Pair:
    """``1 - erf x`` for small ``x``."""
    near = _near(f, x)
    high, low = f.ordered_sum(f.c(1.0), f.negative(near.high))
    return Pair(high, f.sub(low, near.low))


def erf(form: Form) -> str:
    """``x p(x²)`` below 1, else ``1 - erfc x``."""
    f = Function(form, "erf")
    x = "%x0"
    size = f.most(f.abs(x), 6.0)
    far = f.with_sign(f.sub(f.c(1.0), _complement(f, size)), x)
    near = f.add(*_near(f, x))
    z = passing_nan(f, x, f.pick(f.test("olt", size, f.c(1.0)), near, far))
    return f.text(f.pick(f.test("oeq", x, f.c(0.0)), x, z))  # keeps the sign of zero


def erfc(form: Form) -> str:
    """``1 - erf x``; from 3/4 on in its own form, in which nothing cancels."""
    f = Function(form, "erfc")
    x = "%x0"
    size = f.most(f.abs(x), 28.0)
    z = _complement(f, size)
    z = f.pick(f.test("olt", x, f.c(0.0)), f.sub(f.c(2.0), z), z)
    z = f.pick(f.test("olt", size, f.c(_NEAR)), f.add(*_near_complement(f, x)), z)
    return f.text(passing_nan(f, x, z))


def erfcx(form: Form) -> str:
    """``exp(x²) erfc x``; below 0 ``2 exp(x²)`` less that of ``-x``."""
    f = Function(form, "erfcx")
    x = "%x0"
    size = f.abs(x)
    right = f.add(*_scaled_erfc(f, f.most(size, 2.0**60, 2.0**30)))
    end = f.div(f.c(1 / math.sqrt(math.pi)), size)
    right = f.pick(f.test("ogt", size, f.c(2.0**50, 2.0**20)), end, right)
    bounded = f.most(size, 27.0, 9.5)
    square = f.exact_product(bounded, bounded)
    power = reduced_exponential(f, square.high, square.low)
    left = f.sub(scaled(f, *power, Pair(f.c(2.0), f.c(0.0))), right)
    left = f.pick(f.test("olt", x, f.c(-26.7, -9.45)), f.c(INF), left)
    z = f.pick(f.test("olt", x, f.c(0.0)), left, right)
    near = scaled(f, *power, _near_complement(f, x))
    close = f.both(f.test("ogt", x, f.c(-1.0)), f.test("olt", x, f.c(_NEAR)))
    return f.text(passing_nan(f, x, f.pick(close, near, z)))


def _mirrored_lgamma(f: Function, x: str, z: str, long: Pair) -> str:
    """``ln |Γ(-x)| = ln(π / |x sin πx|) - ln Γ(x)`` of positive ``x``; DLMF 5.5.3."""
    part = f.abs(f.sub(x, f.intrinsic("rint", x)))
    flat = f.test("ogt", part, f.c(0.25))
    angle = f.pick(flat, f.sub(f.c(0.5), part), part)
    rest = f.product(Pair(angle, f.c(0.0)), f.long(*_PI))
    sine, cosine = sine_and_cosine(f, rest)
    size = Pair(*[f.pick(flat, *each) for each in zip(cosine, sine, strict=True)])
    size = f.product(f.product(size, f.long(*_PER_PI)), Pair(x, f.c(0.0)))
    of = long_logarithm(f, *f.ordered_sum(*size))
    total = f.exact_sum(of.high, long.high)
    mirrored = f.negative(f.add(total.high, f.add(total.low, f.add(of.low, long.low))))
    mirrored = f.pick(f.test("oeq", part, f.c(0.0)), f.c(INF), mirrored)
    mirrored = f.pick(f.test("oge", x, f.c(2.0**52, 2.0**23)), f.c(INF), mirrored)
    # where the square of x may underflow, and the sine is its angle
    return f.pick(f.test("olt", x, f.c(2.0**-60, 2.0**-30)), z, mirrored)


def lgamma(form: Form) -> str:
    """``ln |Γ(x)|``: by a polynomial between 3/2 and 5/2 after shifts, by Stirling's series beyond.

    Below 0 of vectors by the C library.
    """
    f = Function(form, "lgamma")
    x = f.abs("%x0")
    tiny, low = f.test("olt", x, f.c(0.5)), f.test("olt", x, f.c(1.5))
    far = f.test("oge", x, f.c(_FAR))
    next_one = f.exact_sum(x, f.c(1.0))
    both, lost = f.product(Pair(x, f.c(0.0)), next_one)
    product, rest = f.c(1.0), f.sub(x, f.c(2.0))
    for j in range(1, _SHIFTS + 1):
        beyond = f.test("oge", x, f.c(1.5 + j))
        product = f.pick(beyond, f.mul(product, f.sub(x, f.c(float(j)))), product)
        rest = f.pick(beyond, f.sub(x, f.c(2.0 + j)), rest)
    product = f.pick(low, x, product)
    product = f.pick(far, x, f.pick(tiny, both, product))
    rest = f.pick(tiny, x, f.pick(low, f.sub(x, f.c(1.0)), rest))
    of = long_logarithm(f, product, f.pick(tiny, lost, f.c(0.0)))
    inner = f.ordered_sum(f.c(_GAMMA_1), f.mul(rest, f.polynomial(rest, GAMMA)))
    step = f.product(Pair(rest, f.c(0.0)), inner)
    constant = f.long(*_GAMMA_0)
    high, lost = f.ordered_sum(constant.high, step.high)
    whole = Pair(high, f.add(lost, f.add(step.low, constant.low)))
    near = f.product(Pair(rest, f.c(0.0)), whole)
    signed = Pair(*[f.pick(low, f.negative(part), part) for part in of])
    total = f.exact_sum(signed.high, near.high)
    middle = Pair(total.high, f.add(total.low, f.add(signed.low, near.low)))
    # beyond
    inverse = f.div(f.c(1.0), x)
    series = f.fma(f.polynomial(f.mul(inverse, inverse), STIRLING), inverse, f.c(_HALF_LN_2_PI))
    grown = f.product(of, Pair(f.sub(x, f.c(0.5)), f.c(0.0)))
    total = f.exact_sum(grown.high, f.negative(x))
    stirling = Pair(total.high, f.add(total.low, f.add(grown.low, series)))
    z = f.pick(far, f.add(*stirling), f.add(*middle))
    # where ln x times x is infinite, and its difference to x is not
    less = f.ordered_sum(of.high, f.c(-1.0))
    largest = f.product(Pair(less.high, f.add(less.low, of.low)), Pair(x, f.c(0.0)))
    z = f.pick(f.test("ogt", x, f.c(2.0**1000, 2.0**100)), f.add(*largest), z)
    z = f.pick(f.test("ogt", x, f.c(*_LARGEST_GAMMA)), f.c(INF), z)
    z = f.pick(f.test("oeq", x, f.c(0.0)), f.c(INF), z)
    z = passing_nan(f, x, z)
    negative = f.test("olt", "%x0", f.c(0.0))
    f.return_unless(negative, z)
    if form.wide:
        return f.text(f.by_lane("lgamma", negative, z))
    parts = [f.pick(far, *each) for each in zip(stirling, middle, strict=True)]
    return f.text(_mirrored_lgamma(f, x, z, Pair(*parts)))


def digamma(form: Form) -> str:
    """``ψ(x)``: by its root between 1 and 5/2 after shifts, by an asymptotic series beyond.

    Below 0 by ``ψ(1 - x) - π cot πx``.
    """
    f = Function(form, "digamma")
    given = "%x0"
    negative = f.test("ole", given, f.c(0.0))
    x = f.pick(negative, f.sub(f.c(1.0), given), given)
    low, far = f.test("olt", x, f.c(1.0)), f.test("oge", x, f.c(_DIGAMMA_FAR))
    # the sum of 1 / (x - j) as one quotient
    n, d = f.c(0.0), f.c(1.0)
    rest = f.pick(low, f.sub(x, f.c(0.75)), f.sub(x, f.c(1.75)))
    for j in range(1, _DIGAMMA_SHIFTS + 1):
        beyond = f.test("oge", x, f.c(1.5 + j))
        factor = f.sub(x, f.c(float(j)))
        n = f.pick(beyond, f.fma(n, factor, d), n)
        d = f.pick(beyond, f.mul(d, factor), d)
        rest = f.pick(beyond, f.sub(x, f.c(1.75 + j)), rest)
    n, d = f.pick(low, f.c(-1.0), n), f.pick(low, x, d)
    shifts, lost = f.quotient(Pair(n, f.c(0.0)), Pair(d, f.c(0.0)))
    lost = f.pick(f.test("olt", f.abs(shifts), f.c(2.0**500, 2.0**60)), lost, f.c(0.0))
    to_root = f.long(*_TO_ROOT)
    from_root, lacks = f.exact_sum(rest, to_root.high)
    from_root, lacks = f.ordered_sum(from_root, f.add(lacks, to_root.low))
    near = f.product(Pair(from_root, lacks), f.long_polynomial(rest, DIGAMMA))
    total = f.exact_sum(shifts, near.high)
    z = f.add(total.high, f.add(total.low, f.add(lost, near.low)))
    z = f.pick(f.test("olt", f.abs(shifts), f.c(2.0**500, 2.0**60)), z, shifts)
    inverse = f.div(f.c(1.0), x)
    square = f.mul(inverse, inverse)
    tail = f.fma(square, f.polynomial(square, DIGAMMA_FAR), f.mul(f.c(0.5), inverse))
    grown = f.call("log", x)
    z = f.pick(far, f.sub(grown, tail), z)
    z = passing_nan(f, given, z)
    f.return_unless(negative, z)
    part = f.sub(given, f.intrinsic("rint", given))
    size = f.abs(part)
    flat = f.test("ogt", size, f.c(0.25))  # where the cotangent is another angle's tangent
    angle = f.mul(f.pick(flat, f.sub(f.c(0.5), size), size), f.c(math.pi))
    slope = f.call("tan", angle)
    cotangent = f.with_sign(f.pick(flat, slope, f.div(f.c(1.0), slope)), part)
    mirrored = f.sub(z, f.mul(f.c(math.pi), cotangent))
    mirrored = f.pick(f.test("oeq", part, f.c(0.0)), f.c(NAN), mirrored)
    at_zero = f.negative(f.with_sign(f.c(INF), given))
    mirrored = f.pick(f.test("oeq", given, f.c(0.0)), at_zero, mirrored)
    return f.text(f.pick(negative, mirrored, z))
