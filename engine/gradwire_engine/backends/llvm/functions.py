"""Elementary functions of vectors, by polynomials without branches: within 1.5 units in the last
place, special values as IEEE 754 has them.

Sources: Cody and Waite, Software Manual for the Elementary Functions (1980), for reductions of the
argument; Moler and others, Freely Distributable LIBM (fdlibm, Sun Microsystems, 1993), for the
coefficients of log, sin and cos; Moshier, Cephes (1984), for those of tanh.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import cache

LANES = 8
_V, _I, _B = f"<{LANES} x double>", f"<{LANES} x i64>", f"<{LANES} x i1>"
_ROUNDER = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number
_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33
#: Beyond, reducing an angle takes more digits than this has.
_FAR = float(1 << 20)
_SIN = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
_COS = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
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
_TANH_P = (-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3)
_TANH_Q = (1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3)
#: Functions that are computed lane by lane, with their number of operands.
_BY_LANE = {
    "exp2": 1,
    "log2": 1,
    "log10": 1,
    "cbrt": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "sinh": 1,
    "cosh": 1,
    "asinh": 1,
    "acosh": 1,
    "atanh": 1,
    "hypot": 2,
    "pow": 2,
    "erf": 1,
}


def symbol(function: str, *, wide: bool) -> str:
    """The name that machine code calls a function by: the C library's for numbers."""
    return f"gw_{function}" if wide else function


class _Function:
    """Writes a function of vectors."""

    def __init__(self, name: str, operands: int = 1) -> None:
        self._name, self._operands = name, operands
        self._lines: list[str] = []
        self._count = 0

    def let(self, code: str) -> str:
        self._count += 1
        self._lines.append(f"  %t{self._count} = {code}")
        return f"%t{self._count}"

    def do(self, line: str) -> None:
        self._lines.append(line)

    def c(self, x: float) -> str:
        """A constant in all lanes."""
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        return "<" + ", ".join([f"double 0x{bits:016X}"] * LANES) + ">"

    def ci(self, x: int) -> str:
        """The same of an integer."""
        return "<" + ", ".join([f"i64 {x}"] * LANES) + ">"

    def f(self, operation: str, x: str, y: str) -> str:
        """Arithmetic."""
        return self.let(f"f{operation} {_V} {x}, {y}")

    def i(self, operation: str, x: str, y: str) -> str:
        """Arithmetic on integers."""
        return self.let(f"{operation} {_I} {x}, {y}")

    def fma(self, x: str, y: str, z: str) -> str:
        """``x y + z``, rounded once."""
        return self.let(f"call {_V} @llvm.fma.v{LANES}f64({_V} {x}, {_V} {y}, {_V} {z})")

    def negative(self, x: str) -> str:
        return self.let(f"fneg {_V} {x}")

    def abs(self, x: str) -> str:
        return self.let(f"call {_V} @llvm.fabs.v{LANES}f64({_V} {x})")

    def with_sign(self, x: str, sign: str) -> str:
        return self.let(f"call {_V} @llvm.copysign.v{LANES}f64({_V} {x}, {_V} {sign})")

    def test(self, predicate: str, x: str, y: str) -> str:
        return self.let(f"fcmp {predicate} {_V} {x}, {y}")

    def pick(self, condition: str, x: str, y: str) -> str:
        return self.let(f"select {_B} {condition}, {_V} {x}, {_V} {y}")

    def bits(self, x: str) -> str:
        return self.let(f"bitcast {_V} {x} to {_I}")

    def number(self, x: str) -> str:
        return self.let(f"bitcast {_I} {x} to {_V}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Of the highest power first: pairs of terms, then pairs of pairs, which do not wait."""
        terms = [self.c(each) for each in reversed(coefficients)]
        while len(terms) > 1:
            pairs = [
                self.fma(terms[k + 1], x, terms[k]) if k + 1 < len(terms) else terms[k]
                for k in range(0, len(terms), 2)
            ]
            terms = pairs
            if len(terms) > 1:
                x = self.f("mul", x, x)
        return terms[0]

    def text(self, result: str) -> str:
        given = ", ".join([f"{_V} %x{k}" for k in range(self._operands)])
        body = "\n".join(self._lines)
        return f"define {_V} @{self._name}({given}) {{\nentry:\n{body}\n  ret {_V} {result}\n}}\n"


def _power_of_two(f: _Function, k: str) -> str:
    """``2^k`` for whole ``k`` as a double."""
    shifted = f.i("add", f.bits(f.f("add", k, f.c(_ROUNDER))), f.ci(1023))
    return f.number(f.i("shl", shifted, f.ci(52)))


def _reduced_exponential(f: _Function, x: str) -> tuple[str, str, str]:
    """``n``, ``s`` and ``t``: ``x = n ln 2 + r`` and ``exp(r) - 1 = s + t``, ``|t| < |s|``."""
    x = f.pick(f.test("olt", x, f.c(-746.0)), f.c(-746.0), x)
    x = f.pick(f.test("ogt", x, f.c(711.0)), f.c(711.0), x)
    rounded = f.fma(x, f.c(1.4426950408889634), f.c(_ROUNDER))
    n = f.f("sub", rounded, f.c(_ROUNDER))
    r = f.fma(n, f.c(-_LN2[0]), x)
    low = f.f("mul", n, f.c(-_LN2[1]))
    s = f.f("add", r, low)
    lost = f.f("sub", low, f.f("sub", s, r))
    q = f.polynomial(s, [1 / math.factorial(k) for k in range(13, 1, -1)])
    return n, s, f.fma(f.f("mul", s, s), q, lost)


def _scaled(f: _Function, n: str, s: str, t: str) -> str:
    """``2^n (1 + s + t)`` by two factors: neither overflows where the product does not."""
    half = f.let(f"call {_V} @llvm.floor.v{LANES}f64({_V} {f.f('mul', n, f.c(0.5))})")
    a, b = _power_of_two(f, half), _power_of_two(f, f.f("sub", n, half))
    return f.f("mul", f.fma(f.f("add", s, t), a, a), b)


def _exp() -> str:
    f = _Function("gw_exp")
    z = _scaled(f, *_reduced_exponential(f, "%x0"))
    return f.text(f.pick(f.test("oeq", "%x0", f.c(math.inf)), f.c(math.inf), z))


def _expm1() -> str:
    """``2^n (s + t) + (2^n - 1)``; below -40 it is -1, from 2^53 on 1 counts for nothing."""
    f = _Function("gw_expm1")
    n, s, t = _reduced_exponential(f, "%x0")
    a = _power_of_two(f, n)
    less = f.f("sub", a, f.c(1.0))
    high = f.fma(s, a, less)
    # what rounding has lost: of the larger term first
    lost = f.fma(s, a, f.f("sub", less, high))
    swapped = f.f("add", f.f("sub", f.f("mul", s, a), high), less)
    lost = f.pick(f.test("olt", f.abs(less), f.abs(f.f("mul", s, a))), swapped, lost)
    near = f.f("add", high, f.fma(t, a, lost))
    z = f.pick(f.test("olt", "%x0", f.c(40.0)), near, _scaled(f, n, s, t))
    z = f.pick(f.test("olt", "%x0", f.c(-40.0)), f.c(-1.0), z)
    z = f.pick(f.test("oeq", "%x0", f.c(math.inf)), f.c(math.inf), z)
    tiny = f.test("olt", f.abs("%x0"), f.c(2.0**-54))
    return f.text(f.pick(tiny, "%x0", z))


def _logarithm(f: _Function, x: str, correction: str | None = None) -> str:
    """Of positive ``x``: ``x = 2^k (1 + f)``, and ``ln(1 + f)`` by ``s = f / (2 + f)``.

    The ``correction`` is added to what is rounded least.
    """
    tiny = f.test("olt", x, f.c(2.2250738585072014e-308))
    y = f.pick(tiny, f.f("mul", x, f.c(2.0**54)), x)
    above = f.i("sub", f.bits(y), f.ci(0x3FE6A09E00000000))  # of the root of 1/2
    biased = f.i("lshr", f.i("add", above, f.ci(1023 << 52)), f.ci(52))
    k = f.number(f.i("or", biased, f.ci(0x4330000000000000)))
    k = f.f("sub", k, f.c(4503599627370496.0 + 1023))
    k = f.pick(tiny, f.f("sub", k, f.c(54.0)), k)
    z = f.number(f.i("sub", f.bits(y), f.i("and", above, f.ci(-(1 << 52)))))
    m = f.f("sub", z, f.c(1.0))
    s = f.f("div", m, f.f("add", f.c(2.0), m))
    s2 = f.f("mul", s, s)
    r = f.f("mul", s2, f.polynomial(s2, _LOG))
    half = f.f("mul", f.c(0.5), f.f("mul", m, m))
    low = f.fma(k, f.c(_LN2[1]), f.f("mul", s, f.f("add", half, r)))
    if correction is not None:
        low = f.f("add", low, correction)
    rest = f.f("sub", f.f("sub", half, low), m)
    return f.fma(k, f.c(_LN2[0]), f.negative(rest))


def _log() -> str:
    f = _Function("gw_log")
    z = _logarithm(f, "%x0")
    z = f.pick(f.test("oeq", "%x0", f.c(0.0)), f.c(-math.inf), z)
    z = f.pick(f.test("olt", "%x0", f.c(0.0)), f.c(math.nan), z)
    z = f.pick(f.test("oeq", "%x0", f.c(math.inf)), f.c(math.inf), z)
    return f.text(f.pick(f.test("uno", "%x0", "%x0"), "%x0", z))


def _log1p() -> str:
    """``ln u + c / u`` with ``u = 1 + x`` as rounded and what that lost, ``c``."""
    f = _Function("gw_log1p")
    x = "%x0"
    u = f.f("add", f.c(1.0), x)
    large = f.test("ogt", x, f.c(1.0))
    lost = f.f("sub", x, f.f("sub", u, f.c(1.0)))
    lost = f.pick(large, f.f("sub", f.c(1.0), f.f("sub", u, x)), lost)
    lost = f.pick(f.test("olt", f.abs(x), f.c(2.0**54)), lost, f.c(0.0))
    z = _logarithm(f, u, f.f("div", lost, u))
    z = f.pick(f.test("oeq", x, f.c(-1.0)), f.c(-math.inf), z)
    z = f.pick(f.test("olt", x, f.c(-1.0)), f.c(math.nan), z)
    z = f.pick(f.test("oeq", x, f.c(math.inf)), f.c(math.inf), z)
    z = f.pick(f.test("olt", f.abs(x), f.c(2.0**-54)), x, z)
    return f.text(f.pick(f.test("uno", x, x), x, z))


def _trigonometric(name: str, quarter_turns: int) -> str:
    """``sin(x + quarter_turns pi / 2)``: of ``|x| <= pi / 4`` by fdlibm's polynomials."""
    f = _Function(f"gw_{name}")
    x = "%x0"
    t = f.fma(x, f.c(2 / math.pi), f.c(_ROUNDER))
    n, q = f.f("sub", t, f.c(_ROUNDER)), f.bits(t)
    r = f.fma(n, f.c(-_HALF_PI[0]), x)
    w = f.f("mul", n, f.c(_HALF_PI[1]))
    y = f.f("sub", r, w)
    # what subtracting w has lost, and what w itself lacks
    low = f.f("sub", f.f("sub", r, y), w)
    low = f.fma(n, f.c(-_HALF_PI[2]), low)
    low = f.f("sub", low, f.fma(n, f.c(_HALF_PI[1]), f.negative(w)))
    z = f.f("mul", y, y)
    v = f.f("mul", z, y)
    tail = f.f("sub", f.f("mul", f.c(0.5), low), f.f("mul", v, f.polynomial(z, _SIN[:-1])))
    a = f.f("sub", f.f("mul", z, tail), low)
    sine = f.f("sub", y, f.fma(v, f.c(-_SIN[-1]), a))
    half = f.f("mul", f.c(0.5), z)
    whole = f.f("sub", f.c(1.0), half)
    rest = f.f("sub", f.f("sub", f.c(1.0), whole), half)
    powers = f.f("mul", z, f.f("mul", z, f.polynomial(z, _COS)))
    cosine = f.f("add", whole, f.f("add", rest, f.f("sub", powers, f.f("mul", y, low))))
    if quarter_turns:
        q = f.i("add", q, f.ci(quarter_turns))
    odd = f.let(f"trunc {_I} {q} to {_B}")
    result = f.pick(odd, cosine, sine)
    sign = f.i("shl", f.i("and", q, f.ci(2)), f.ci(62))
    result = f.number(f.i("xor", f.bits(result), sign))
    if not quarter_turns:  # keeps the sign of zero
        result = f.pick(f.test("oeq", x, f.c(0.0)), x, result)
    far = f.test("uge", f.abs(x), f.c(_FAR))
    some = f.let(f"call i1 @llvm.vector.reduce.or.v{LANES}i1({_B} {far})")
    f.do(f"  br i1 {some}, label %far, label %near")
    f.do(f"near:\n  ret {_V} {result}\nfar:")
    for lane in range(LANES):
        each = f.let(f"extractelement {_V} {x}, i32 {lane}")
        exact = f.let(f"call double @{name}(double {each})")
        held = f.let(f"extractelement {_B} {far}, i32 {lane}")
        old = f.let(f"extractelement {_V} {result}, i32 {lane}")
        new = f.let(f"select i1 {held}, double {exact}, double {old}")
        result = f.let(f"insertelement {_V} {result}, double {new}, i32 {lane}")
    return f.text(result)


def _tanh() -> str:
    """``1 - 2 / (exp(2 |x|) + 1)``, near 0 by Cephes' rational function."""
    f = _Function("gw_tanh")
    x = "%x0"
    size = f.abs(x)
    e = _scaled(f, *_reduced_exponential(f, f.f("mul", f.c(2.0), size)))
    e = f.f("add", e, f.c(1.0))
    far = f.with_sign(f.f("sub", f.c(1.0), f.f("div", f.c(2.0), e)), x)
    z = f.f("mul", x, x)
    q = f.fma(f.f("add", z, f.c(_TANH_Q[0])), z, f.c(_TANH_Q[1]))
    q = f.fma(q, z, f.c(_TANH_Q[2]))
    near = f.fma(f.f("mul", x, z), f.f("div", f.polynomial(z, _TANH_P), q), x)
    z = f.pick(f.test("ult", size, f.c(0.625)), near, far)
    return f.text(f.pick(f.test("oeq", x, f.c(0.0)), x, z))  # keeps the sign of zero


def _by_lane(name: str, operands: int) -> str:
    f = _Function(f"gw_{name}", operands)
    result = "poison"
    for lane in range(LANES):
        given = [f.let(f"extractelement {_V} %x{k}, i32 {lane}") for k in range(operands)]
        each = f.let(f"call double @{name}({', '.join([f'double {x}' for x in given])})")
        result = f.let(f"insertelement {_V} {result}, double {each}, i32 {lane}")
    return f.text(result)


NAMES = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh", *_BY_LANE)


@cache
def library() -> str:
    """The text of all functions."""
    made = [_exp(), _expm1(), _log(), _log1p(), _tanh()]
    made += [_trigonometric("sin", 0), _trigonometric("cos", 1)]
    made += [_by_lane(name, operands) for name, operands in _BY_LANE.items()]
    declared = [f"declare double @{name}(double)" for name in ("sin", "cos")]
    for name, operands in _BY_LANE.items():
        declared.append(f"declare double @{name}({', '.join(['double'] * operands)})")
    declared += [f"declare {_V} @llvm.{name}.v{LANES}f64({_V})" for name in ("fabs", "floor")]
    declared.append(f"declare {_V} @llvm.copysign.v{LANES}f64({_V}, {_V})")
    declared.append(f"declare {_V} @llvm.fma.v{LANES}f64({_V}, {_V}, {_V})")
    declared.append(f"declare i1 @llvm.vector.reduce.or.v{LANES}i1({_B})")
    return "\n".join([*declared, *made])
