"""Sines, cosines, tangents, and angles from them.

Sources: Cody and Waite, Software Manual for the Elementary Functions (1980), for the reduction of
the argument; Moler and others, Freely Distributable LIBM (fdlibm, Sun Microsystems, 1993), for the
coefficients of sin and cos.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gradwire_engine.backends.llvm.functions.coefficients import (
    ASIN,
    ATAN,
    COS_SINGLE,
    SIN_SINGLE,
)
from gradwire_engine.backends.llvm.functions.far_angles import far_rest
from gradwire_engine.backends.llvm.functions.forms import Form, Polynomial
from gradwire_engine.backends.llvm.functions.function import (
    INF,
    NAN,
    Function,
    Pair,
    passing_nan,
)

_HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
_PI = math.pi, 2 * _HALF_PI[1]
#: Beyond, reducing an angle takes more digits than this has, of doubles and of floats.
FAR, SINGLE_FAR = float(1 << 20), float(1 << 16)
_SIN = Polynomial(
    double=(
        1.58969099521155010221e-10,
        -2.50507602534068634195e-08,
        2.75573137070700676789e-06,
        -1.98412698298579493134e-04,
        8.33333333332248946124e-03,
        -1.66666666666666324348e-01,
    ),
    single=SIN_SINGLE,
)
_COS = Polynomial(
    double=(
        -1.13596475577881948265e-11,
        2.08757232129817482790e-09,
        -2.75573143513906633035e-07,
        2.48015872894767294178e-05,
        -1.38888888888741095749e-03,
        4.16666666666666019037e-02,
    ),
    single=COS_SINGLE,
)


class _Turned(NamedTuple):
    """The sine and the cosine of what is left of an angle after so many quarter turns."""

    sine: Pair
    cosine: Pair
    quarters: str


def _half_pi(form: Form) -> tuple[float, float, float]:
    """``pi / 2`` in three parts."""
    if not form.single:
        return _HALF_PI
    high = form.rounded(_HALF_PI[0])
    middle = form.rounded(_HALF_PI[0] - high)
    return high, middle, _HALF_PI[0] - high - middle + _HALF_PI[1]


class _Rest(NamedTuple):
    """The rest of an angle after so many quarter turns, of twice the digits."""

    angle: Pair
    quarters: str


def near_rest(f: Function, x: str) -> _Rest:
    """The rest of an angle that is not large."""
    half_pi, rounder = _half_pi(f.form), f.c(f.form.rounder)
    t = f.fma(x, f.c(2 / math.pi), rounder)
    n = f.sub(t, rounder)
    r = f.fma(n, f.c(-half_pi[0]), x)
    w = f.mul(n, f.c(half_pi[1]))
    y = f.sub(r, w)
    # what subtracting w has lost, and what w itself lacks
    low = f.sub(f.sub(r, y), w)
    low = f.fma(n, f.c(-half_pi[2]), low)
    low = f.sub(low, f.fma(n, f.c(half_pi[1]), f.negative(w)))
    return _Rest(Pair(y, low), f.bits(t))


def _reduced(f: Function, x: str) -> _Turned:
    """Of any angle; of vectors that are not large."""
    (y, low), quarters = near_rest(f, x)
    form = f.form
    if not form.wide:
        kinds = form.numbers, form.numbers, form.integers
        far = f.test("uge", f.abs(x), _far(f))
        y, low, quarters = f.instead(far, kinds, (y, low, quarters), lambda: far_rest(f, x))
    return _Turned(*sine_and_cosine(f, Pair(y, low)), quarters)


def sine_and_cosine(f: Function, rest: Pair) -> tuple[Pair, Pair]:
    """Of ``|rest| <= pi / 4`` by fdlibm's polynomials, of floats by shorter ones."""
    y, low = rest
    z = f.mul(y, y)
    v = f.mul(z, y)
    *others, last = _SIN.of(f.form)
    tail = f.sub(f.mul(f.c(0.5), low), f.mul(v, f.polynomial(z, others)))
    a = f.sub(f.mul(z, tail), low)
    sine = Pair(y, f.negative(f.fma(v, f.c(-last), a)))
    half = f.mul(f.c(0.5), z)
    whole = f.sub(f.c(1.0), half)
    lost = f.sub(f.sub(f.c(1.0), whole), half)
    powers = f.mul(z, f.mul(z, f.polynomial(z, _COS)))
    cosine = Pair(whole, f.add(lost, f.sub(powers, f.mul(y, low))))
    return sine, cosine


def _odd(f: Function, quarters: str) -> str:
    return f.let(f"trunc {f.form.integers} {quarters} to {f.form.truths}")


def _far(f: Function) -> str:
    return f.c(FAR)


def _finished(f: Function, name: str, z: str) -> str:
    """With NaN where there is no angle; of vectors by the C library where angles are large."""
    x = "%x0"
    if not f.form.wide:
        return f.text(f.pick(f.test("uge", f.abs(x), f.c(INF)), f.c(NAN), z))
    far = f.test("uge", f.abs(x), _far(f))
    f.return_unless(far, z)
    return f.text(f.by_lane(name, far, z))


def _sine(form: Form, name: str, quarter_turns: int) -> str:
    """``sin(x + quarter_turns pi / 2)``."""
    f = Function(form, name)
    x = "%x0"
    sine, cosine, q = _reduced(f, x)
    if quarter_turns:
        q = f.i("add", q, f.ci(quarter_turns))
    z = f.pick(_odd(f, q), f.add(*cosine), f.add(*sine))
    sign = f.i("shl", f.i("and", q, f.ci(2)), f.ci(form.bits - 2))
    z = f.number(f.i("xor", f.bits(z), sign))
    if not quarter_turns:
        z = f.pick(f.test("oeq", x, f.c(0.0)), x, z)
    return _finished(f, name, z)


def sin(form: Form) -> str:
    """``sin x``."""
    return _sine(form, "sin", 0)


def cos(form: Form) -> str:
    """``cos x``."""
    return _sine(form, "cos", 1)


def tan(form: Form) -> str:
    """``sin x / cos x``, after an odd number of quarter turns ``- cos x / sin x``."""
    f = Function(form, "tan")
    x = "%x0"
    sine, cosine, q = _reduced(f, x)
    sine, cosine = f.ordered_sum(*sine), f.ordered_sum(*cosine)
    odd = _odd(f, q)
    turned = [f.negative(part) for part in cosine]
    n = Pair(*[f.pick(odd, a, b) for a, b in zip(turned, sine, strict=True)])
    d = Pair(*[f.pick(odd, a, b) for a, b in zip(sine, cosine, strict=True)])
    z = f.add(*f.quotient(n, d))
    return _finished(f, "tan", f.pick(f.test("oeq", x, f.c(0.0)), x, z))


def _from_tangent(f: Function, y: str, x: str, *, turned: str | None = None) -> str:
    """The angle whose tangent is ``y / x``, of at least 0: ``base + atan t`` with ``|t| < 0.42``.

    Where it is ``turned``, pi less that.  Source: DLMF 4.24.15.
    """
    small = f.test("ole", y, f.mul(x, f.c(0.41421356237309503)))
    large = f.test("ogt", y, f.mul(x, f.c(2.414213562373095)))
    between_n, between_d = f.exact_sum(y, f.negative(x)), f.exact_sum(y, x)
    zero = f.c(0.0)
    n = f.pick(small, y, f.pick(large, f.negative(x), between_n.high))
    d = f.pick(small, x, f.pick(large, y, between_d.high))
    either = f.either(small, large)
    n_low, d_low = f.pick(either, zero, between_n.low), f.pick(either, zero, between_d.low)
    d = f.pick(f.test("oeq", d, zero), f.c(1.0), d)
    t, low = f.quotient(Pair(n, n_low), Pair(d, d_low))
    z = f.mul(t, t)
    rest = f.fma(f.mul(t, z), f.polynomial(z, ATAN), low)
    half_pi = f.long(*_HALF_PI[:2])
    quarter, half = f.c(math.pi / 4), half_pi.high
    base = f.pick(small, zero, f.pick(large, half, quarter))
    low_base = f.pick(small, zero, half_pi.low)
    low_base = f.pick(large, low_base, f.mul(low_base, f.c(0.5)))
    if turned is not None:
        pi = f.long(*_PI)
        base = f.pick(turned, f.sub(pi.high, base), base)
        low_base = f.pick(turned, f.sub(pi.low, low_base), low_base)
        t = f.pick(turned, f.negative(t), t)
        rest = f.pick(turned, f.negative(rest), rest)
    return f.add(base, f.add(t, f.add(rest, low_base)))


def atan(form: Form) -> str:
    """``atan x``."""
    f = Function(form, "atan")
    size = f.most(f.abs("%x0"), 2.0**70)
    z = f.with_sign(_from_tangent(f, size, f.c(1.0)), "%x0")
    return f.text(f.pick(f.test("ult", size, f.c(2.0**-30)), "%x0", z))


def atan2(form: Form) -> str:
    """The angle of ``x + i y``, between -pi and pi."""
    f = Function(form, "atan2", 2)
    return f.text(any_angle(f))


def any_angle(f: Function) -> str:
    """The angle of ``%x1 + i %x0``; ends as C's ``atan2``.

    Source: ISO C, annex F.10.1.4.
    """
    form = f.form
    y, x = f.abs("%x0"), f.abs("%x1")
    infinite = [f.test("oeq", each, f.c(INF)) for each in (y, x)]
    some = f.either(*infinite)
    y, x = (
        f.pick(some, f.pick(own, f.c(1.0), f.c(0.0)), each)
        for own, each in zip(infinite, (y, x), strict=True)
    )
    high = f.pick(f.test("ogt", y, x), y, x)
    large = f.test("ogt", high, f.c(2.0**1000, 2.0**100))
    small = f.test("olt", high, f.c(2.0**-400, 2.0**-40))
    up = f.pick(small, f.c(2.0**600, 2.0**80), f.c(1.0))
    scale = f.pick(large, f.c(2.0**-100, 2.0**-30), up)
    negative = f.let(f"icmp slt {form.integers} {f.bits('%x1')}, zeroinitializer")
    z = _from_tangent(f, f.mul(y, scale), f.mul(x, scale), turned=negative)
    z = f.with_sign(z, "%x0")
    return f.pick(f.test("uno", "%x0", "%x1"), f.c(NAN), z)


def _arcsine(f: Function, size: str) -> tuple[str, str, str]:
    """True if ``size`` is at most 1/2, and ``s`` and the rest: ``asin s = s + rest``.

    ``s`` is ``size``, or beyond 1/2 ``sqrt((1 - size) / 2)``.  Source: DLMF 4.24.1.
    """
    near = f.test("ole", size, f.c(0.5))
    half = f.mul(f.c(0.5), f.sub(f.c(1.0), size))
    z = f.pick(near, f.mul(size, size), half)
    root = f.intrinsic("sqrt", half)
    lost = f.div(f.fma(f.negative(root), root, half), f.add(root, root))
    lost = f.pick(f.test("oeq", root, f.c(0.0)), f.c(0.0), lost)
    s = f.pick(near, size, root)
    low = f.pick(near, f.c(0.0), lost)
    return near, s, f.fma(f.mul(s, z), f.polynomial(z, ASIN), low)


def asin(form: Form) -> str:
    """The angle whose sine is ``x``; beyond 1/2 it is pi / 2 less twice another one."""
    f = Function(form, "asin")
    size = f.abs("%x0")
    near, s, rest = _arcsine(f, size)
    two, half_pi = f.c(2.0), f.long(*_HALF_PI[:2])
    high, lost = f.ordered_sum(half_pi.high, f.negative(f.mul(two, s)))
    far = f.add(high, f.add(lost, f.fma(f.negative(two), rest, half_pi.low)))
    z = f.with_sign(f.pick(near, f.add(s, rest), far), "%x0")
    z = f.pick(f.test("ult", size, f.c(2.0**-30)), "%x0", z)
    return f.text(f.pick(f.test("ogt", size, f.c(1.0)), f.c(NAN), z))


def acos(form: Form) -> str:
    """``pi / 2 - asin x``, beyond 1/2 ``2 asin(sqrt((1 - x) / 2))``, below -1/2 pi less that."""
    f = Function(form, "acos")
    x = "%x0"
    size = f.abs(x)
    near, s, rest = _arcsine(f, size)
    half_pi, pi = f.long(*_HALF_PI[:2]), f.long(*_PI)
    signed, own = f.with_sign(s, x), f.with_sign(rest, x)
    high, lost = f.ordered_sum(half_pi.high, f.negative(signed))
    middle = f.add(high, f.add(lost, f.sub(half_pi.low, own)))
    twice, more = f.add(s, s), f.add(rest, rest)
    right = f.add(twice, more)
    high, lost = f.ordered_sum(pi.high, f.negative(twice))
    left = f.add(high, f.add(lost, f.sub(pi.low, more)))
    far = f.pick(f.test("ogt", x, f.c(0.0)), right, left)
    z = passing_nan(f, x, f.pick(near, middle, far))
    return f.text(f.pick(f.test("ogt", size, f.c(1.0)), f.c(NAN), z))
