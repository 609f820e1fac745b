"""The length of a hypotenuse, and the rest of a division."""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.vectors import INF, VectorFunction


def hypot() -> str:
    """``sqrt(x² + y²)``, scaled by powers of two; infinite where one is, even beside NaN.

    Source: ISO C, annex F.10.4.3.
    """
    f = VectorFunction("hypot", 2)
    x, y = f.abs("%x0"), f.abs("%x1")
    greater = f.test("ogt", y, x)
    high, low = f.pick(greater, y, x), f.pick(greater, x, y)
    large, small = f.test("ogt", high, f.c(2.0**500)), f.test("olt", high, f.c(2.0**-400))
    scale = f.pick(large, f.c(2.0**-600), f.pick(small, f.c(2.0**600), f.c(1.0)))
    back = f.pick(large, f.c(2.0**600), f.pick(small, f.c(2.0**-600), f.c(1.0)))
    a, b = f.mul(high, scale), f.mul(low, scale)
    z = f.mul(f.one("sqrt", f.fma(a, a, f.mul(b, b))), back)
    infinite = f.either(f.test("oeq", x, f.c(INF)), f.test("oeq", y, f.c(INF)))
    return f.text(f.pick(infinite, f.c(INF), z))


def fmod() -> str:
    """``x - q y`` with the quotient towards 0, which is exact; by the C library where it is large.

    Source: ISO C, 7.12.10.1.
    """
    f = VectorFunction("fmod", 2)
    x, y = "%x0", f.abs("%x1")
    size = f.abs(x)
    quotient = f.div(size, y)
    rest = f.fma(f.negative(f.one("floor", quotient)), y, size)
    # the quotient may have been rounded up
    rest = f.pick(f.test("olt", rest, f.c(0.0)), f.add(rest, y), rest)
    z = f.with_sign(rest, x)
    far = f.either(f.test("uge", quotient, f.c(2.0**53)), f.test("oeq", y, f.c(INF)))
    f.return_unless(far, z)
    return f.text(f.by_lane("fmod", far, z))
