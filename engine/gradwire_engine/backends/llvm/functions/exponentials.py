"""Exponentials and hyperbolic functions.

Sources: Cody and Waite, Software Manual for the Elementary Functions (1980), for the reduction of
the argument; Moshier, Cephes (1984), for the coefficients of tanh.
"""

from __future__ import annotations

import math

from gradwire_engine.backends.llvm.functions.coefficients import EXP_SINGLE, SINH
from gradwire_engine.backends.llvm.functions.forms import Form, Polynomial
from gradwire_engine.backends.llvm.functions.function import (
    INF,
    Function,
    Pair,
    power_of_two,
)

_TANH_P = (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3)
_TANH_Q = (1.12811678491631932402e2, 2.23548839060100448583e3, 4.84406305325125486048e3)
_EXP = Polynomial(tuple([1 / math.factorial(k) for k in range(13, 1, -1)]), EXP_SINGLE)


def reduced_exponential(f: Function, x: str, low: str | None = None) -> tuple[str, str, str]:
    """``n``, ``s``, ``t``: ``x + low = n ln 2 + r`` and ``exp(r) - 1 = s + t``, ``|t| < |s|``."""
    x = f.most(f.least(x, -746.0, -105.0), 711.0, 90.0)
    n = f.sub(f.fma(x, f.c(1.4426950408889634), f.c(f.form.rounder)), f.c(f.form.rounder))
    r = f.fma(n, f.c(-f.form.ln2[0]), x)
    rest = f.mul(n, f.c(-f.form.ln2[1])) if low is None else f.fma(n, f.c(-f.form.ln2[1]), low)
    s = f.add(r, rest)
    lost = f.sub(rest, f.sub(s, r))
    return n, s, f.fma(f.mul(s, s), f.polynomial(s, _EXP), lost)


def _halves(f: Function, n: str) -> tuple[str, str]:
    """``2^n`` as two factors: neither overflows where products with both do not."""
    half = f.intrinsic("floor", f.mul(n, f.c(0.5)))
    return power_of_two(f, half), power_of_two(f, f.sub(n, half))


def scaled(f: Function, n: str, s: str, t: str, factor: Pair | None = None) -> str:
    """``2^n (1 + s + t)``, times a factor."""
    a, b = _halves(f, n)
    if factor is None:
        return f.mul(f.fma(f.add(s, t), a, a), b)
    high, low = factor
    return f.mul(f.mul(f.add(high, f.fma(high, s, f.fma(high, t, low))), a), b)


def exp(form: Form) -> str:
    """``exp x``."""
    f = Function(form, "exp")
    z = scaled(f, *reduced_exponential(f, "%x0"))
    return f.text(f.pick(f.test("oeq", "%x0", f.c(INF)), f.c(INF), z))


def exp2(form: Form) -> str:
    """``2^x``, exact for whole ``x``."""
    f = Function(form, "exp2")
    x = f.most(f.least("%x0", -1100.0), 1030.0)
    n = f.intrinsic("rint", x)
    r = f.sub(x, n)
    ln2 = f.long(math.log(2), 2.3190468138462996e-17)
    s, lost = f.exact_product(r, ln2.high)
    lost = f.fma(r, ln2.low, lost)
    t = f.fma(f.mul(s, s), f.polynomial(s, _EXP), lost)
    z = scaled(f, n, s, t)
    return f.text(f.pick(f.test("oge", "%x0", f.c(1024.0)), f.c(INF), z))


def expm1(form: Form) -> str:
    """``2^n (s + t) + (2^n - 1)``; far below 0 it is -1, far above 1 counts for nothing."""
    f = Function(form, "expm1")
    n, s, t = reduced_exponential(f, "%x0")
    a = power_of_two(f, n)
    less = f.sub(a, f.c(1.0))
    high = f.fma(s, a, less)
    # what rounding has lost: of the larger term first
    lost = f.fma(s, a, f.sub(less, high))
    swapped = f.add(f.sub(f.mul(s, a), high), less)
    lost = f.pick(f.test("olt", f.abs(less), f.abs(f.mul(s, a))), swapped, lost)
    near = f.add(high, f.fma(t, a, lost))
    z = f.pick(f.test("olt", "%x0", f.c(40.0)), near, scaled(f, n, s, t))
    z = f.pick(f.test("olt", "%x0", f.c(-40.0)), f.c(-1.0), z)
    z = f.pick(f.test("oeq", "%x0", f.c(INF)), f.c(INF), z)
    tiny = f.test("olt", f.abs("%x0"), f.c(2.0**-54))
    return f.text(f.pick(tiny, "%x0", z))


def tanh(form: Form) -> str:
    """``1 - 2 / (exp(2 |x|) + 1)``, near 0 by Cephes' rational function."""
    f = Function(form, "tanh")
    x = "%x0"
    size = f.abs(x)
    e = scaled(f, *reduced_exponential(f, f.mul(f.c(2.0), size)))
    e = f.add(e, f.c(1.0))
    far = f.with_sign(f.sub(f.c(1.0), f.div(f.c(2.0), e)), x)
    z = f.mul(x, x)
    q = f.fma(f.add(z, f.c(_TANH_Q[0])), z, f.c(_TANH_Q[1]))
    q = f.fma(q, z, f.c(_TANH_Q[2]))
    quotient = f.div(f.polynomial(z, _TANH_P), q)
    near = f.fma(f.mul(x, z), quotient, x)
    z = f.pick(f.test("ult", size, f.c(0.625)), near, far)
    return f.text(f.pick(f.test("oeq", x, f.c(0.0)), x, z))  # keeps the sign of zero


def _half_exponentials(f: Function, size: str) -> tuple[Pair, str]:
    """``exp(x) / 2`` and ``exp(-x) / 2`` for ``x`` of at least 0."""
    n, s, t = reduced_exponential(f, size)
    high, low = f.ordered_sum(f.c(1.0), s)
    high, low = f.ordered_sum(high, f.add(low, t))
    a, b = _halves(f, f.sub(n, f.c(1.0)))
    large = Pair(f.mul(f.mul(high, a), b), f.mul(f.mul(low, a), b))
    return large, f.div(f.c(0.25), large.high)


#: The largest double whose hyperbolic functions are finite.
_MOST_HYPERBOLIC = 710.4758600739439


def sinh(form: Form) -> str:
    """``(exp(x) - exp(-x)) / 2``, by a polynomial below 1."""
    f = Function(form, "sinh")
    x = "%x0"
    size = f.abs(x)
    large, small = _half_exponentials(f, size)
    far = f.sub(large.high, f.sub(small, large.low))
    far = f.pick(f.test("ogt", size, f.c(_MOST_HYPERBOLIC)), f.c(INF), far)
    z = f.mul(x, x)
    near = f.fma(f.mul(x, z), f.polynomial(z, SINH), x)
    z = f.pick(f.test("olt", size, f.c(1.0)), near, f.with_sign(far, x))
    return f.text(f.pick(f.test("oeq", x, f.c(0.0)), x, z))


def cosh(form: Form) -> str:
    """``(exp(x) + exp(-x)) / 2``."""
    f = Function(form, "cosh")
    size = f.abs("%x0")
    large, small = _half_exponentials(f, size)
    z = f.add(large.high, f.add(small, large.low))
    return f.text(f.pick(f.test("ogt", size, f.c(_MOST_HYPERBOLIC)), f.c(INF), z))
