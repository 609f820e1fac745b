"""The length of a hypotenuse, and the rest of a division."""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import INF, NAN, Function, stored


def hypot(form: Form) -> str:
    """``sqrt(x² + y²)``, scaled by powers of two; infinite where one is, even beside NaN.

    Source: ISO C, annex F.10.4.3.
    """
    f = Function(form, "hypot", 2)
    x, y = f.abs("%x0"), f.abs("%x1")
    greater = f.test("ogt", y, x)
    high, low = f.pick(greater, y, x), f.pick(greater, x, y)
    large = f.test("ogt", high, f.c(2.0**500, 2.0**60))
    small, one = f.test("olt", high, f.c(2.0**-400, 2.0**-45)), f.c(1.0)
    scale = f.pick(large, f.c(2.0**-600, 2.0**-70), f.pick(small, f.c(2.0**600, 2.0**100), one))
    back = f.pick(large, f.c(2.0**600, 2.0**70), f.pick(small, f.c(2.0**-600, 2.0**-100), one))
    a, b = f.mul(high, scale), f.mul(low, scale)
    z = f.mul(f.intrinsic("sqrt", f.fma(a, a, f.mul(b, b))), back)
    infinite = f.either(f.test("oeq", x, f.c(INF)), f.test("oeq", y, f.c(INF)))
    return f.text(f.pick(infinite, f.c(INF), z))


def _apart(f: Function, x: str) -> tuple[str, str]:
    """A positive number's exponent and all its digits: subnormal ones have the least exponent."""
    exponent, digits = stored(f, x)
    tiny = f.let(f"icmp eq i64 {exponent}, 0")
    first = f.let(f"select i1 {tiny}, i64 0, i64 {1 << f.form.digits}")
    return f.let(f"select i1 {tiny}, i64 1, i64 {exponent}"), f.let(f"or i64 {digits}, {first}")


def _long_division(f: Function, x: str, y: str) -> str:
    """The rest of ``x / y``, of positive numbers, with the sign of the first operand."""
    form = f.form
    exponent, digits = _apart(f, x)
    least, divisor = _apart(f, y)
    by_zero = f.test("oeq", y, f.c(0.0))
    divisor = f.let(f"select i1 {by_zero}, i64 1, i64 {divisor}")
    first = f.let(f"urem i64 {digits}, {divisor}")
    places = f.let(f"sub i64 {exponent}, {least}")
    # as many binary places at a time as 64 bits have beside a rest
    most = 63 - form.digits
    before = f.block
    f.do("br label %next")
    f.label("next")
    f.do(f"%rest = phi i64 [ {first}, %{before} ], [ %following, %step ]")
    f.do(f"%places = phi i64 [ {places}, %{before} ], [ %fewer, %step ]")
    f.do(f"br i1 {f.let('icmp sgt i64 %places, 0')}, label %step, label %done")
    f.label("step")
    all_at_once = f.let(f"icmp slt i64 %places, {most}")
    by = f.let(f"select i1 {all_at_once}, i64 %places, i64 {most}")
    f.do(f"%following = urem i64 {f.let(f'shl i64 %rest, {by}')}, {divisor}")
    f.do(f"%fewer = sub i64 %places, {by}")
    f.do("br label %next")
    f.label("done")
    rest = f.let(f"uitofp i64 %rest to {form.element}")
    # its unit in two factors, neither of which is subnormal
    unit = f.let(f"sub i64 {least}, {form.bias + form.digits}")
    half = f.let(f"ashr i64 {unit}, 1")
    for each in (half, f.let(f"sub i64 {unit}, {half}")):
        biased = f.let(f"shl i64 {f.let(f'add i64 {each}, {form.bias}')}, {form.digits}")
        if form.single:
            biased = f.let(f"trunc i64 {biased} to i32")
        rest = f.mul(rest, f.number(biased))
    rest = f.pick(f.test("oeq", y, f.c(INF)), x, rest)
    none = f.either(by_zero, f.either(f.test("uno", x, y), f.test("oeq", x, f.c(INF))))
    return f.with_sign(f.pick(none, f.c(NAN), rest), "%x0")


def fmod(form: Form) -> str:
    """``x - q y`` with the quotient towards 0, which is exact.

    Where the quotient is large, by the C library, of one number by long division.

    Source: ISO C, 7.12.10.1.
    """
    f = Function(form, "fmod", 2)
    x, y = "%x0", f.abs("%x1")
    size = f.abs(x)
    quotient = f.div(size, y)
    rest = f.fma(f.negative(f.intrinsic("floor", quotient)), y, size)
    # the quotient may have been rounded up
    rest = f.pick(f.test("olt", rest, f.c(0.0)), f.add(rest, y), rest)
    z = f.with_sign(rest, x)
    limit = f.c(2.0 ** (form.digits + 1))
    far = f.either(f.test("uge", quotient, limit), f.test("oeq", y, f.c(INF)))
    f.return_unless(far, z)
    return f.text(f.by_lane("fmod", far, z) if form.wide else _long_division(f, size, y))
