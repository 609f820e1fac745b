"""Groups of instructions that are computed by machine code."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup, Line
from gradwire_engine.backends.llvm.compiler import Code, Source
from gradwire_engine.backends.llvm.printer import Printer
from gradwire_engine.backends.llvm.shim import callable_of
from gradwire_engine.backends.llvm.writer import LANES
from gradwire_engine.backends.numpy.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.numpy.contraction import lowered
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.errors import InternalError
from gradwire_engine.kernels.build import Group
from gradwire_engine.kernels.form import COMPLEX, FLOATS, Buffer, Kernel
from gradwire_engine.kernels.partition import Part
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, Shape, Tape, Type

#: Nodes that are computed in about half a millisecond, after which one looks at the deadline, and
#: in less time than it takes to let other threads run.
_STEPS_BETWEEN_POLLS = 1 << 21
_FEW_STEPS = 1 << 16
#: How often nodes are computed, on average, from which on optimised code saves enough.
_OPTIMISED_STEPS = 64


class NativeKernel(FusedGroup):
    """What the instructions of a ``part`` of ``tape`` do, once its code is loaded."""

    name = "native"

    def __init__(self, tape: Tape, views: Views, part: Part, outputs: Collection[int]) -> None:
        self.slots, self.results = part
        made = tape.instructions
        self.instructions = [made[slot] for slot in part.slots]
        large = [s for s in part.results if s in outputs and _is_large(made[s].type)]
        order_of = partial(_order_of, made)
        group = Group(made, views, part.slots, part.results, large, order_of)
        self.form = group.kernel()
        self.operands = [operand.slot for operand in group.operands]
        self._orders = [operand.order for operand in group.operands]
        self.squared = frozenset([part.results.index(slot) for slot in group.checked])
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        whole = self.form.steps <= _STEPS_BETWEEN_POLLS
        pieces = [self.form] if whole else self.form.nests_apart()
        self._pieces = [_Piece.of(piece) for piece in pieces]

    def __str__(self) -> str:
        return f"native[{len(self.slots)} instructions]"

    @property
    def nbytes(self) -> int:
        """Bytes of the temporaries."""
        form = self.form
        own = {*range(form.operands, len(form.buffers))}
        own -= {*form.flags, *[place.buffer for place in form.results]}
        sizes: list[int] = [_nbytes(form.buffers[number]) for number in own]
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
        text = _written(self.form, self._orders, self._pieces, codes, shapes)
        self._lines, self._passes = text.lines, text.function("native")

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


def _is_large(kind: Type) -> bool:
    """Whether it takes time to see if a result is finite."""
    return kind.nbytes >= POOLED_BYTES and kind.dtype.char in FLOATS + COMPLEX  # type: ignore[union-attr]


def _in_order(x: Any) -> Any:
    """In row-major order, each element at a place that its size divides."""
    return np.require(x, requirements=("C", "A"))


def _refused() -> None:
    raise InternalError("machine code refused an array in row-major order")


def _nbytes(buffer: Buffer) -> int:
    return math.prod(buffer.shape, start=np.dtype(buffer.char).itemsize)


# The Python that calls machine code


def _written(
    kernel: Kernel,
    orders: Sequence[tuple[int, ...] | None],
    pieces: Sequence[_Piece],
    codes: Sequence[Code],
    shapes: Sequence[Shape],
) -> Text:
    """A function of the poll, the list of what tells whether results are finite, and operands."""
    names = [f"b{number}" for number in range(len(kernel.buffers))]
    text = Text(f"def native(poll, squares, {', '.join(names[: kernel.operands])}):")
    for name, order in zip(names, orders, strict=False):
        if order is not None:
            text.write(f"{name} = {name}.transpose({order})")
    for number in range(kernel.operands, len(kernel.buffers)):
        memory = _memory(kernel.buffers[number], text, zeroed=number in kernel.flags)
        text.write(f"{names[number]} = {memory}")
    for piece, code in zip(pieces, codes, strict=True):
        for indent, line in _calls(piece, code, names, text):
            text.write(line, indent=indent)
    for number in kernel.flags:
        text.write(f"squares.append({names[number]}.item())")
    given = [
        f"{names[buffer]}{'' if shape else f'[{element}]'}, "
        for (buffer, element), shape in zip(kernel.results, shapes, strict=True)
    ]
    text.write(f"return {''.join(given)}")
    return text


def _memory(buffer: Buffer, text: Text, *, zeroed: bool) -> str:
    """Code that makes room for a result or a temporary."""
    kind = np.dtype(buffer.char)
    dtype = text.bind(kind, kind.name)
    if zeroed:
        return f"{text.bind(np.zeros, 'zeros')}({buffer.shape}, {dtype})"
    if _nbytes(buffer) >= POOLED_BYTES:
        return f"{text.bind(POOL.empty, 'lent')}({buffer.shape}, {dtype})"
    return f"{text.bind(np.empty, 'empty')}({buffer.shape}, {dtype})"


def _calls(
    piece: _Piece, code: Code, names: Sequence[str], text: Text
) -> Iterator[tuple[int, str]]:
    """Lines that call a piece: once, or for some passes at a time, looking at the deadline."""
    kernel, steps = piece.kernel, piece.kernel.steps
    call = text.bind(callable_of(code, releases=steps > _FEW_STEPS))
    length = kernel.nests[0].lengths[0] if piece.ranged else 0
    integers = text.bind(np.array([0, length, *kernel.integers()], np.int64))
    numbers = text.bind(np.array(kernel.numbers or (0.0,), np.float64))
    in_order, refused = text.bind(_in_order, "in_order"), text.bind(_refused, "refused")
    copied = [
        f"{in_order}({name})" if number < kernel.operands else name
        for number, name in enumerate(names)
    ]

    def called(table: str) -> str:
        """Once more with copies, if an operand is not in row-major order."""
        rest = f"{table}, {numbers})"
        first, second = (f"{call}({', '.join(each)}, {rest}" for each in (names, copied))
        return f"{first} or {second} or {refused}()"

    rows = max(_STEPS_BETWEEN_POLLS * length // max(steps, 1) // LANES, 1) * LANES
    if not piece.ranged or rows >= length:
        yield 1, called(integers)
        return
    yield 1, f"n = {integers}.copy()"
    yield 1, f"for at in {text.bind(range, 'range')}(0, {length}, {rows}):"
    yield 2, f"n[0], n[1] = at, {text.bind(min, 'min')}(at + {rows}, {length})"
    yield 2, called("n")
    yield 2, "poll()"
