"""Sines, cosines, tangents, and angles from them."""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.coefficients import ASIN, COS_SINGLE
from gradwire_engine.backends.llvm.functions.far_angles import far_rest
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import INF, Function
from gradwire_engine.backends.llvm.functions.singles.coefficients import ATAN, SIN, TAN
from gradwire_engine.backends.llvm.functions.singles.reduction import (
    inverse,
    less,
    near_inverse,
    rounded_multiple,
)
from gradwire_engine.backends.llvm.functions.trigonometric import SINGLE_FAR, any_angle, near_rest

#: ``pi`` as a sum of floats that are positive, which keeps the sign of an angle of -0.
_PI = 3.141592502593994, 1.5099578831723192e-07, 1.0780605906948476e-14
_HALF_PI_LONG = 1.5707963267948966, 6.123233995736766e-17
_PER_PI = 0.3183098861837907


def _half_turned(f: Function, x: str, n: str) -> str:
    """``(-1)^n x``."""
    return f.number(f.i("add", f.bits(x), f.i("shl", n, f.ci(f.form.bits - 1))))


def _sine_of(f: Function, y: str) -> str:
    """``sin y`` of ``|y| <= pi / 2``."""
    z = f.mul(y, y)
    return f.fma(f.mul(y, z), f.polynomial(z, SIN), y)


def _far_sine(f: Function, x: str, quarter_turns: int) -> str:
    """``sin(x + quarter_turns pi / 2)`` of a large angle, NaN of an infinite one."""
    form = f.form
    y, _, quarters = far_rest(f, x)
    if quarter_turns:
        quarters = f.i("add", quarters, f.ci(quarter_turns))
    odd = f.let(f"trunc {form.integers} {quarters} to {form.truths}")
    y = f.add(y, f.sub(x, x))
    cosine = f.polynomial(f.mul(y, y), (*COS_SINGLE, -0.5, 1.0))
    z = f.pick(odd, cosine, _sine_of(f, y))
    return _half_turned(f, z, f.i("lshr", quarters, f.ci(1)))


def sin(form: Form) -> str:
    """``sin x`` by half turns: that of what is left, or its opposite."""
    f = Function(form, "sin")
    x = "%x0"
    n, bits = rounded_multiple(f, x, _PER_PI)
    y = _half_turned(f, less(f, x, n, *_PI), bits)
    z = f.with_sign(_sine_of(f, y), y)  # which the sum of zeros has lost
    f.return_unless(f.test("oge", f.abs(x), f.c(SINGLE_FAR)), z)
    return f.text(_far_sine(f, x, 0))


def cos(form: Form) -> str:
    """``cos x`` by half turns and a quarter: the sine of what is left, or its opposite."""
    f = Function(form, "cos")
    x, rounder = "%x0", f.c(form.rounder + 1)
    t = f.add(f.fma(x, f.c(_PER_PI), f.c(-0.5)), rounder)
    halves = f.add(f.sub(t, rounder), f.c(0.5))
    z = _sine_of(f, _half_turned(f, less(f, x, halves, *_PI), f.bits(t)))
    f.return_unless(f.test("oge", f.abs(x), f.c(SINGLE_FAR)), z)
    return f.text(_far_sine(f, x, 1))


def _tangent(f: Function, y: str, low: str, quarters: str) -> str:
    """``tan(y + low + quarters pi / 2)``: after an odd number of turns the reciprocal, negative."""
    form, z = f.form, f.mul(y, y)
    slope = f.fma(z, f.c(1.5), f.c(1.0))  # near enough to that of tan
    tail = f.fma(f.mul(y, z), f.polynomial(z, TAN), f.mul(slope, low))
    tangent, lost = f.ordered_sum(y, tail)
    near = f.negative(near_inverse(f, tangent))
    turned = f.fma(near, f.fma(near, lost, f.fma(near, tangent, f.c(1.0))), near)
    odd = f.let(f"trunc {form.integers} {quarters} to {form.truths}")
    return f.pick(odd, turned, tangent)


def tan(form: Form) -> str:
    """``tan x``."""
    f = Function(form, "tan")
    x = "%x0"
    (y, low), quarters = near_rest(f, x)
    z = _tangent(f, y, low, quarters)
    z = f.pick(f.test("oeq", x, f.c(0.0)), x, z)  # keeps the sign of zero
    f.return_unless(f.test("uge", f.abs(x), f.c(SINGLE_FAR)), z)
    y, low, quarters = far_rest(f, x)
    return f.text(_tangent(f, f.add(y, f.sub(x, x)), low, quarters))


def _from_tangent(f: Function, t: str, base: str, low: str) -> str:
    """``base + low + atan t`` of ``|t| <= 1``."""
    z = f.mul(t, t)
    tail = f.fma(f.mul(t, z), f.polynomial(z, ATAN), low)
    return f.add(base, f.add(t, tail))


def atan(form: Form) -> str:
    """The angle whose tangent is ``x``, beyond 1 by that of ``-1 / x``."""
    f = Function(form, "atan")
    size, zero, half_pi = f.abs("%x0"), f.c(0.0), f.long(*_HALF_PI_LONG)
    steep = f.test("ogt", size, f.c(1.0))
    t = f.pick(steep, f.negative(inverse(f, f.most(size, 2.0**100))), size)
    base, low = [f.pick(steep, part, zero) for part in half_pi]
    return f.text(f.with_sign(_from_tangent(f, t, base, low), "%x0"))


def atan2(form: Form) -> str:
    """The angle of ``x + i y``, by the quotient of the smaller one and the larger one."""
    f = Function(form, "atan2", 2)
    y, x, zero = f.abs("%x0"), f.abs("%x1"), f.c(0.0)
    large, small = f.intrinsic("maximum", y, x), f.intrinsic("minimum", y, x)
    steep = f.test("ogt", y, x)
    left = f.let(f"icmp slt {form.integers} {f.bits('%x1')}, 0")
    t = f.div(small, large)
    falls = f.let(f"xor {form.truths} {steep}, {left}")
    parts = zip(f.long(*_HALF_PI_LONG), f.long(*[2 * each for each in _HALF_PI_LONG]), strict=True)
    base, low = [f.pick(steep, half, f.pick(left, whole, zero)) for half, whole in parts]
    z = _from_tangent(f, f.pick(falls, f.negative(t), t), base, low)
    # not zeros, infinities, NaN
    plain = f.both(f.test("ogt", large, zero), f.test("olt", large, f.c(INF)))
    f.return_unless(f.let(f"xor {form.truths} {plain}, true"), f.with_sign(z, "%x0"))
    return f.text(any_angle(f))


def _is_near(f: Function, size: str) -> tuple[str, str, str]:
    """True if a sine is at most 1/2; ``z``, and beyond twice its root: ``asin s = s + s z p(z)``.

    Beyond, it is that of ``sqrt((1 - size) / 2)``, NaN of more than 1.  Source: DLMF 4.24.1.
    """
    near = f.test("ole", size, f.c(0.5))
    half = f.fma(size, f.c(-0.5), f.c(0.5))
    root = f.intrinsic("sqrt", half)
    return near, f.pick(near, f.mul(size, size), half), f.add(root, root)


def _from_sine(f: Function, s: str, z: str, base: str, low: str) -> str:
    """``base + low - s - s z p(z)``."""
    tail = f.fma(f.negative(f.mul(s, z)), f.polynomial(z, ASIN), low)
    return f.add(base, f.sub(tail, s))


def asin(form: Form) -> str:
    """The angle whose sine is ``x``; beyond 1/2 it is pi / 2 less twice another one."""
    f = Function(form, "asin")
    size, zero = f.abs("%x0"), f.c(0.0)
    near, z, twice = _is_near(f, size)
    base, low = [f.pick(near, zero, part) for part in f.long(*_HALF_PI_LONG)]
    s = f.pick(near, f.negative(size), twice)
    return f.text(f.with_sign(_from_sine(f, s, z, base, low), "%x0"))


def acos(form: Form) -> str:
    """``pi / 2 - asin x``, beyond 1/2 twice another angle, below -1/2 pi less that."""
    f = Function(form, "acos")
    x, zero = "%x0", f.c(0.0)
    near, z, twice = _is_near(f, f.abs(x))
    right = f.test("ogt", x, zero)
    parts = zip(f.long(*_HALF_PI_LONG), f.long(*[2 * each for each in _HALF_PI_LONG]), strict=True)
    base, low = [f.pick(near, half, f.pick(right, zero, whole)) for half, whole in parts]
    s = f.pick(near, x, f.pick(right, f.negative(twice), twice))
    return f.text(_from_sine(f, s, z, base, low))
