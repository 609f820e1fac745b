"""Reduces arguments, and scales by powers of two.

Source: Cody and Waite, Software Manual for the Elementary Functions (1980).
"""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.function import Function

#: ``ln 2`` as a sum of floats, and its inverse.
LN_2, PER_LN_2 = (0.6931471824645996, -1.9046542121259336e-09), 1.4426950408889634
#: The bits of 1.
ONE = 0x3F800000


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
