"""float16 and bfloat16 in registers: their bits, and conversions from and to float.

Rounding is to the nearest, at ties to the even one, infinities included; NaN stays NaN.
"""

from __future__ import annotations

import platform
from functools import cache

import llvmlite.binding as llvm

from gradwire_engine.backends.llvm.writer import LANES, Writer, type_of

#: Of the bits of floats: infinity; the least that are no float16; the least number of its normal
#: ones; what adding to smaller ones leaves as bits of float16; and the difference of the biases.
_INFINITE, _TOO_LARGE, _NORMAL, _SMALL, _BIASES = (
    *(0x7F800000, 0x47800000, 0x38800000),
    *(0x3F000000, 112 << 23),
)
#: Of the bits of float16: the sign, infinity, a NaN, and how many fewer there are.
_SIGN, _INFINITE_HALF, _NAN_HALF, _FEWER = 0x8000, 0x7C00, 0x7E00, 13


@cache
def _has_float16() -> bool:
    """True if the processor has instructions; else LLVM calls a library that may not be there."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    return bool(llvm.get_host_cpu_features().get("f16c"))


class Halves:
    """Writes conversions."""

    def __init__(self, writer: Writer) -> None:
        self._p = writer

    @property
    def has_float16(self) -> bool:
        """True if there are instructions for float16."""
        return _has_float16()

    def single(self, x: str, char: str, *, wide: bool) -> str:
        """The float that is such a number."""
        if char == "E":
            return self._float(self._shl(self._word(x, wide=wide), 16, wide=wide), wide=wide)
        if not self.has_float16:
            return self._of_float16(x, wide=wide)
        half = self._p.let(f"bitcast {type_of('e', wide=wide)} {x} to {_half(wide=wide)}")
        return self._p.let(f"fpext {_half(wide=wide)} {half} to {type_of('f', wide=wide)}")

    def half(self, x: str, char: str, *, wide: bool) -> str:
        """The nearest one of a float."""
        if char == "E":
            return self.bfloat16(x, wide=wide)
        if not self.has_float16:
            return self._to_float16(x, wide=wide)
        half = self._p.let(f"fptrunc {type_of('f', wide=wide)} {x} to {_half(wide=wide)}")
        return self._p.let(f"bitcast {_half(wide=wide)} {half} to {type_of('e', wide=wide)}")

    def bfloat16(self, x: str, *, wide: bool) -> str:
        """Half a unit less one is added, and one more where the last bit is odd."""
        bits = self._bits(x, wide=wide)
        odd = self._do("and", self._do("lshr", bits, 16, wide=wide), 1, wide=wide)
        near = self._do("add", self._do("add", bits, 0x7FFF, wide=wide), odd, wide=wide)
        is_nan = self._p.let(f"fcmp uno {type_of('f', wide=wide)} {x}, {x}")
        quiet = self._do("or", bits, 1 << 22, wide=wide)
        kept = self._select(is_nan, quiet, near, wide=wide)
        return self._low(self._do("lshr", kept, 16, wide=wide), wide=wide)

    # Without instructions, as Fabian Giesen's float_to_half_fast3_rtne and half_to_float_fast5

    def _of_float16(self, x: str, *, wide: bool) -> str:
        """The exponent has another bias: a product makes normal numbers of small ones."""
        p, kind, word = self._p, type_of("f", wide=wide), self._word(x, wide=wide)
        size = self._do("and", word, _SIGN - 1, wide=wide)
        moved = self._shl(size, _FEWER, wide=wide)
        power = self._float(self._same(127 + 112 << 23, wide=wide), wide=wide)
        scaled = p.let(f"fmul {kind} {self._float(moved, wide=wide)}, {power}")
        number = self._bits(scaled, wide=wide)
        beyond = self._do("or", moved, _INFINITE, wide=wide)
        infinite = self._compare("uge", size, _INFINITE_HALF, wide=wide)
        made = self._select(infinite, beyond, number, wide=wide)
        sign = self._shl(self._do("and", word, _SIGN, wide=wide), 16, wide=wide)
        return self._float(self._do("or", made, sign, wide=wide), wide=wide)

    def _to_float16(self, x: str, *, wide: bool) -> str:
        """Small ones by adding a number whose last place is that of the smallest float16."""
        p, kind, bits = self._p, type_of("f", wide=wide), self._bits(x, wide=wide)
        size = self._do("and", bits, 0x7FFFFFFF, wide=wide)
        least = self._float(self._same(_SMALL, wide=wide), wide=wide)
        added = p.let(f"fadd {kind} {self._float(size, wide=wide)}, {least}")
        small = self._do("sub", self._bits(added, wide=wide), _SMALL, wide=wide)
        odd = self._do("and", self._do("lshr", size, _FEWER, wide=wide), 1, wide=wide)
        near = self._do("add", self._do("sub", size, _BIASES - 0xFFF, wide=wide), odd, wide=wide)
        normal = self._do("lshr", near, _FEWER, wide=wide)
        is_nan = self._compare("ugt", size, _INFINITE, wide=wide)
        ends = (self._same(end, wide=wide) for end in (_NAN_HALF, _INFINITE_HALF))
        beyond = self._select(is_nan, *ends, wide=wide)
        is_small = self._compare("ult", size, _NORMAL, wide=wide)
        made = self._select(is_small, small, normal, wide=wide)
        too_large = self._compare("uge", size, _TOO_LARGE, wide=wide)
        made = self._select(too_large, beyond, made, wide=wide)
        sign = self._do("and", self._do("lshr", bits, 16, wide=wide), _SIGN, wide=wide)
        return self._low(self._do("or", made, sign, wide=wide), wide=wide)

    # Words of 32 bits

    def _same(self, value: int, *, wide: bool) -> str:
        return f"<{', '.join([f'i32 {value}'] * LANES)}>" if wide else str(value)

    def _do(self, code: str, x: str, y: str | int, *, wide: bool) -> str:
        second = self._same(y, wide=wide) if isinstance(y, int) else y
        return self._p.let(f"{code} {type_of('i', wide=wide)} {x}, {second}")

    def _shl(self, x: str, by: int, *, wide: bool) -> str:
        return self._do("shl", x, by, wide=wide)

    def _compare(self, how: str, x: str, y: int, *, wide: bool) -> str:
        return self._do(f"icmp {how}", x, y, wide=wide)

    def _select(self, condition: str, x: str, y: str, *, wide: bool) -> str:
        truth, word = type_of("?", wide=wide), type_of("i", wide=wide)
        return self._p.let(f"select {truth} {condition}, {word} {x}, {word} {y}")

    def _bits(self, x: str, *, wide: bool) -> str:
        return self._p.let(f"bitcast {type_of('f', wide=wide)} {x} to {type_of('i', wide=wide)}")

    def _float(self, x: str, *, wide: bool) -> str:
        return self._p.let(f"bitcast {type_of('i', wide=wide)} {x} to {type_of('f', wide=wide)}")

    def _word(self, x: str, *, wide: bool) -> str:
        return self._p.let(f"zext {type_of('e', wide=wide)} {x} to {type_of('i', wide=wide)}")

    def _low(self, x: str, *, wide: bool) -> str:
        return self._p.let(f"trunc {type_of('i', wide=wide)} {x} to {type_of('e', wide=wide)}")


def _half(*, wide: bool) -> str:
    """LLVM's type of float16."""
    return f"<{LANES} x half>" if wide else "half"
