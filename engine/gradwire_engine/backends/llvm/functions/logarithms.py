"""Logarithms, and powers by logarithms of twice the digits.

Source: Moler and others, Freely Distributable LIBM (fdlibm, Sun Microsystems, 1993), for the
coefficients of log.
"""

from __future__ import annotations

from gradwire_engine.backends.llvm.functions.coefficients import CUBE_ROOT, LOGARITHM
from gradwire_engine.backends.llvm.functions.exponentials import reduced_exponential, scaled
from gradwire_engine.backends.llvm.functions.forms import Form
from gradwire_engine.backends.llvm.functions.function import (
    INF,
    NAN,
    Function,
    Pair,
    passing_nan,
    power_of_two,
)

_LOG = (
    1.479819860511658591e-01,
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
)
#: Numbers that doubles do not have, as sums: 2/3, 1 / ln 2, 1 / ln 10.
_TWO_THIRDS = 0.6666666666666666, 3.700743415417188e-17
_PER_LN_2 = 1.4426950408889634, 2.0355273740931033e-17
_PER_LN_10 = 0.4342944819032518, 1.098319650216765e-17
#: The bits of a number near the root of 1/2, of a double and of a float.
ROOT_OF_HALF = 0x3FE6A09E00000000, 0x3F3504F3


def _unbiased(f: Function, biased: str) -> str:
    """An exponent as it is stored, as a number."""
    form = f.form
    k = f.number(f.i("or", biased, f.ci((form.bias + form.digits) << form.digits)))
    return f.sub(k, f.c(2.0**form.digits + form.bias))


def _apart(f: Function, x: str) -> tuple[str, str]:
    """``k`` and ``m``: ``x = 2^k m`` and ``m`` is between the roots of 1/2 and 2."""
    form = f.form
    tiny = f.test("olt", x, f.c(form.least_normal))
    y = f.pick(tiny, f.mul(x, f.c(2.0**54, 2.0**24)), x)
    above = f.i("sub", f.bits(y), f.ci(ROOT_OF_HALF[form.single]))
    one = form.bias << form.digits
    biased = f.i("lshr", f.i("add", above, f.ci(one)), f.ci(form.digits))
    k = _unbiased(f, biased)
    k = f.pick(tiny, f.sub(k, f.c(54.0, 24.0)), k)
    return k, f.number(f.i("sub", f.bits(y), f.i("and", above, f.ci(-(1 << form.digits)))))


def _logarithm(f: Function, x: str, correction: str | None = None) -> str:
    """Of positive ``x``: ``x = 2^k (1 + m)``, and ``ln(1 + m)`` by ``s = m / (2 + m)``.

    The ``correction`` is added to what is rounded least.
    """
    k, z = _apart(f, x)
    m = f.sub(z, f.c(1.0))
    s = f.div(m, f.add(f.c(2.0), m))
    s2 = f.mul(s, s)
    r = f.mul(s2, f.polynomial(s2, _LOG))
    half = f.mul(f.c(0.5), f.mul(m, m))
    low = f.fma(k, f.c(f.form.ln2[1]), f.mul(s, f.add(half, r)))
    if correction is not None:
        low = f.add(low, correction)
    rest = f.sub(f.sub(half, low), m)
    return f.fma(k, f.c(f.form.ln2[0]), f.negative(rest))


def long_logarithm(f: Function, x: str, low: str | None = None) -> Pair:
    """Of positive ``x + low``, with 65 digits."""
    return long_logarithm_of(f, *_apart(f, x), low)


def long_logarithm_of(f: Function, k: str, m: str, low: str | None = None) -> Pair:
    """Of ``2^k m + low``, with 65 digits: by ``s = (m - 1) / (m + 1)``, in pairs.

    ``ln m = 2 s + s z (2/3 + z p(z))`` with ``z = s²``.  Source: DLMF 4.6.4.
    """
    d = f.add(m, f.c(1.0))
    n, d_low = Pair(f.sub(m, f.c(1.0)), f.c(0.0)), f.sub(m, f.sub(d, f.c(1.0)))
    if low is not None:
        rest = f.mul(
            low, power_of_two(f, f.negative(f.most(f.least(k, -1000.0, -120.0), 1000.0, 120.0)))
        )
        n, d_low = Pair(n.high, rest), f.add(d_low, rest)
    s = f.quotient(n, Pair(d, d_low))
    z = f.product(s, s)
    two_thirds = f.long(*_TWO_THIRDS)
    inner = f.fma(z.high, f.polynomial(z.high, LOGARITHM), two_thirds.low)
    tail = f.product(f.product(f.ordered_sum(two_thirds.high, inner), z), s)
    high, lost = f.ordered_sum(f.mul(f.c(2.0), s.high), tail.high)
    lost = f.add(lost, f.fma(f.c(2.0), s.low, tail.low))
    high, rest = f.ordered_sum(f.mul(k, f.c(f.form.ln2[0])), high)
    return f.ordered_sum(high, f.add(rest, f.fma(k, f.c(f.form.ln2[1]), lost)))


def with_ends(f: Function, x: str, z: str) -> str:
    """A logarithm, and what it is where ``x`` is not positive, or infinite."""
    z = f.pick(f.test("oeq", x, f.c(0.0)), f.c(-INF), z)
    z = f.pick(f.test("olt", x, f.c(0.0)), f.c(NAN), z)
    z = f.pick(f.test("oeq", x, f.c(INF)), f.c(INF), z)
    return passing_nan(f, x, z)


def log(form: Form) -> str:
    """``ln x``."""
    f = Function(form, "log")
    return f.text(with_ends(f, "%x0", _logarithm(f, "%x0")))


def _to_base(form: Form, name: str, factor: tuple[float, float]) -> str:
    f = Function(form, name)
    z, low = f.product(long_logarithm(f, "%x0"), f.long(*factor))
    return f.text(with_ends(f, "%x0", f.add(z, low)))


def log2(form: Form) -> str:
    """``ln x / ln 2``, exact for powers of two."""
    return _to_base(form, "log2", _PER_LN_2)


def log10(form: Form) -> str:
    """``ln x / ln 10``, exact for powers of ten."""
    return _to_base(form, "log10", _PER_LN_10)


def log1p(form: Form) -> str:
    """``ln u + c / u`` with ``u = 1 + x`` as rounded and what that lost, ``c``."""
    f = Function(form, "log1p")
    x = "%x0"
    u = f.add(f.c(1.0), x)
    large = f.test("ogt", x, f.c(1.0))
    lost = f.sub(x, f.sub(u, f.c(1.0)))
    lost = f.pick(large, f.sub(f.c(1.0), f.sub(u, x)), lost)
    lost = f.pick(f.test("olt", f.abs(x), f.c(2.0**54)), lost, f.c(0.0))
    z = _logarithm(f, u, f.div(lost, u))
    z = f.pick(f.test("oeq", x, f.c(-1.0)), f.c(-INF), z)
    z = f.pick(f.test("olt", x, f.c(-1.0)), f.c(NAN), z)
    z = f.pick(f.test("oeq", x, f.c(INF)), f.c(INF), z)
    z = f.pick(f.test("olt", f.abs(x), f.c(2.0**-54)), x, z)
    return f.text(passing_nan(f, x, z))


def power(form: Form) -> str:
    """``x^y``."""
    f = Function(form, "pow", 2)
    return f.text(any_power(f, "%x0", "%x1"))


def any_power(f: Function, x: str, y: str) -> str:
    """``exp(y ln |x|)``, and signs and ends as C's ``pow`` has them.

    Source: ISO C, annex F.10.4.4.
    """
    size = f.abs(x)
    of = long_logarithm(f, size)
    bounded = f.most(f.least(y, -(2.0**65), -(2.0**36)), 2.0**65, 2.0**36)
    high, low = f.product(of, Pair(bounded, f.c(0.0)))
    z = scaled(f, *reduced_exponential(f, high, low))
    above = f.test("ogt", high, f.c(709.79, 88.73))
    z = f.pick(above, f.c(INF), z)
    z = f.pick(f.test("olt", high, f.c(-746.0, -105.0)), f.c(0.0), z)
    # at 0 and infinity
    falls = f.test("olt", y, f.c(0.0))
    at_zero = f.pick(falls, f.c(INF), f.c(0.0))
    at_infinity = f.pick(falls, f.c(0.0), f.c(INF))
    z = f.pick(f.test("oeq", size, f.c(0.0)), at_zero, z)
    z = f.pick(f.test("oeq", size, f.c(INF)), at_infinity, z)
    # of negative numbers
    whole = f.test("oeq", f.intrinsic("rint", y), y)
    half = f.mul(y, f.c(0.5))
    odd = f.both(whole, f.test("une", f.intrinsic("rint", half), half))
    z = f.pick(odd, f.with_sign(z, x), z)
    roots = f.both(f.test("olt", x, f.c(0.0)), f.test("ogt", x, f.c(-INF)))
    fractional = f.both(roots, f.test("une", f.intrinsic("rint", y), y))
    z = f.pick(fractional, f.c(NAN), z)
    z = f.pick(f.test("uno", x, y), f.c(NAN), z)
    one = f.either(f.test("oeq", x, f.c(1.0)), f.test("oeq", y, f.c(0.0)))
    return f.pick(one, f.c(1.0), z)


def cbrt(form: Form) -> str:
    """``m^(-1/3)`` by Newton's method, and what the cube of its result lacks."""
    f = Function(form, "cbrt")
    x = "%x0"
    size = f.abs(x)
    tiny = f.test("olt", size, f.c(form.least_normal))
    y = f.pick(tiny, f.mul(size, f.c(2.0**54, 2.0**24)), size)
    e = _unbiased(f, f.i("lshr", f.bits(y), f.ci(form.digits)))
    # 54 is a multiple of 3, and so is 24
    k = f.intrinsic("floor", f.mul(f.add(e, f.c(0.5)), f.c(1 / 3)))
    j = f.sub(e, f.mul(k, f.c(3.0)))
    digits = f.i("and", f.bits(y), f.ci((1 << form.digits) - 1))
    m = f.number(f.i("or", digits, f.ci(form.bias << form.digits)))
    one, two = f.test("ogt", j, f.c(0.5)), f.test("ogt", j, f.c(1.5))
    start = f.pick(two, f.c(4 ** (-1 / 3)), f.pick(one, f.c(2 ** (-1 / 3)), f.c(1.0)))
    r = f.mul(f.polynomial(m, CUBE_ROOT), start)
    m = f.mul(m, f.pick(two, f.c(4.0), f.pick(one, f.c(2.0), f.c(1.0))))
    cube = f.mul(f.mul(r, r), r)
    r = f.fma(f.mul(r, f.c(1 / 3)), f.fma(f.negative(m), cube, f.c(1.0)), r)
    square = f.mul(r, r)
    root = f.mul(m, square)
    both = f.exact_product(root, root)
    rest = f.fma(f.negative(both.high), root, m)
    rest = f.fma(f.negative(both.low), root, rest)
    root = f.fma(rest, f.mul(square, f.c(1 / 3)), root)
    scale = power_of_two(f, f.pick(tiny, f.sub(k, f.c(18.0, 8.0)), k))
    z = f.with_sign(f.mul(root, scale), x)
    ends = f.either(f.test("oeq", x, f.c(0.0)), f.test("ueq", size, f.c(INF)))
    return f.text(f.pick(ends, x, z))
