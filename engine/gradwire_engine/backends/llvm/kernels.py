"""Groups of instructions that are computed by machine code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.backends.llvm.calls import Given, in_pieces, nbytes, whole
from gradwire_engine.backends.llvm.chunked_loop import ChunkedLoop
from gradwire_engine.backends.llvm.compiler import Code, Source
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.backends.llvm.spans import STEPS_BETWEEN_POLLS, spans_of
from gradwire_engine.backends.reference.loops import stack_check
from gradwire_engine.backends.walk.buffers import POOLED_BYTES
from gradwire_engine.backends.walk.contraction import lowered
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.form import COMPLEX, FLOATS, HALVES, Kernel
from gradwire_engine.kernels.loop_splitting import split
from gradwire_engine.kernels.partition import Part
from gradwire_engine.kernels.stacks import passes_of
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant, Item
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, StackType, Tape, Type

#: The average number of times that nodes are computed from which on optimised code saves enough.
_OPTIMISED_STEPS = 64


class NativeKernel(FusedGroup):
    """A function for the instructions of a ``part`` of ``tape``, once its code is loaded."""

    name = "native"

    def __init__(
        self,
        tape: Tape,
        made: Sequence[Instruction],
        views: Views,
        part: Part,
        outputs: Collection[int],
    ) -> None:
        self.slots, self.results = part
        self.instructions = [tape.instructions[slot] for slot in part.slots]
        self._shapes = [made[slot].type.shape for slot in part.results]  # type: ignore[union-attr]
        returned = [s for s in part.results if s in outputs and _is_floating(made[s].type)]
        large = [s for s in returned if made[s].type.nbytes >= POOLED_BYTES]
        order_of = partial(_order_of, made)
        builder = KernelBuilder(made, views, part.slots, part.results, large, order_of)
        form = split(builder.kernel())
        given = builder.memory.operands
        self.operands = [operand.slot for operand in given]
        kinds = [tape.instructions[slot].type for slot in self.operands]
        stacks = [number for number, kind in enumerate(kinds) if isinstance(kind, StackType)]
        orders = [operand.order for operand in given]
        self._given = Given(orders, stacks, builder.memory.constants)
        self._passing = self._counted(made, form)
        #: Whether it takes so long that one has to look at the deadline meanwhile.
        self._is_long = form.steps > STEPS_BETWEEN_POLLS or self._passing is not None
        self.polls = self._is_long
        self.form = form._replace(local=0) if self._is_long else form
        checked = [*builder.checked]
        if not self._is_long:  # what a call makes it looks through
            small = [s for s in returned if made[s].type.nbytes < POOLED_BYTES]
            checked += [s for s in small if made[s].type.dtype.char not in HALVES]  # type: ignore[union-attr]
        self.checked = frozenset([part.results.index(slot) for slot in checked])
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        pieces = self.form.pieces(STEPS_BETWEEN_POLLS) if self._is_long else [self.form]
        self._pieces = [_Piece.of(piece) for piece in pieces]

    def __str__(self) -> str:
        return f"native[{len(self.slots)} instructions]"

    @property
    def nbytes(self) -> int:
        """Bytes of the temporaries."""
        form = self.form
        own = {*range(form.operands, form.passed)}
        own -= {*form.flags, *form.faults, *[place.buffer for place in form.results]}
        sizes: list[int] = [nbytes(form.buffers[number]) for number in own]
        return sum(sizes)

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


def _is_floating(kind: Type) -> bool:
    return isinstance(kind, ArrayType) and kind.dtype.char in FLOATS + COMPLEX + HALVES
