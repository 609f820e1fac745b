"""Functions of numbers and of vectors of them, as instructions and calls.

Integers behave as NumPy's: sums and products wrap, a quotient by 0 is 0, a shift by more bits than
there are leaves none.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from gradwire_engine.backends.llvm.functions.forms import LANES, VECTORS
from gradwire_engine.backends.llvm.functions.library import number_symbol, symbol
from gradwire_engine.backends.llvm.halves import Halves
from gradwire_engine.backends.llvm.writer import TYPES, Writer, constant, type_of, zero
from gradwire_engine.kernels.form import HALVES

_ARITHMETIC = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}
_COMPARED = {
    "equal": ("oeq", "eq"),
    "not_equal": ("une", "ne"),
    "less": ("olt", "slt"),
    "less_equal": ("ole", "sle"),
    "greater": ("ogt", "sgt"),
    "greater_equal": ("oge", "sge"),
}
_BITS = {"and": "and", "or": "or"}
_BITS |= {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
#: Functions that processors have.
_INTRINSIC = {
    "sqrt": "sqrt",
    "fabs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "round": "rint",
    "copysign": "copysign",
    "fma": "fma",
}
_WIDTHS = {"l": 64, "i": 32}


class Arithmetic:
    """Writes functions of values."""

    def __init__(self, writer: Writer) -> None:
        self._p = writer
        self.halves = Halves(writer)

    def splat(self, value: str, char: str) -> str:
        """A vector of a number."""
        p, vector = self._p, type_of(char, wide=True)
        first = p.let(f"insertelement {vector} poison, {TYPES[char]} {value}, i32 0")
        return p.let(
            f"shufflevector {vector} {first}, {vector} poison, <{LANES} x i32> zeroinitializer"
        )

    def constant(self, number: float, char: str, *, wide: bool) -> str:
        """A number that is written."""
        each = constant(number, char)
        return f"<{', '.join([f'{TYPES[char]} {each}'] * LANES)}>" if wide else each

    def apply(
        self, function: str, operands: list[str], chars: list[str], char: str, *, wide: bool
    ) -> str:
        """A function of values of these dtypes, which has the dtype ``char``."""
        p, kind = self._p, type_of(chars[0], wide=wide)
        listed = ", ".join(operands)
        floating = chars[0] in "df"
        if function in _ARITHMETIC:
            return p.let(f"{'f' if floating else ''}{_ARITHMETIC[function]} {kind} {listed}")
        if function in _COMPARED:
            by = _COMPARED[function][not floating]
            if chars[0] == "?" and function not in ("equal", "not_equal"):
                by = by.replace("s", "u", 1)
            return p.let(f"{'fcmp' if floating else 'icmp'} {by} {kind} {listed}")
        if function == "negative":
            return p.let(
                f"fneg {kind} {listed}" if floating else f"sub {kind} {zero(wide=wide)}, {listed}"
            )
        if function == "where":
            condition, x, y = operands
            return self._select(condition, x, y, type_of(char, wide=wide))
        if function in _BITS:
            return p.let(f"{_BITS[function]} {kind} {listed}")
        if function in ("not", "invert"):
            flipped = self.constant(1 if chars[0] == "?" else -1, chars[0], wide=wide)
            return p.let(f"xor {kind} {operands[0]}, {flipped}")
        if function == "convert":
            return self._convert(operands[0], chars[0], char, wide=wide)
        if function in ("isnan", "isinf", "isfinite"):
            return self._test(function, operands[0], chars[0], wide=wide)
        if floating:
            return self._call(function, operands, char, wide=wide)
        if function in ("left_shift", "right_shift"):
            return self._shift(function, operands, char, wide=wide)
        if function in ("floor_divide", "remainder"):
            return self._divide(function, operands, char, wide=wide)
        assert function == "fabs", function
        opposite = p.let(f"sub {kind} {zero(wide=wide)}, {operands[0]}")
        below = p.let(f"icmp slt {kind} {operands[0]}, {zero(wide=wide)}")
        return self._select(below, opposite, operands[0], kind)

    def _select(self, condition: str, x: str, y: str, kind: str) -> str:
        truth = type_of("?", wide=kind.startswith("<"))
        return self._p.let(f"select {truth} {condition}, {kind} {x}, {kind} {y}")

    # Integers

    def _shift(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        p, kind, (x, by) = self._p, type_of(char, wide=wide), operands
        bits = _WIDTHS[char]
        within = p.let(f"icmp ult {kind} {by}, {self.constant(bits, char, wide=wide)}")
        # what is shifted out leaves 0, or the sign
        by = self._select(within, by, self.constant(bits - 1, char, wide=wide), kind)
        if function == "right_shift":
            return p.let(f"ashr {kind} {x}, {by}")
        shifted = p.let(f"shl {kind} {x}, {by}")
        return self._select(within, shifted, self.constant(0, char, wide=wide), kind)

    def _divide(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        """Rounded down. Processors trap at division by 0, and at that of the least number by -1."""
        p, kind, (x, y) = self._p, type_of(char, wide=wide), operands
        nothing, one = (self.constant(k, char, wide=wide) for k in (0, 1))
        by_zero = p.let(f"icmp eq {kind} {y}, {nothing}")
        turns = p.let(f"icmp eq {kind} {y}, {self.constant(-1, char, wide=wide)}")
        truth = type_of("?", wide=wide)
        special = p.let(f"or {truth} {by_zero}, {turns}")
        safe = self._select(special, one, y, kind)
        q = p.let(f"sdiv {kind} {x}, {safe}")
        rest = p.let(f"sub {kind} {x}, {p.let(f'mul {kind} {q}, {safe}')}")
        signs = p.let(f"xor {kind} {rest}, {safe}")
        apart = p.let(f"icmp slt {kind} {signs}, {nothing}")
        some = p.let(f"icmp ne {kind} {rest}, {nothing}")
        down = p.let(f"and {truth} {apart}, {some}")
        if function == "remainder":
            return self._select(down, p.let(f"add {kind} {rest}, {safe}"), rest, kind)
        q = self._select(down, p.let(f"sub {kind} {q}, {one}"), q, kind)
        q = self._select(turns, p.let(f"sub {kind} {nothing}, {x}"), q, kind)
        return self._select(by_zero, nothing, q, kind)

    # Conversions

    def _convert(self, x: str, source: str, char: str, *, wide: bool) -> str:
        if source in HALVES:
            x, source = self.halves.single(x, source, wide=wide), "f"
        if char in HALVES:
            x = x if source == "f" else self._convert(x, source, "f", wide=wide)
            return self.halves.half(x, char, wide=wide)
        if source == char:
            return x
        p, kind, to = self._p, type_of(source, wide=wide), type_of(char, wide=wide)
        if char == "?":
            test = "fcmp une" if source in "df" else "icmp ne"
            return p.let(f"{test} {kind} {x}, {self.constant(0, source, wide=wide)}")
        if source in "df" and char in _WIDTHS:
            return self._truncate(x, source, char, wide=wide)
        by = {
            ("f", "d"): "fpext",
            ("d", "f"): "fptrunc",
            ("l", "i"): "trunc",
            ("i", "l"): "sext",
        }.get((source, char))
        if by is None:
            signed = source != "?"
            by = ("sitofp" if signed else "uitofp") if char in "df" else "zext"
        return p.let(f"{by} {kind} {x} to {to}")

    def _truncate(self, x: str, source: str, char: str, *, wide: bool) -> str:
        """Towards 0; the least integer of what none is, as processors have it."""
        p, kind, to = self._p, type_of(source, wide=wide), type_of(char, wide=wide)
        bits = _WIDTHS[char]
        ends = -(2.0 ** (bits - 1)), 2.0 ** (bits - 1)
        low, high = (self.constant(end, source, wide=wide) for end in ends)
        whole = self._call("trunc", [x], source, wide=wide)
        above = p.let(f"fcmp oge {kind} {whole}, {low}")
        below = p.let(f"fcmp olt {kind} {whole}, {high}")
        held = p.let(f"and {type_of('?', wide=wide)} {above}, {below}")
        safe = self._select(held, whole, self.constant(0, source, wide=wide), kind)
        least = self.constant(-(1 << (bits - 1)), char, wide=wide)
        return self._select(held, p.let(f"fptosi {kind} {safe} to {to}"), least, to)

    # Floating numbers

    def _test(self, function: str, x: str, char: str, *, wide: bool) -> str:
        p, kind = self._p, type_of(char, wide=wide)
        if function == "isnan":
            return p.let(f"fcmp uno {kind} {x}, {x}")
        size = self._call("fabs", [x], char, wide=wide)
        infinite = self.constant(inf, char, wide=wide)
        return p.let(f"fcmp {'oeq' if function == 'isinf' else 'olt'} {kind} {size}, {infinite}")

    def _call(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        kind = type_of(char, wide=wide)
        if function in _INTRINSIC:
            width = f"v{LANES}" if wide else ""
            name = f"llvm.{_INTRINSIC[function]}.{width}f{64 if char == 'd' else 32}"
            return self._written(name, operands, kind)
        return self._library(function, operands, char, wide=wide)

    def _library(self, function: str, operands: list[str], char: str, *, wide: bool) -> str:
        """One of our own functions, of numbers the C library's: of doubles."""
        p, kind = self._p, type_of(char, wide=wide)
        if char == "f":
            double = type_of("d", wide=wide)
            operands = [p.let(f"fpext {kind} {x} to {double}") for x in operands]
            z = self._library(function, operands, "d", wide=wide)
            return p.let(f"fptrunc {double} {z} to {kind}")
        return self._written(
            symbol(function, VECTORS) if wide else number_symbol(function), operands, kind
        )

    def _written(self, name: str, operands: Iterable[str], kind: str) -> str:
        given = [f"{kind} {x}" for x in operands]
        self._p.declare(f"{kind} @{name}({', '.join([kind] * len(given))})")
        return self._p.let(f"call {kind} @{name}({', '.join(given)})")
