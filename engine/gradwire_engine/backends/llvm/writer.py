"""Lines of LLVM's intermediate representation, and how types and numbers are written in them."""

from __future__ import annotations

import struct

from gradwire_engine.backends.llvm.functions import forms
from gradwire_engine.kernels.form import LEAST_ARGUMENT, For, Kernel, Nest, Step

#: Of the integers that are arguments the first are where the outermost loop begins and ends, how
#: many passes it makes in all, and where each further loop begins and ends that is ``bounded``.
BOUNDS = 3
#: Elements of a vector.
LANES = forms.LANES
#: LLVM's types of elements in registers and in memory, of halves as bits.
TYPES = {"d": "double", "f": "float", "e": "i16", "E": "i16", "l": "i64", "i": "i32", "?": "i1"}
MEMORY = {**TYPES, "?": "i8"}
#: Endings of names of LLVM's functions that take elements in memory, and their bytes.
SUFFIXES = {
    "double": "f64",
    "float": "f32",
    "i64": "i64",
    "i32": "i32",
    "i16": "i16",
    "i8": "i8",
}
SIZES = {"double": 8, "float": 4, "i64": 8, "i32": 4, "i16": 2, "i8": 1}


def constant(value: float, char: str) -> str:
    """A number of a dtype."""
    if char == "?":
        return "true" if value else "false"
    if char in "li":
        return str(int(value))
    if char == "f":  # written as the double that it is
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def type_of(char: str, *, wide: bool) -> str:
    """The type of a number, or of a vector of them."""
    return f"<{LANES} x {TYPES[char]}>" if wide else TYPES[char]


def lanes(by: int) -> str:
    """``by`` times the number of each lane, as a constant."""
    return f"<{', '.join([f'i64 {lane * by}' for lane in range(LANES)])}>"


def zero(*, wide: bool) -> str:
    """The integer 0."""
    return "zeroinitializer" if wide else "0"


def _is_ranged(step: Step) -> bool:
    """True if some passes of the outermost loop can be made, and others later."""
    if isinstance(step, Nest):
        return bool(step.lengths) and (step.kept > 0 or not step.carries)
    return isinstance(step, For)


def bounds_of(bounded: int) -> int:
    """The number of integers that say where loops begin and end, if so many are bounded."""
    return BOUNDS + 2 * (bounded - 1)


class Writer:
    """The lines of a function, the functions that it calls, and its arguments' names."""

    def __init__(self, kernel: Kernel, bounded: int = 1) -> None:
        self.lines: list[str] = []
        #: The number of loops of the only nest, outermost first, that begin and end at arguments.
        self.bounded = bounded
        self.declared: set[str] = set()
        self.integers = {n: number + bounds_of(bounded) for n, number in kernel.integers().items()}
        #: Whether the outermost loop of the only nest goes from ``%begin`` to ``%end``.
        (first, *more) = kernel.nests
        self.ranged = not more and _is_ranged(first)
        self._count = 0
        self._block = "entry"

    def do(self, line: str) -> None:
        """An instruction without a value."""
        self.lines.append("  " + line)

    def new(self) -> int:
        """A number for names."""
        self._count += 1
        return self._count

    def let(self, code: str) -> str:
        """A name for the value of an instruction."""
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {code}")
        return name

    def reserve(self) -> int:
        """A line to be filled."""
        self.lines.append("")
        return len(self.lines) - 1

    def fill(self, line: int, code: str) -> None:
        """Write a reserved line."""
        self.lines[line] = "  " + code

    def label(self, block: str) -> None:
        """Begin a block."""
        self.lines.append(f"{block}:")
        self._block = block

    @property
    def block(self) -> str:
        """The block that is being written."""
        return self._block

    def declare(self, declaration: str) -> None:
        """A function that is called."""
        self.declared.add(f"declare {declaration}")

    def zeros(self) -> str:
        """The address of a vector of zeros."""
        made = f"constant [{8 * LANES} x i8] zeroinitializer, align {8 * LANES}"
        self.declared.add(f"@zeros = private unnamed_addr {made}")
        return "@zeros"

    def integer(self, value: int) -> str:
        """An integer: an argument, if it is not small."""
        return f"%n{self.integers[value]}" if abs(value) >= LEAST_ARGUMENT else str(value)
