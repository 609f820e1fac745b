"""Writes functions of vectors, without branches, and arithmetic with twice the digits.

Sources: Dekker, A Floating-Point Technique for Extending the Available Precision (1971); Knuth, The
Art of Computer Programming, volume 2, section 4.2.2, for sums; products are exact by fma.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

#: Elements of a vector: two registers with AVX2, one with AVX-512.
LANES = 8
VECTOR, INTEGERS, TRUTHS = f"<{LANES} x double>", f"<{LANES} x i64>", f"<{LANES} x i1>"
#: 1.5 2^52: adding it rounds to a whole number, which the last bits of the sum are.
ROUNDER = 6755399441055744.0
#: ln 2 in two parts, the first of so few bits that products with whole exponents are exact.
LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10


class Pair(NamedTuple):
    """A number of twice the digits: the sum of two, the second not more than a last place."""

    high: str
    low: str


class VectorFunction:
    """Writes the function ``gw_name`` of vectors."""

    def __init__(self, name: str, operands: int = 1) -> None:
        self._name, self._operands = name, operands
        self._lines: list[str] = []
        self._count = 0

    def let(self, code: str) -> str:
        """A name for the value of an instruction."""
        self._count += 1
        self._lines.append(f"  %t{self._count} = {code}")
        return f"%t{self._count}"

    def do(self, line: str) -> None:
        """An instruction without a value."""
        self._lines.append(line)

    def c(self, x: float) -> str:
        """A constant in all lanes."""
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        return "<" + ", ".join([f"double 0x{bits:016X}"] * LANES) + ">"

    def ci(self, x: int) -> str:
        """The same of an integer."""
        return "<" + ", ".join([f"i64 {x}"] * LANES) + ">"

    def add(self, x: str, y: str) -> str:
        """``x + y``."""
        return self.let(f"fadd {VECTOR} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        """``x - y``."""
        return self.let(f"fsub {VECTOR} {x}, {y}")

    def mul(self, x: str, y: str) -> str:
        """``x y``."""
        return self.let(f"fmul {VECTOR} {x}, {y}")

    def div(self, x: str, y: str) -> str:
        """``x / y``."""
        return self.let(f"fdiv {VECTOR} {x}, {y}")

    def i(self, operation: str, x: str, y: str) -> str:
        """Arithmetic on integers."""
        return self.let(f"{operation} {INTEGERS} {x}, {y}")

    def fma(self, x: str, y: str, z: str) -> str:
        """``x y + z``, rounded once."""
        given = ", ".join([f"{VECTOR} {each}" for each in (x, y, z)])
        return self.let(f"call {VECTOR} @llvm.fma.v{LANES}f64({given})")

    def negative(self, x: str) -> str:
        """``-x``."""
        return self.let(f"fneg {VECTOR} {x}")

    def one(self, function: str, x: str) -> str:
        """A function that processors have: fabs, floor, rint, sqrt."""
        return self.let(f"call {VECTOR} @llvm.{function}.v{LANES}f64({VECTOR} {x})")

    def abs(self, x: str) -> str:
        """``|x|``."""
        return self.one("fabs", x)

    def with_sign(self, x: str, sign: str) -> str:
        """``|x|`` with the sign of another."""
        return self.let(f"call {VECTOR} @llvm.copysign.v{LANES}f64({VECTOR} {x}, {VECTOR} {sign})")

    def test(self, predicate: str, x: str, y: str) -> str:
        """A comparison, by LLVM's names."""
        return self.let(f"fcmp {predicate} {VECTOR} {x}, {y}")

    def both(self, x: str, y: str) -> str:
        """True if two conditions hold."""
        return self.let(f"and {TRUTHS} {x}, {y}")

    def either(self, x: str, y: str) -> str:
        """True if one of two conditions holds."""
        return self.let(f"or {TRUTHS} {x}, {y}")

    def pick(self, condition: str, x: str, y: str) -> str:
        """``x`` where a condition holds, else ``y``."""
        return self.let(f"select {TRUTHS} {condition}, {VECTOR} {x}, {VECTOR} {y}")

    def least(self, x: str, bound: float) -> str:
        """``x``, but not less than a bound; NaN stays."""
        return self.pick(self.test("olt", x, self.c(bound)), self.c(bound), x)

    def most(self, x: str, bound: float) -> str:
        """``x``, but not more than a bound; NaN stays."""
        return self.pick(self.test("ogt", x, self.c(bound)), self.c(bound), x)

    def bits(self, x: str) -> str:
        """The bits of numbers as integers."""
        return self.let(f"bitcast {VECTOR} {x} to {INTEGERS}")

    def number(self, x: str) -> str:
        """The numbers that bits are."""
        return self.let(f"bitcast {INTEGERS} {x} to {VECTOR}")

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
                x = self.mul(x, x)
        return terms[0]

    # Twice the digits

    def ordered_sum(self, x: str, y: str) -> Pair:
        """``x + y`` where ``x`` is 0 or not the smaller."""
        total = self.add(x, y)
        return Pair(total, self.sub(y, self.sub(total, x)))

    def exact_sum(self, x: str, y: str) -> Pair:
        """``x + y``."""
        total = self.add(x, y)
        other = self.sub(total, x)
        lost = self.sub(x, self.sub(total, other))
        return Pair(total, self.add(lost, self.sub(y, other)))

    def exact_product(self, x: str, y: str) -> Pair:
        """``x y``."""
        z = self.mul(x, y)
        return Pair(z, self.fma(x, y, self.negative(z)))

    def product(self, x: Pair, y: Pair) -> Pair:
        """``x y``, but for what the low parts make together."""
        z, lost = self.exact_product(x.high, y.high)
        return Pair(z, self.fma(x.high, y.low, self.fma(x.low, y.high, lost)))

    def quotient(self, n: Pair, d: Pair) -> Pair:
        """``n / d``, by one division."""
        inverse = self.div(self.c(1.0), d.high)
        q = self.mul(n.high, inverse)
        rest = self.add(self.fma(self.negative(q), d.high, n.high), n.low)
        return Pair(q, self.mul(self.fma(self.negative(q), d.low, rest), inverse))

    def long_polynomial(self, x: str, coefficients: Sequence[float], low: float = 0.0) -> Pair:
        """A polynomial whose last term, the largest, is added exactly; it has ``low`` beside it."""
        *others, last = coefficients
        rest, rest_low = self.exact_product(x, self.polynomial(x, others))
        high, lost = self.ordered_sum(self.c(last), rest)
        return Pair(high, self.add(lost, self.add(rest_low, self.c(low))))

    # Ends

    def any(self, condition: str) -> str:
        """True if a condition holds in some lane."""
        return self.let(f"call i1 @llvm.vector.reduce.or.v{LANES}i1({TRUTHS} {condition})")

    def return_unless(self, condition: str, result: str) -> None:
        """Return, unless a condition holds in some lane: what follows is seldom needed."""
        self.do(f"  br i1 {self.any(condition)}, label %seldom, label %often")
        self.do(f"often:\n  ret {VECTOR} {result}\nseldom:")

    def by_lane(self, function: str, condition: str, result: str) -> str:
        """The C library's function of each lane, where a condition holds."""
        for lane in range(LANES):
            given = [
                self.let(f"extractelement {VECTOR} %x{k}, i32 {lane}")
                for k in range(self._operands)
            ]
            each = self.let(f"call double @{function}({', '.join([f'double {x}' for x in given])})")
            held = self.let(f"extractelement {TRUTHS} {condition}, i32 {lane}")
            old = self.let(f"extractelement {VECTOR} {result}, i32 {lane}")
            each = self.let(f"select i1 {held}, double {each}, double {old}")
            result = self.let(f"insertelement {VECTOR} {result}, double {each}, i32 {lane}")
        return result

    def text(self, result: str) -> str:
        """The whole text."""
        given = ", ".join([f"{VECTOR} %x{k}" for k in range(self._operands)])
        body = "\n".join(self._lines)
        return (
            f"define {VECTOR} @gw_{self._name}({given}) {{\nentry:\n{body}\n"
            f"  ret {VECTOR} {result}\n}}\n"
        )


def power_of_two(f: VectorFunction, k: str) -> str:
    """``2^k`` for whole ``k`` as a double."""
    shifted = f.i("add", f.bits(f.add(k, f.c(ROUNDER))), f.ci(1023))
    return f.number(f.i("shl", shifted, f.ci(52)))


def passing_nan(f: VectorFunction, x: str, result: str) -> str:
    """The result, or ``x`` where that is NaN."""
    return f.pick(f.test("uno", x, x), x, result)


INF, NAN = math.inf, math.nan
