"""Groups of instructions that are computed by machine code."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup, Line
from gradwire_engine.backends.llvm.calls import STEPS_BETWEEN_POLLS, Whole, in_pieces, nbytes
from gradwire_engine.backends.llvm.compiler import Code, Source
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.backends.numpy.buffers import POOLED_BYTES
from gradwire_engine.backends.numpy.contraction import lowered
from gradwire_engine.kernels.build import Group
from gradwire_engine.kernels.form import Kernel
from gradwire_engine.kernels.partition import Part
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: How often nodes are computed, on average, from which on optimised code saves enough.
_OPTIMISED_STEPS = 64


class NativeKernel(FusedGroup):
    """What the instructions of a ``part`` of ``tape`` do, once its code is loaded."""

    name = "native"

    def __init__(self, tape: Tape, views: Views, part: Part, outputs: Collection[int]) -> None:
        self.slots, self.results = part
        made = tape.instructions
        self.instructions = [made[slot] for slot in part.slots]
        returned = [s for s in part.results if s in outputs and _kind(made, s).dtype.char in "df"]
        large = [s for s in returned if _kind(made, s).nbytes >= POOLED_BYTES]
        order_of = partial(_order_of, made)
        group = Group(made, views, part.slots, part.results, large, order_of)
        self.form = group.kernel()
        self.operands = [operand.slot for operand in group.operands]
        self._orders = [operand.order for operand in group.operands]
        #: Whether it takes so long that one has to look at the deadline meanwhile.
        self._is_long = self.form.steps > STEPS_BETWEEN_POLLS
        checked = [*group.checked]
        if not self._is_long:  # what a call makes it looks through
            checked += [s for s in returned if _kind(made, s).nbytes < POOLED_BYTES]
        self.checked = frozenset([part.results.index(slot) for slot in checked])
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        pieces = self.form.nests_apart() if self._is_long else [self.form]
        self._pieces = [_Piece.of(piece) for piece in pieces]
        #: Where a call is all that there is.
        self._call: Whole | None = None

    def __str__(self) -> str:
        return f"native[{len(self.slots)} instructions]"

    @property
    def nbytes(self) -> int:
        """Bytes of the temporaries."""
        form = self.form
        own = {*range(form.operands, len(form.buffers))}
        own -= {*form.flags, *[place.buffer for place in form.results]}
        sizes: list[int] = [nbytes(form.buffers[number]) for number in own]
        return sum(sizes)

    @property
    def sources(self) -> list[Source]:
        """What is to be compiled."""
        return [
            Source(piece.text, piece.kernel.steps >= _OPTIMISED_STEPS * piece.kernel.length)
            for piece in self._pieces
        ]

    def load(self, codes: Sequence[Code]) -> None:
        """Call these functions, which have been compiled."""
        shapes = [kind.shape for kind in self.infer().items]  # type: ignore[union-attr]
        if self._is_long:
            pairs = zip(self._pieces, codes, strict=True)
            pieces = [(piece.kernel, piece.ranged, code) for piece, code in pairs]
            text = in_pieces(self.form, self._orders, pieces, shapes)
        else:
            call = Whole(self.form, codes[0], shapes, self.checked)
            text = call.text(self._orders)
            if not call.lent and all(order is None for order in self._orders):
                self._call = call
        self._lines, self._passes = text.lines, text.function("native")

    def called(self, operands: Sequence[str], bind: Callable[..., str]) -> str:
        """The call itself, where there is nothing beside it."""
        return self._call.code(operands, bind) if self._call else super().called(operands, bind)

    @property
    def passes(self) -> Callable[..., tuple[Any, ...]]:
        """Python that calls them."""
        return self._passes

    @property
    def lines(self) -> Sequence[Line]:
        """The same as text."""
        return self._lines


class _Piece(NamedTuple):
    """A kernel that is one function."""

    kernel: Kernel
    text: str
    #: Whether it can be called for some of the passes of its outermost loop.
    ranged: bool

    @classmethod
    def of(cls, kernel: Kernel) -> _Piece:
        printer = Printer(kernel, "kernel")
        return cls(kernel, printer.text(), printer.ranged)


def kernels_of(tape: Tape, parts: Sequence[Part], views: Views, poll: Poll) -> list[NativeKernel]:
    """The kernels of the parts of a tape, to be compiled and loaded."""
    outputs = {*tape.outputs}
    made: list[NativeKernel] = []
    for part in parts:
        made.append(NativeKernel(tape, views, part, outputs))
        poll()
    return made


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


def _kind(made: Sequence[Instruction], slot: int) -> ArrayType:
    kind = made[slot].type
    assert isinstance(kind, ArrayType)
    return kind
