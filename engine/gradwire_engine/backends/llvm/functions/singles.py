"""Functions of one float in few instructions, which is what bounds them on a GPU.

Special values come out of the arithmetic, or take a branch.

Source: Cody and Waite, Software Manual for the Elementary Functions (1980), for the reduction of
arguments.
"""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.backends.llvm.functions.coefficients import (
    COS_SINGLE,
    ERF_SHORT,
    ERFC_SHORT,
    EXP2_SHORT,
    EXP_SHORT,
    LOG_SHORT,
    SIN_SINGLE,
    SINH,
    TANH_SHORT,
)
from gradwire_engine.backends.llvm.functions.far_angles import far_rest
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import Function
from gradwire_engine.backends.llvm.functions.logarithms import (
    ROOT_OF_HALF,
    any_power,
    long_logarithm_of,
    with_ends,
)
from gradwire_engine.backends.llvm.functions.trigonometric import SINGLE_FAR

#: ``ln 2`` and ``pi / 2`` as sums of floats; those of the latter are positive, which keeps the
#: sign of an angle of -0.
_LN_2 = 0.6931471824645996, -1.9046542121259336e-09
_HALF_PI = 1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15
_PER_LN_2, _PER_HALF_PI = 1.4426950408889634, 0.6366197723675814
#: The bits of some numbers.
_TWO_THIRDS, _ONE, _LARGE, _INF = 0x3F2AAAAB, 0x3F800000, 0x7E000000, 0x7F800000
#: From here on tanh is 1.
_MOST_TANH = 9.02
#: The bits of a number less those of ``y`` are a number ``r`` for which ``1 <= r y <= 9/8``; this
#: is the quadratic polynomial nearest to ``1 / (r y)``: within 2^-14, DLMF 3.11.2.
_INVERSE = 0x7F000000
_RECIPROCAL = (16384 / 19601, -3072 / 1153, 55440 / 19601)


def _rounded(f: Function, x: str, factor: float, more: int = 0) -> tuple[str, str]:
    """``n``, ``x factor`` as a whole number, and an integer whose last bits are ``n + more``."""
    rounder = f.c(f.form.rounder + more)
    t = f.fma(x, f.c(factor), rounder)
    return f.sub(t, rounder), f.bits(t)


def _less(f: Function, x: str, n: str, *parts: float) -> str:
    """``x - n c``, where the parts of ``c`` follow each other: the first difference is exact."""
    for each in parts:
        x = f.fma(n, f.c(-each), x)
    return x


def _power_of_two(f: Function, n: str) -> str:
    """``2^n``, of the last bits of ``n``."""
    return f.number(f.i("add", f.i("shl", n, f.ci(f.form.digits)), f.ci(_ONE)))


def _bounded(f: Function, x: str, low: float, high: float) -> str:
    return f.intrinsic("minimum", f.intrinsic("maximum", x, f.c(low)), f.c(high))


def _scaled(f: Function, z: str, n: str) -> str:
    """``2^n z`` by two factors: beyond the ends it overflows, or is 0."""
    half = f.i("lshr", n, f.ci(1))
    return f.mul(f.mul(z, _power_of_two(f, half)), _power_of_two(f, f.i("sub", n, half)))


def _exponential(f: Function, x: str, more: int = 0, low: str | None = None) -> str:
    """``2^more exp(x + low)``."""
    n, bits = _rounded(f, x, _PER_LN_2, more)
    r = _less(f, x, n, *_LN_2)
    if low is not None:
        r = f.add(r, low)
    return _scaled(f, f.polynomial(r, (*EXP_SHORT, 1.0, 1.0)), bits)


def exp(form: Form) -> str:
    """``exp x``."""
    f = Function(form, "exp")
    return f.text(_exponential(f, _bounded(f, "%x0", -105.0, 90.0)))


def exp2(form: Form) -> str:
    """``2^x``, exact for whole ``x``."""
    f = Function(form, "exp2")
    x = _bounded(f, "%x0", -152.0, 129.0)
    n, bits = _rounded(f, x, 1.0)
    return f.text(_scaled(f, f.polynomial(f.sub(x, n), (*EXP2_SHORT, 1.0)), bits))


def expm1(form: Form) -> str:
    """``2^n s + 2^n - 1`` with ``s = exp(r) - 1``, by halves, which do not overflow."""
    f = Function(form, "expm1")
    x = _bounded(f, "%x0", -18.0, 89.0)
    n, bits = _rounded(f, x, _PER_LN_2, -1)
    r = _less(f, x, n, *_LN_2)
    s = f.fma(f.mul(r, r), f.polynomial(r, EXP_SHORT), r)
    power = _power_of_two(f, bits)
    half = f.fma(power, s, f.sub(power, f.c(0.5)))
    tiny = f.test("olt", f.abs("%x0"), f.c(2.0**-25))
    return f.text(f.pick(tiny, "%x0", f.add(half, half)))


def _halves(f: Function, size: str) -> tuple[str, str]:
    """``exp(x) / 2`` and the reciprocal of that, which is ``2 exp(-x)``, for ``x >= 0``."""
    large = _exponential(f, f.most(size, 91.0), -1)
    return large, f.div(f.c(1.0), large)


def sinh(form: Form) -> str:
    """``(exp(x) - exp(-x)) / 2``, by a polynomial below 1."""
    f = Function(form, "sinh")
    x = "%x0"
    size = f.abs(x)
    large, inverse = _halves(f, size)
    far = f.fma(inverse, f.c(-0.25), large)
    z = f.mul(size, size)
    near = f.fma(f.mul(size, z), f.polynomial(z, SINH), size)
    return f.text(f.with_sign(f.pick(f.test("olt", size, f.c(1.0)), near, far), x))


def cosh(form: Form) -> str:
    """``(exp(x) + exp(-x)) / 2``."""
    f = Function(form, "cosh")
    large, inverse = _halves(f, f.abs("%x0"))
    return f.text(f.fma(inverse, f.c(0.25), large))


def _share(f: Function, m: str) -> str:
    """``m / (m + 1)``, as good as rounded once, of ``m`` between 0 and 2^100."""
    d = f.add(m, f.c(1.0))
    r = f.number(f.i("sub", f.ci(_INVERSE), f.bits(d)))
    r = f.mul(r, f.polynomial(f.mul(r, d), _RECIPROCAL))
    q = f.mul(m, r)
    return f.fma(f.fma(f.negative(q), m, f.sub(m, q)), r, q)


def tanh(form: Form) -> str:
    """``m / (m + 1)`` with ``m = (exp(2 |x|) - 1) / 2``, and the sign of ``x``."""
    f = Function(form, "tanh")
    x = f.most(f.abs("%x0"), _MOST_TANH)
    n, bits = _rounded(f, x, 2 * _PER_LN_2)
    r = _less(f, x, n, _LN_2[0] / 2)
    # (exp(2 r) - 1) / 2
    s = f.fma(f.mul(r, r), f.polynomial(r, TANH_SHORT), r)
    power = _power_of_two(f, bits)
    m = f.fma(power, s, f.fma(power, f.c(0.5), f.c(-0.5)))
    return f.text(f.with_sign(_share(f, m), "%x0"))


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


_NATURAL = _Base(_LN_2[:1], (1.0, 0.0))
_BINARY = _Base((1.0,), (1.4426950216293335, 1.925963033500011e-08))
_DECIMAL = _Base(
    (0.3010300099849701, -1.432098883924482e-08), (0.4342944920063019, -1.0103049952192578e-08)
)


def _from_rest(f: Function, k: str, rest: str, base: _Base, fewer: float = 0.0) -> str:
    """The logarithm of ``2^(k - fewer) (1 + rest)``."""
    form, unit, (high, low) = f.form, 2.0**f.form.digits, base.of_e
    exponent = f.let(f"sitofp {form.integers} {k} to {form.numbers}")
    if fewer:
        exponent = f.sub(exponent, f.c(fewer * unit))
    if base == _NATURAL:
        z = f.fma(f.mul(rest, rest), f.polynomial(rest, LOG_SHORT), rest)
    else:
        tail = f.polynomial(rest, (*[each * (high + low) for each in LOG_SHORT], low))
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


def log1p(form: Form) -> str:
    """``k ln 2 + ln(1 + r)`` with ``1 + x = 2^k (1 + r)``, from large ``x`` on ``ln x``."""
    f = Function(form, "log1p")
    x = "%x0"
    u = f.add(f.c(1.0), x)
    bits = f.bits(u)
    k = _apart(f, bits)
    power = f.number(f.i("sub", f.ci(_ONE), k))
    z = _from_rest(f, k, f.fma(x, power, f.sub(power, f.c(1.0))), _NATURAL)
    f.return_unless(_is_special(f, bits, _LARGE), f.with_sign(z, x))
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
    factor = _bounded(f, y, -(2.0**31), 2.0**31)
    high = f.mul(of.high, factor)
    low = f.fma(of.low, factor, f.fma(of.high, factor, f.negative(high)))
    low = f.pick(f.test("olt", f.abs(high), f.c(105.0)), low, f.c(0.0))
    z = _exponential(f, _bounded(f, high, -105.0, 90.0), low=low)
    special = f.either(_is_special(f, bits, _INF), f.test("uno", y, y))
    f.return_unless(special, z)
    return f.text(any_power(f, x, y))


def erf(form: Form) -> str:
    """``x + x p(x²)`` below 0.9, else ``1 - exp(p(x))``."""
    f = Function(form, "erf")
    x = f.most(f.abs("%x0"), 4.0)
    z = f.mul(x, x)
    near = f.fma(x, f.polynomial(z, ERF_SHORT), x)
    below = f.polynomial(x, ERFC_SHORT)
    n, bits = _rounded(f, below, _PER_LN_2)
    # further digits of ln 2 would not count
    share = f.polynomial(_less(f, below, n, _LN_2[0]), (*EXP_SHORT, 1.0, 1.0))
    far = f.fma(f.negative(_power_of_two(f, bits)), share, f.c(1.0))
    return f.text(f.with_sign(f.pick(f.test("olt", x, f.c(0.9)), near, far), "%x0"))


def _turned(f: Function, y: str, quarters: str, quarter_turns: int) -> str:
    """``sin(y + (quarters + quarter_turns) pi / 2)`` of ``|y| <= pi / 4``."""
    form = f.form
    z = f.mul(y, y)
    sine = f.fma(f.mul(y, z), f.polynomial(z, SIN_SINGLE), y)
    cosine = f.polynomial(z, (*COS_SINGLE, -0.5, 1.0))
    if quarter_turns:
        quarters = f.i("add", quarters, f.ci(quarter_turns))
    else:
        sine = f.with_sign(sine, y)  # which the sum of zeros has lost
    odd = f.let(f"trunc {form.integers} {quarters} to {form.truths}")
    z = f.pick(odd, cosine, sine)
    sign = f.i("shl", f.i("and", quarters, f.ci(2)), f.ci(form.bits - 2))
    return f.number(f.i("xor", f.bits(z), sign))


def _sine(form: Form, name: str, quarter_turns: int) -> str:
    """``sin(x + quarter_turns pi / 2)``.

    But for the last steps, a sine and a cosine of one angle are the same code, which LLVM finds.
    """
    f = Function(form, name)
    x = "%x0"
    n, bits = _rounded(f, x, _PER_HALF_PI)
    z = _turned(f, _less(f, x, n, *_HALF_PI), bits, quarter_turns)
    f.return_unless(f.test("uge", f.abs(x), f.c(SINGLE_FAR)), z)
    y, _, quarters = far_rest(f, x)
    # infinite angles less themselves are NaN
    return f.text(_turned(f, f.add(y, f.sub(x, x)), quarters, quarter_turns))


def sin(form: Form) -> str:
    """``sin x``."""
    return _sine(form, "sin", 0)


def cos(form: Form) -> str:
    """``cos x``."""
    return _sine(form, "cos", 1)
