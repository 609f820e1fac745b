"""The tape: a typed, straight-line list of instructions over numbered slots, as pure data.

Slot *i* holds the result of instruction *i* and is assigned once, so a tape needs no names. Every
transformation takes a tape and gives a tape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from gradwire_engine.ops.base import Op

DType: TypeAlias = np.dtype[Any]
Shape: TypeAlias = tuple[int, ...]

#: NumPy's letters for kinds of dtypes: floating numbers, of which bfloat16 alone is ``V`` as it is
#: none of NumPy's; and what gradients are for.
FLOATING, INEXACT = "fV", "fVc"


def kind_of(dtype: DType) -> str:
    """NumPy's letter for the kind of a dtype: ``f`` for bfloat16."""
    return "f" if dtype.kind in FLOATING else dtype.kind


#: A list's brackets, and the comma after it.
_LIST_BYTES = 3


class ArrayType(NamedTuple):
    """The type of an array: dtype, shape, and whether it is *weak*.

    A weak array came from literals alone and adopts the dtype of what it meets (NumPy 2's rule for
    Python numbers).
    """

    dtype: DType
    shape: Shape
    weak: bool = False

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def differentiable(self) -> bool:
        """True if values of this type form a vector space that gradients live in."""
        return self.dtype.kind in INEXACT

    def __str__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"


class TupleType(NamedTuple):
    """The type of an instruction with several results, read by ``Item`` instructions."""

    items: tuple[ArrayType | StackType, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all items."""
        return sum(item.nbytes for item in self.items)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


class StackType(NamedTuple):
    """The type of what the passes of a loop read or write: an item for each, of one type.

    How many there are is known when it is replayed. Its values are lists, or arrays of rows.
    """

    item: ArrayType

    @property
    def dtype(self) -> DType:
        """Element type of the items."""
        return self.item.dtype

    @property
    def shape(self) -> Shape:
        """Lengths of the axes of an item."""
        return self.item.shape

    @property
    def nbytes(self) -> int:
        """Bytes of one item."""
        return self.item.nbytes

    @property
    def differentiable(self) -> bool:
        """True if its items are vectors that gradients live in."""
        return self.item.differentiable

    def __str__(self) -> str:
        return f"stack of {self.item}"


Type: TypeAlias = ArrayType | TupleType | StackType


def nested_lists(shape: Shape) -> int:
    """The number of lists in the nested lists of an array: one within it for each row."""
    return sum(accumulate(shape[:-1], mul, initial=1)) if shape else 0


def answer_bytes(kind: Type) -> int:
    """Bytes of the elements in an answer, or of the brackets and commas of what has few."""
    if not isinstance(kind, ArrayType):
        return kind.nbytes
    return max(kind.nbytes, _LIST_BYTES * nested_lists(kind.shape))


def is_stack(kind: Type) -> bool:
    """True if values of this type are items of passes."""
    return isinstance(kind, StackType)


def scalar_char(kind: Type) -> str:
    """NumPy's character for the dtype of what has no axes, empty for all else."""
    return kind.dtype.char if isinstance(kind, ArrayType) and not kind.shape else ""


class Instruction(NamedTuple):
    """One operation applied to the slots ``args``; ``origin`` is the program's node it is from.

    A negative origin ``-1 - n`` marks an instruction that differentiating node ``n`` emitted.
    """

    op: Op
    args: tuple[int, ...]
    type: Type
    origin: int


@dataclass(frozen=True, slots=True)
class Tape:
    """Instructions, the slots that take the inputs in order, and the slots to return."""

    instructions: tuple[Instruction, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def __str__(self) -> str:
        lines = []
        for slot, (op, args, kind, _) in enumerate(self.instructions):
            lines.append(f"%{slot}: {kind} = {op}({', '.join(f'%{a}' for a in args)})")
        return "\n".join([*lines, f"return {', '.join(f'%{s}' for s in self.outputs)}"])


#: Called with each tape on the way from a program to the replayed one, and the name of its maker.
TapeListener: TypeAlias = Callable[[str, Tape], None]
