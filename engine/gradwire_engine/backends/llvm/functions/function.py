"""Writes functions, mostly without branches, and arithmetic with twice the digits.

Sources: Dekker, A Floating-Point Technique for Extending the Available Precision (1971); Knuth, The
Art of Computer Programming, volume 2, section 4.2.2, for sums; products are exact by fma.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradwire_engine.backends.llvm.functions.forms import Form, Polynomial

INF, NAN = math.inf, math.nan


class Pair(NamedTuple):
    """A number of twice the digits: the sum of two, the second not more than a last place."""

    high: str
    low: str


class Function:
    """Writes a function in a form: its operands are ``%x0``, ``%x1``, ..."""

    def __init__(self, form: Form, name: str, operands: int = 1) -> None:
        self.form = form
        self._name, self._operands = name, operands
        self._lines: list[str] = []
        self._count = 0
        self._block = "entry"

    def let(self, code: str) -> str:
        """A name for the value of an instruction."""
        self._count += 1
        self._lines.append(f"  %t{self._count} = {code}")
        return f"%t{self._count}"

    def do(self, line: str) -> None:
        """An instruction without a value."""
        self._lines.append(f"  {line}")

    def label(self, block: str) -> None:
        """Begin a block."""
        self._lines.append(f"{block}:")
        self._block = block

    def _everywhere(self, element: str) -> str:
        return "<" + ", ".join([element] * self.form.lanes) + ">"

    @property
    def block(self) -> str:
        """The block that is being written."""
        return self._block

    def c(self, x: float, single: float | None = None) -> str:
        """A constant in all lanes; of floats another one, if it is given."""
        form = self.form
        x = form.rounded(x if single is None or not form.single else single)
        # LLVM writes floats as the doubles that they are
        bits = f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
        return self._everywhere(f"{form.element} {bits}") if form.wide else bits

    def ci(self, x: int) -> str:
        """The same of an integer."""
        form = self.form
        return self._everywhere(f"{form.integer} {x}") if form.wide else str(x)

    def long(self, high: float, low: float) -> Pair:
        """A constant of twice the digits: of floats it has those of the first double."""
        if self.form.single:
            short = self.form.rounded(high)
            high, low = short, high - short + low
        return Pair(self.c(high), self.c(low))

    def add(self, x: str, y: str) -> str:
        """``x + y``."""
        return self.let(f"fadd {self.form.numbers} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        """``x - y``."""
        return self.let(f"fsub {self.form.numbers} {x}, {y}")

    def mul(self, x: str, y: str) -> str:
        """``x y``."""
        return self.let(f"fmul {self.form.numbers} {x}, {y}")

    def div(self, x: str, y: str) -> str:
        """``x / y``."""
        return self.let(f"fdiv {self.form.numbers} {x}, {y}")

    def i(self, operation: str, x: str, y: str) -> str:
        """Arithmetic on integers."""
        return self.let(f"{operation} {self.form.integers} {x}, {y}")

    def intrinsic(self, function: str, *xs: str) -> str:
        """A function that processors have."""
        kind = self.form.numbers
        given = ", ".join([f"{kind} {x}" for x in xs])
        return self.let(f"call {kind} @llvm.{function}.{self.form.suffix}({given})")

    def call(self, name: str, *xs: str) -> str:
        """Another function of this form."""
        kind = self.form.numbers
        given = ", ".join([f"{kind} {x}" for x in xs])
        return self.let(f"call {kind} @{self.form.prefix}{name}({given})")

    def fma(self, x: str, y: str, z: str) -> str:
        """``x y + z``, rounded once."""
        return self.intrinsic("fma", x, y, z)

    def negative(self, x: str) -> str:
        """``-x``."""
        return self.let(f"fneg {self.form.numbers} {x}")

    def abs(self, x: str) -> str:
        """``|x|``."""
        return self.intrinsic("fabs", x)

    def with_sign(self, x: str, sign: str) -> str:
        """``|x|`` with the sign of another."""
        return self.intrinsic("copysign", x, sign)

    def test(self, predicate: str, x: str, y: str) -> str:
        """A comparison, by LLVM's names."""
        return self.let(f"fcmp {predicate} {self.form.numbers} {x}, {y}")

    def both(self, x: str, y: str) -> str:
        """True if two conditions hold."""
        return self.let(f"and {self.form.truths} {x}, {y}")

    def either(self, x: str, y: str) -> str:
        """True if one of two conditions holds."""
        return self.let(f"or {self.form.truths} {x}, {y}")

    def pick(self, condition: str, x: str, y: str) -> str:
        """``x`` where a condition holds, else ``y``."""
        form = self.form
        return self.let(f"select {form.truths} {condition}, {form.numbers} {x}, {form.numbers} {y}")

    def least(self, x: str, bound: float, single: float | None = None) -> str:
        """``x``, but not less than a bound; NaN stays."""
        end = self.c(bound, single)
        return self.pick(self.test("olt", x, end), end, x)

    def most(self, x: str, bound: float, single: float | None = None) -> str:
        """``x``, but not more than a bound; NaN stays."""
        end = self.c(bound, single)
        return self.pick(self.test("ogt", x, end), end, x)

    def bits(self, x: str) -> str:
        """The bits of numbers as integers."""
        return self.let(f"bitcast {self.form.numbers} {x} to {self.form.integers}")

    def number(self, x: str) -> str:
        """The numbers that bits are."""
        return self.let(f"bitcast {self.form.integers} {x} to {self.form.numbers}")

    def polynomial(self, x: str, coefficients: Polynomial | Sequence[float]) -> str:
        """Of the highest power first: pairs of terms, then pairs of pairs, which do not wait.

        Of floats by Horner's rule: GPUs need not wait, and it takes the fewest instructions.
        """
        if isinstance(coefficients, Polynomial):
            coefficients = coefficients.of(self.form)
        terms = [self.c(each) for each in reversed(coefficients)]
        while self.form.single and len(terms) > 1:
            *terms, second, first = terms
            terms.append(self.fma(first, x, second))
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

    def long_polynomial(self, x: str, coefficients: Polynomial) -> Pair:
        """A polynomial whose last term, the largest, is added exactly, with all that it has."""
        *others, _ = coefficients.of(self.form)
        rest, rest_low = self.exact_product(x, self.polynomial(x, others))
        constant = self.long(coefficients.double[-1], coefficients.low)
        high, lost = self.ordered_sum(constant.high, rest)
        return Pair(high, self.add(lost, self.add(rest_low, constant.low)))

    # Ends

    def any(self, condition: str) -> str:
        """True if a condition holds in some lane."""
        form = self.form
        if not form.wide:
            return condition
        name = f"llvm.vector.reduce.or.v{form.lanes}i1"
        return self.let(f"call i1 @{name}({form.truths} {condition})")

    def return_unless(self, condition: str, result: str) -> None:
        """Return, unless a condition holds in some lane: what follows is seldom needed."""
        self.do(f"br i1 {self.any(condition)}, label %seldom, label %often")
        self.label("often")
        self.do(f"ret {self.form.numbers} {result}")
        self.label("seldom")

    def instead(
        self,
        condition: str,
        kinds: Sequence[str],
        often: Sequence[str],
        seldom: Callable[[], Sequence[str]],
    ) -> list[str]:
        """Values of these types, where a condition holds others that take a branch."""
        before = self._block
        self.do(f"br i1 {condition}, label %seldom, label %onward")
        self.label("seldom")
        others = seldom()
        after = self._block
        self.do("br label %onward")
        self.label("onward")
        return [
            self.let(f"phi {kind} [ {x}, %{before} ], [ {y}, %{after} ]")
            for kind, x, y in zip(kinds, often, others, strict=True)
        ]

    def by_lane(self, function: str, condition: str, result: str) -> str:
        """The C library's function of each lane, where a condition holds."""
        form = self.form
        for lane in range(form.lanes):
            given = [
                self.let(f"extractelement {form.numbers} %x{k}, i32 {lane}")
                for k in range(self._operands)
            ]
            each = self.let(f"call double @{function}({', '.join([f'double {x}' for x in given])})")
            held = self.let(f"extractelement {form.truths} {condition}, i32 {lane}")
            old = self.let(f"extractelement {form.numbers} {result}, i32 {lane}")
            each = self.let(f"select i1 {held}, double {each}, double {old}")
            result = self.let(f"insertelement {form.numbers} {result}, double {each}, i32 {lane}")
        return result

    def text(self, result: str, kind: str | None = None) -> str:
        """The whole text; the result has another type than operands, if one is given."""
        numbers = self.form.numbers
        given = ", ".join([f"{numbers} %x{k}" for k in range(self._operands)])
        body = "\n".join(self._lines)
        return (
            f"define {kind or numbers} @{self.form.prefix}{self._name}({given}) {{\nentry:\n"
            f"{body}\n  ret {kind or numbers} {result}\n}}\n"
        )


def stored(f: Function, x: str) -> tuple[str, str]:
    """A positive number's exponent and digits as they are stored, as integers of 64 bits."""
    form, bits = f.form, f.bits(x)
    if form.single:
        bits = f.let(f"zext i32 {bits} to i64")
    exponent = f.let(f"lshr i64 {bits}, {form.digits}")
    return exponent, f.let(f"and i64 {bits}, {(1 << form.digits) - 1}")


def power_of_two(f: Function, k: str) -> str:
    """``2^k`` for whole ``k`` as a number."""
    form = f.form
    shifted = f.i("add", f.bits(f.add(k, f.c(form.rounder))), f.ci(form.bias))
    return f.number(f.i("shl", shifted, f.ci(form.digits)))


def passing_nan(f: Function, x: str, result: str) -> str:
    """The result, or ``x`` where that is NaN."""
    return f.pick(f.test("uno", x, x), x, result)
