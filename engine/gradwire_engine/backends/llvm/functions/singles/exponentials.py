"""Exponentials, hyperbolic functions, and the error function by them."""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.coefficients import SINH
from gradwire_engine.backends.llvm.functions.forms import Form, Polynomial
from gradwire_engine.backends.llvm.functions.function import Function
from gradwire_engine.backends.llvm.functions.singles.coefficients import (
    ERF,
    ERFC,
    ERFCX,
    EXP,
    EXP2,
)
from gradwire_engine.backends.llvm.functions.singles.reduction import (
    LN_2,
    PER_LN_2,
    bounded,
    inverse,
    less,
    near_inverse,
    power_of_two,
    quotient,
    rounded_multiple,
    times_power_of_two,
)

#: What tanh is 1 from.
_MOST_TANH = 9.02
#: ``(x - k) / (x + k)`` makes short the interval in which ``erfc x`` is neither near 1 nor 0.
_ERFCX_K = 2.8


def _scaled(f: Function, z: str, n: str) -> str:
    """``2^n z`` by two factors: beyond the ends it overflows, or is 0."""
    half = f.i("lshr", n, f.ci(1))
    return f.mul(f.mul(z, power_of_two(f, half)), power_of_two(f, f.i("sub", n, half)))


def exponential(f: Function, x: str, more: int = 0, low: str | None = None) -> str:
    """``2^more exp(x + low)``."""
    n, bits = rounded_multiple(f, x, PER_LN_2, more)
    r = less(f, x, n, *LN_2)
    if low is not None:
        r = f.add(r, low)
    return _scaled(f, f.polynomial(r, (*EXP, 1.0, 1.0)), bits)


def exp(form: Form) -> str:
    """``exp x``, usually by ``2^32 exp x``, which is a normal number even where that is not."""
    f = Function(form, "exp")
    x = "%x0"
    at = f.intrinsic("maximum", x, f.c(-105.0))
    n, bits = rounded_multiple(f, at, PER_LN_2, 32)
    share = f.polynomial(less(f, at, n, *LN_2), (*EXP, 1.0, 1.0))
    z = f.mul(times_power_of_two(f, share, bits), f.c(2.0**-32))
    f.return_unless(f.test("ugt", x, f.c(65.0)), z)
    return f.text(exponential(f, bounded(f, x, -105.0, 90.0)))


def exp2(form: Form) -> str:
    """``2^x``, exact for whole ``x``."""
    f = Function(form, "exp2")
    x = bounded(f, "%x0", -152.0, 129.0)
    n, bits = rounded_multiple(f, x, 1.0)
    return f.text(_scaled(f, f.polynomial(f.sub(x, n), (*EXP2, 1.0)), bits))


def expm1(form: Form) -> str:
    """``exp x - 1``, near 0 ``x``: twice ``2^n s + 2^n - 1/2`` with ``s = exp(r) - 1``."""
    f = Function(form, "expm1")
    x = bounded(f, "%x0", -18.0, 89.0)
    n, bits = rounded_multiple(f, x, PER_LN_2, -1)
    r = less(f, x, n, *LN_2)
    s = f.fma(f.mul(r, r), f.polynomial(r, EXP), r)
    power = power_of_two(f, bits)
    half = f.fma(power, s, f.sub(power, f.c(0.5)))  # the whole of it may overflow before
    tiny = f.test("olt", f.abs("%x0"), f.c(2.0**-25))
    return f.text(f.pick(tiny, "%x0", f.add(half, half)))


def _halves(f: Function, size: str) -> tuple[str, str]:
    """``exp(x) / 2`` and the reciprocal of that, which is ``2 exp(-x)``, for ``x >= 0``."""
    large = exponential(f, f.most(size, 91.0), -1)
    return large, inverse(f, f.most(large, 2.0**100))


def sinh(form: Form) -> str:
    """``(exp(x) - exp(-x)) / 2``, by a polynomial below 1."""
    f = Function(form, "sinh")
    x = "%x0"
    size = f.abs(x)
    large, small = _halves(f, size)
    far = f.fma(small, f.c(-0.25), large)
    z = f.mul(size, size)
    near = f.fma(f.mul(size, z), f.polynomial(z, SINH), size)
    return f.text(f.with_sign(f.pick(f.test("olt", size, f.c(1.0)), near, far), x))


def cosh(form: Form) -> str:
    """``(exp(x) + exp(-x)) / 2``."""
    f = Function(form, "cosh")
    large, small = _halves(f, f.abs("%x0"))
    return f.text(f.fma(small, f.c(0.25), large))


def _share(f: Function, m: str) -> str:
    """``m / (m + 1)``, as good as rounded once, of ``m`` between 0 and 2^100."""
    r = near_inverse(f, f.add(m, f.c(1.0)))
    q = f.mul(m, r)
    return f.fma(f.fma(f.negative(q), m, f.sub(m, q)), r, q)


def _half_expm1_of_twice(f: Function, x: str) -> str:
    """``(exp(2 x) - 1) / 2 = 2^n s + (2^n - 1) / 2`` with ``s = (exp(2 r) - 1) / 2``."""
    n, bits = rounded_multiple(f, x, 2 * PER_LN_2)
    r = less(f, x, n, LN_2[0] / 2)  # further digits of ln 2 would not count
    of_twice = [each * 2.0 ** (k + 1) for k, each in enumerate(reversed(EXP))]
    s = f.fma(f.mul(r, r), f.polynomial(r, of_twice[::-1]), r)
    power, half = power_of_two(f, bits), f.c(0.5)
    return f.fma(power, s, f.fma(power, half, f.c(-0.5)))


def tanh(form: Form) -> str:
    """``m / (m + 1)`` with ``m = (exp(2 |x|) - 1) / 2``, and the sign of ``x``."""
    f = Function(form, "tanh")
    m = _half_expm1_of_twice(f, f.most(f.abs("%x0"), _MOST_TANH))
    return f.text(f.with_sign(_share(f, m), "%x0"))


def erf(form: Form) -> str:
    """``x + x p(x²)`` below 0.9, else ``1 - exp(p(x))``."""
    f = Function(form, "erf")
    x = f.most(f.abs("%x0"), 4.0)
    z = f.mul(x, x)
    near = f.fma(x, f.polynomial(z, ERF), x)
    below = f.polynomial(x, ERFC)
    n, bits = rounded_multiple(f, below, PER_LN_2)
    # further digits of ln 2 would not count
    share = f.polynomial(less(f, below, n, LN_2[0]), (*EXP, 1.0, 1.0))
    far = f.fma(f.negative(power_of_two(f, bits)), share, f.c(1.0))
    return f.text(f.with_sign(f.pick(f.test("olt", x, f.c(0.9)), near, far), "%x0"))


def erfc(form: Form) -> str:
    """``1 - erf x``, beyond 3/4 ``exp(-x²) p(t) / (1 + 2 x)`` with ``t = (x - k) / (x + k)``."""
    f = Function(form, "erfc")
    one, given = f.c(1.0), "%x0"
    x = f.most(f.abs(given), 10.5)
    square = f.exact_product(x, x)
    near = f.fma(f.negative(given), f.polynomial(square.high, ERF), f.sub(one, given))
    below = f.negative(square.high)
    n, bits = rounded_multiple(f, below, PER_LN_2)
    r = f.sub(less(f, below, n, *LN_2), square.low)
    s = f.fma(f.mul(r, r), f.polynomial(r, EXP), r)
    t = quotient(f, f.sub(x, f.c(_ERFCX_K)), f.add(x, f.c(_ERFCX_K)))
    high, low = f.long_polynomial(t, Polynomial(ERFCX, ERFCX))
    whole = f.fma(high, s, high)
    # what that has lost, and what it lacks
    low = f.fma(high, s, f.add(f.sub(high, whole), f.fma(low, s, low)))
    d = f.fma(x, f.c(2.0), one)
    lost = f.sub(one, f.fma(x, f.c(-2.0), d))
    inverse = near_inverse(f, d)
    q = f.mul(whole, inverse)
    rest = f.fma(f.negative(q), lost, f.add(low, f.fma(f.negative(q), d, whole)))
    far = _scaled(f, f.fma(rest, inverse, q), bits)
    far = f.pick(f.test("olt", given, f.c(0.0)), f.sub(f.c(2.0), far), far)
    return f.text(f.pick(f.test("olt", x, f.c(0.75)), near, far))
