"""Reduces arguments, scales by powers of two, and divides.

Source: Cody and Waite, Software Manual for the Elementary Functions (1980).
"""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.function import Function

#: ``ln 2`` as a sum of floats, and its inverse.
LN_2, PER_LN_2 = (0.6931471824645996, -1.9046542121259336e-09), 1.4426950408889634
#: The bits of 1.
ONE = 0x3F800000
#: The bits of a number less those of ``y`` are a number ``r`` for which ``1 <= r y <= 9/8``; this
#: is the quadratic polynomial nearest to ``1 / (r y)``: within 2^-14, DLMF 3.11.2.
_INVERSE = 0x7F000000
_RECIPROCAL = (16384 / 19601, -3072 / 1153, 55440 / 19601)


def rounded_multiple(f: Function, x: str, factor: float, more: int = 0) -> tuple[str, str]:
    """``n``, ``x factor`` as a whole number, and an integer whose last bits are ``n + more``."""
    rounder = f.c(f.form.rounder + more)
    t = f.fma(x, f.c(factor), rounder)
    return f.sub(t, rounder), f.bits(t)


def less(f: Function, x: str, n: str, *parts: float) -> str:
    """``x - n c``, where the parts of ``c`` follow each other: the first difference is exact."""
    for each in parts:
        x = f.fma(n, f.c(-each), x)
    return x


def power_of_two(f: Function, n: str) -> str:
    """``2^n``, of the last bits of ``n``."""
    return f.number(f.i("add", f.i("shl", n, f.ci(f.form.digits)), f.ci(ONE)))


def times_power_of_two(f: Function, x: str, n: str) -> str:
    """``2^n x`` of the last bits of ``n``, where that is a normal number, as ``x`` is."""
    return f.number(f.i("add", f.bits(x), f.i("shl", n, f.ci(f.form.digits))))


def bounded(f: Function, x: str, low: float, high: float) -> str:
    """``x`` between two numbers, or NaN."""
    return f.intrinsic("minimum", f.intrinsic("maximum", x, f.c(low)), f.c(high))


def near_inverse(f: Function, d: str) -> str:
    """``1 / d`` of ``|d|`` between 2^-100 and 2^100, within 2^-14."""
    r = f.number(f.i("sub", f.ci(_INVERSE), f.bits(d)))
    return f.mul(r, f.polynomial(f.mul(r, d), _RECIPROCAL))


def inverse(f: Function, d: str) -> str:
    """The same, as good as rounded once."""
    r = near_inverse(f, d)
    return f.fma(r, f.fma(f.negative(r), d, f.c(1.0)), r)


def quotient(f: Function, n: str, d: str) -> str:
    """``n / d``, of such ``d``, as good as rounded once."""
    r = near_inverse(f, d)
    q = f.mul(n, r)
    return f.fma(f.fma(f.negative(q), d, n), r, q)
