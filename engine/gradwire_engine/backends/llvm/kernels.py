"""Groups of instructions that are computed by machine code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from gradwire_engine.backends.kernel_group import KernelGroup
from gradwire_engine.backends.llvm.calls import Given, in_pieces, whole
from gradwire_engine.backends.llvm.chunked_loop import ChunkedLoop
from gradwire_engine.backends.llvm.compiler import Code, Source
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.backends.llvm.spans import STEPS_BETWEEN_POLLS, spans_of
from gradwire_engine.backends.reference.loops import stack_check
from gradwire_engine.backends.walk.buffers import POOLED_BYTES
from gradwire_engine.backends.walk.contraction import lowered
from gradwire_engine.kernels.form import HALVES, Kernel
from gradwire_engine.kernels.loop_splitting import split
from gradwire_engine.kernels.partition import Part, Partition
from gradwire_engine.kernels.stacks import passes_of
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant, Item
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, StackType

#: The average number of times that nodes are computed from which on optimised code saves enough.
_OPTIMISED_STEPS = 64


class NativeKernel(KernelGroup):
    """A function for the instructions of a part of a tape, once its code is loaded."""

    name = "native"

    def __init__(self, of: Partition, part: Part, outputs: Collection[int]) -> None:
        made = of.dense
        super().__init__(of, part, outputs, POOLED_BYTES, partial(_order_of, made))
        form = split(self.form)
        kinds = [of.tape.instructions[slot].type for slot in self.operands]
        stacks = [number for number, kind in enumerate(kinds) if isinstance(kind, StackType)]
        self._given = Given(self._orders, stacks, self._constants)
        self._passing = self._counted(made, form)
        #: Whether it takes so long that one has to look at the deadline meanwhile.
        self._is_long = form.steps > STEPS_BETWEEN_POLLS or self._passing is not None
        self.polls = self._is_long
        self.form = form._replace(local=0) if self._is_long else form
        if not self._is_long:  # what a call makes it looks through
            small = [s for s in self._returned if made[s].type.nbytes < POOLED_BYTES]
            small = [s for s in small if made[s].type.dtype.char not in HALVES]  # type: ignore[union-attr]
            self.checked |= {*map(self.results.index, small)}
        pieces = self.form.pieces(STEPS_BETWEEN_POLLS) if self._is_long else [self.form]
        self._pieces = [_Piece.of(piece) for piece in pieces]

    @property
    def nbytes(self) -> int:
        """Bytes of the temporaries."""
        form = self.form
        own = {*range(form.operands, form.passed)}
        own -= {*form.flags, *form.faults, *[place.buffer for place in form.results]}
        return sum([form.buffers[number].nbytes for number in own])

    @property
    def sources(self) -> list[Source]:
        """The texts to be compiled."""
        return [
            Source(piece.text, piece.kernel.steps >= _OPTIMISED_STEPS * piece.kernel.length)
            for piece in self._pieces
        ]

    def load(self, codes: Sequence[Code], threads: int = 1) -> None:
        """Call these functions, which have been compiled, what takes long on so many threads."""
        if self._is_long:
            pairs = zip(self._pieces, codes, strict=True)
            pieces = [(piece.kernel, piece.spans, code) for piece, code in pairs]
            own = self.form, self._given, pieces, self._shapes, self._passing
            self.function = in_pieces(*own, threads)
        else:
            self.function = whole(self.form, codes[0], self._given, self._shapes, self.checked)

    def _counted(self, made: Sequence[Instruction], form: Kernel) -> ChunkedLoop | None:
        """The count of passes, of a loop that reports how many it made."""
        op, args, _, _ = made[self.slots[0]]
        if not isinstance(op, Loop) or passes_of(made, self.slots[0]) is not None:
            return None
        total = operand = None
        if op.counted:
            count = made[args[0]].op
            if isinstance(count, Constant):
                total = int(count.value)
            else:
                operand = self.operands.index(args[0])
        ops = [made[slot].op for slot in self.results]
        numbers = [each.index for each in ops if isinstance(each, Item)]
        trips = form.results[numbers.index(op.trip_count)] if op.trip_count in numbers else None
        return ChunkedLoop(total, operand, stack_check(op), trips)


class _Piece(NamedTuple):
    """A kernel that is one function."""

    kernel: Kernel
    text: str
    #: For how many passes of its outermost loops it is called at a time.
    spans: Sequence[int]

    @classmethod
    def of(cls, kernel: Kernel) -> _Piece:
        spans = spans_of(kernel)
        return cls(kernel, Printer(kernel, "kernel", max(len(spans), 1)).text(), spans)


def _order_of(made: Sequence[Instruction], slot: int) -> tuple[int, ...] | None:
    """In which order the axes of what NumPy computes are in memory, if it is not theirs."""
    op, args, _, _ = made[slot]
    if not isinstance(op, Contract):
        return None
    x, y = (made[arg].type for arg in args)
    assert isinstance(x, ArrayType)
    assert isinstance(y, ArrayType)
    steps = lowered(op, x.shape, y.shape, x.dtype.kind).result
    if not steps or steps[-1][0] != "transpose":
        return None
    axes = steps[-1][1]
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))
