"""The forms that functions are written in: of vectors of doubles, of one double, of one float."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

#: Elements of a vector: two registers with AVX2, one with AVX-512.
LANES = 8


@dataclass(frozen=True)
class Form:
    """An IEEE 754 format, how many numbers of it a function takes at once, and what it is called.

    Numbers have ``digits`` bits of fraction, and exponents are stored with a ``bias``.
    """

    prefix: str
    element: str
    lanes: int
    digits: int
    bias: int

    @property
    def single(self) -> bool:
        """True if elements are floats."""
        return self.element == "float"

    @property
    def wide(self) -> bool:
        """True if functions take vectors."""
        return self.lanes > 1

    @property
    def bits(self) -> int:
        """The bits of an element."""
        return 32 if self.single else 64

    @property
    def integer(self) -> str:
        """LLVM's type of an element's bits."""
        return f"i{self.bits}"

    def _of(self, element: str) -> str:
        return f"<{self.lanes} x {element}>" if self.wide else element

    @property
    def numbers(self) -> str:
        """LLVM's type of an operand."""
        return self._of(self.element)

    @property
    def integers(self) -> str:
        """The type of its bits."""
        return self._of(self.integer)

    @property
    def truths(self) -> str:
        """The type of conditions on it."""
        return self._of("i1")

    @property
    def suffix(self) -> str:
        """The ending of names of LLVM's functions of such operands."""
        return (f"v{self.lanes}" if self.wide else "") + ("f32" if self.single else "f64")

    @property
    def ln2(self) -> tuple[float, float]:
        """Ln 2 in two parts, the first of so few bits that products with exponents are exact."""
        if self.single:
            return 0.693145751953125, 1.4286068203094172e-06
        return 6.93147180369123816490e-01, 1.90821492927058770002e-10

    @property
    def least_normal(self) -> float:
        """The least number that has all its digits."""
        return 2.0 ** (1 - self.bias)

    def rounded(self, x: float) -> float:
        """The nearest number of this format."""
        if self.single:
            (x,) = struct.unpack("<f", struct.pack("<f", x))
        return x

    @property
    def rounder(self) -> float:
        """1.5 2^digits: adding it rounds to a whole number, which the sum's last bits are."""
        return 1.5 * 2.0**self.digits


class Polynomial(NamedTuple):
    """Coefficients, the highest power's first, of doubles and of floats.

    ``low`` is what the last one of doubles lacks.
    """

    double: tuple[float, ...]
    single: tuple[float, ...]
    low: float = 0.0

    def of(self, form: Form) -> tuple[float, ...]:
        """Those of a form."""
        return self.single if form.single else self.double


VECTORS = Form("gw_", "double", LANES, 52, 1023)
DOUBLES = Form("gw_d_", "double", 1, 52, 1023)
SINGLES = Form("gw_f_", "float", 1, 23, 127)
