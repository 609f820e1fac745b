"""Logarithms, and powers by them."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import Function
from gradwire_engine.backends.llvm.functions.logarithms import (
    ROOT_OF_HALF,
    any_power,
    long_logarithm_of,
    with_ends,
)
from gradwire_engine.backends.llvm.functions.singles.coefficients import LOG
from gradwire_engine.backends.llvm.functions.singles.exponentials import exponential
from gradwire_engine.backends.llvm.functions.singles.reduction import LN_2, ONE, bounded

#: The bits of some numbers.
_TWO_THIRDS, _LARGE, _INF = 0x3F2AAAAB, 0x7E000000, 0x7F800000


def _is_special(f: Function, bits: str, most: int) -> str:
    """True where a number is not positive, less than the normal ones, or has ``most`` as bits."""
    least = 1 << f.form.digits
    above = f.i("sub", bits, f.ci(least))
    return f.let(f"icmp uge {f.form.integers} {above}, {most - least}")


def _apart(f: Function, bits: str, least: int = _TWO_THIRDS) -> str:
    """The bits of ``k`` where an exponent is stored: ``x = 2^k m`` and ``least <= m``."""
    above = f.i("sub", bits, f.ci(least))
    return f.i("and", above, f.ci(-1 << f.form.digits))


class _Base(NamedTuple):
    """The logarithms of 2 and of e to a base, as sums of floats."""

    of_two: tuple[float, ...]
    of_e: tuple[float, float]


_NATURAL = _Base(LN_2[:1], (1.0, 0.0))
_BINARY = _Base((1.0,), (1.4426950216293335, 1.925963033500011e-08))
_DECIMAL = _Base(
    (0.3010300099849701, -1.432098883924482e-08), (0.4342944920063019, -1.0103049952192578e-08)
)


def _from_rest(
    f: Function, k: str, rest: str, base: _Base, fewer: float = 0.0, lost: str | None = None
) -> str:
    """The logarithm of ``2^(k - fewer) (1 + rest + lost)``."""
    form, unit, (high, low) = f.form, 2.0**f.form.digits, base.of_e
    exponent = f.let(f"sitofp {form.integers} {k} to {form.numbers}")
    if fewer:
        exponent = f.sub(exponent, f.c(fewer * unit))
    if base == _NATURAL:
        square, slopes = f.mul(rest, rest), f.polynomial(rest, LOG)
        if lost is None:
            z = f.fma(square, slopes, rest)
        else:
            z = f.add(rest, f.fma(square, slopes, lost))
    else:
        tail = f.polynomial(rest, (*[each * (high + low) for each in LOG], low))
        z = f.fma(rest, f.c(high), f.mul(rest, tail))
    for part in reversed(base.of_two):
        z = f.fma(exponent, f.c(part / unit), z)
    return z


def _logarithm(f: Function, x: str, base: _Base, fewer: float = 0.0) -> str:
    """The logarithm of ``x / 2^fewer``, of normal numbers."""
    bits = f.bits(x)
    k = _apart(f, bits)
    return _from_rest(f, k, f.sub(f.number(f.i("sub", bits, k)), f.c(1.0)), base, fewer)


def _to_base(form: Form, name: str, base: _Base) -> str:
    f = Function(form, name)
    x = "%x0"
    f.return_unless(_is_special(f, f.bits(x), _INF), _logarithm(f, x, base))
    subnormal = _logarithm(f, f.mul(x, f.c(2.0**24)), base, 24.0)
    return f.text(with_ends(f, x, subnormal))


def log(form: Form) -> str:
    """``ln x``."""
    return _to_base(form, "log", _NATURAL)


def log2(form: Form) -> str:
    """``ln x / ln 2``, exact for powers of two."""
    return _to_base(form, "log2", _BINARY)


def log10(form: Form) -> str:
    """``ln x / ln 10``."""
    return _to_base(form, "log10", _DECIMAL)


def of_one_more(f: Function, x: str, low: str | None = None) -> tuple[str, str]:
    """``k ln 2 + ln(1 + r)`` with ``1 + x + low = 2^k (1 + r)``, and ``1 + x``, if it is normal."""
    u = f.add(f.c(1.0), x)
    k = _apart(f, f.bits(u))
    power = f.number(f.i("sub", f.ci(ONE), k))
    less_one = f.sub(power, f.c(1.0))
    rest = f.fma(x, power, less_one)
    if low is not None:  # and what the sum has lost
        low = f.fma(low, power, f.fma(x, power, f.sub(less_one, rest)))
    return _from_rest(f, k, rest, _NATURAL, lost=low), u


def log1p(form: Form) -> str:
    """``ln(1 + x)``, from large ``x`` on ``ln x``."""
    f = Function(form, "log1p")
    x = "%x0"
    z, u = of_one_more(f, x)
    f.return_unless(_is_special(f, f.bits(u), _LARGE), f.with_sign(z, x))
    return f.text(with_ends(f, u, _logarithm(f, u, _NATURAL)))


def power(form: Form) -> str:
    """``exp(y ln x)`` of normal ``x > 0``."""
    f = Function(form, "pow", 2)
    x, y = "%x0", "%x1"
    bits = f.bits(x)
    exponent = _apart(f, bits, ROOT_OF_HALF[1])
    k = f.let(f"sitofp {form.integers} {exponent} to {form.numbers}")
    m = f.number(f.i("sub", bits, exponent))
    of = long_logarithm_of(f, f.mul(k, f.c(2.0**-form.digits)), m)
    factor = bounded(f, y, -(2.0**31), 2.0**31)
    high = f.mul(of.high, factor)
    low = f.fma(of.low, factor, f.fma(of.high, factor, f.negative(high)))
    low = f.pick(f.test("olt", f.abs(high), f.c(105.0)), low, f.c(0.0))
    z = exponential(f, bounded(f, high, -105.0, 90.0), low=low)
    special = f.either(_is_special(f, bits, _INF), f.test("uno", y, y))
    f.return_unless(special, z)
    return f.text(any_power(f, x, y))
