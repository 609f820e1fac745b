"""Functions of one float in few instructions, which is what bounds them on a GPU.

Polynomials are by Horner's rule; special values come out of the arithmetic, or take a branch.

Source: Cody and Waite, Software Manual for the Elementary Functions (1980), for the reduction of
arguments.
"""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.coefficients import (
    COS_SINGLE,
    EXP_SHORT,
    SIN_SINGLE,
    TANH_SHORT,
)
from gradwire_engine.backends.llvm.functions.far_angles import far_rest
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import Function
from gradwire_engine.backends.llvm.functions.trigonometric import SINGLE_FAR

#: ``ln 2`` and ``pi / 2`` as sums of floats; those of the latter are positive, which keeps the
#: sign of an angle of -0.
_LN_2 = 0.6931471824645996, -1.9046542121259336e-09
_HALF_PI = 1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15
_PER_LN_2, _PER_HALF_PI = 1.4426950408889634, 0.6366197723675814
_ONE = 0x3F800000
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


def exp(form: Form) -> str:
    """``exp x``: beyond the ends its scaling by two factors overflows, or is 0."""
    f = Function(form, "exp")
    x = f.intrinsic("minimum", f.intrinsic("maximum", "%x0", f.c(-105.0)), f.c(90.0))
    n, bits = _rounded(f, x, _PER_LN_2)
    r = _less(f, x, n, *_LN_2)
    z = f.horner(r, (*EXP_SHORT, 1.0, 1.0))
    half = f.i("lshr", bits, f.ci(1))
    z = f.mul(z, _power_of_two(f, half))
    return f.text(f.mul(z, _power_of_two(f, f.i("sub", bits, half))))


def _share(f: Function, m: str) -> str:
    """``m / (m + 1)``, as good as rounded once, of ``m`` between 0 and 2^100."""
    d = f.add(m, f.c(1.0))
    r = f.number(f.i("sub", f.ci(_INVERSE), f.bits(d)))
    r = f.mul(r, f.horner(f.mul(r, d), _RECIPROCAL))
    q = f.mul(m, r)
    return f.fma(f.fma(f.negative(q), m, f.sub(m, q)), r, q)


def tanh(form: Form) -> str:
    """``m / (m + 1)`` with ``m = (exp(2 |x|) - 1) / 2``, and the sign of ``x``."""
    f = Function(form, "tanh")
    x = f.most(f.abs("%x0"), _MOST_TANH)
    n, bits = _rounded(f, x, 2 * _PER_LN_2)
    r = _less(f, x, n, *[each / 2 for each in _LN_2])
    # (exp(2 r) - 1) / 2
    s = f.fma(f.mul(r, r), f.horner(r, TANH_SHORT), r)
    power = _power_of_two(f, bits)
    m = f.fma(power, s, f.fma(power, f.c(0.5), f.c(-0.5)))
    return f.text(f.with_sign(_share(f, m), "%x0"))


def _reduced(f: Function, x: str, more: int) -> tuple[str, str]:
    """What is left of an angle after quarter turns, NaN of infinite ones; those turns + more."""
    n, quarters = _rounded(f, x, _PER_HALF_PI, more)
    y = _less(f, x, n, *_HALF_PI)

    def far() -> tuple[str, str]:
        high, _, turns = far_rest(f, x)
        return f.add(high, f.sub(x, x)), f.i("add", turns, f.ci(more))

    beyond = f.test("uge", f.abs(x), f.c(SINGLE_FAR))
    kinds = f.form.numbers, f.form.integers
    y, quarters = f.instead(beyond, kinds, (y, quarters), far)
    return y, quarters


def _sine(form: Form, name: str, quarter_turns: int) -> str:
    """``sin(x + quarter_turns pi / 2)``."""
    f = Function(form, name)
    y, quarters = _reduced(f, "%x0", quarter_turns)
    z = f.mul(y, y)
    sine = f.fma(f.mul(y, z), f.horner(z, SIN_SINGLE), y)
    cosine = f.horner(z, (*COS_SINGLE, -0.5, 1.0))
    if not quarter_turns:
        sine = f.with_sign(sine, y)  # which the sum of zeros has lost
    odd = f.let(f"trunc {form.integers} {quarters} to {form.truths}")
    z = f.pick(odd, cosine, sine)
    sign = f.i("shl", f.i("and", quarters, f.ci(2)), f.ci(form.bits - 2))
    return f.text(f.number(f.i("xor", f.bits(z), sign)))


def sin(form: Form) -> str:
    """``sin x``."""
    return _sine(form, "sin", 0)


def cos(form: Form) -> str:
    """``cos x``."""
    return _sine(form, "cos", 1)
