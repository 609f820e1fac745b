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
from gradwire_engine.backends.reference.loops import stack_check
from gradwire_engine.errors import InternalError
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.form import FAILED, Buffer, Kernel, Nest, Repeat
from gradwire_engine.kernels.partition import Part, parts
from gradwire_engine.kernels.stacks import passes_of, settled
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.constants import Constant, Item, UnrecordedPath
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.loops import Loop
from gradwire_engine.tape import ArrayType, Instruction, Shape, StackType, Tape, Type

#: Nodes that are computed in about half a millisecond, after which one looks at the deadline, and
#: in less time than it takes to let other threads run.
_STEPS_BETWEEN_POLLS = 1 << 21
_FEW_STEPS = 1 << 16
#: How often nodes are computed, on average, from which on optimised code saves enough.
_OPTIMISED_STEPS = 64
#: Passes for which there is room at first, and most that are made.
_FEW_PASSES, _MOST_PASSES = 1024, 1 << 62
#: Most kernels of a program.
_MOST_KERNELS = 200
_DTYPES = {"d": "float64", "f": "float32", "l": "int64", "?": "bool"}


class NativeKernel(FusedGroup):
    """What the instructions of a ``part`` of ``tape`` do, once its code is loaded."""

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
        large = [s for s in part.results if s in outputs and _is_large(made[s].type)]
        order_of = partial(_order_of, made)
        builder = KernelBuilder(made, views, part.slots, part.results, large, order_of)
        form = builder.kernel()
        op, args, _, _ = made[part.slots[0]]
        #: The loop whose passes are counted as they are made.
        self._loop = op if isinstance(op, Loop) and passes_of(made, part.slots[0]) is None else None
        whole = form.steps <= _STEPS_BETWEEN_POLLS and self._loop is None
        self.form = form if whole else form._replace(local=0)
        given = builder.memory.operands
        self.operands = [operand.slot for operand in given]
        self._orders = [operand.order for operand in given]
        self._stacks = [isinstance(tape.instructions[o.slot].type, StackType) for o in given]
        self._constants = builder.memory.constants
        self._shapes = [made[slot].type.shape for slot in part.results]  # type: ignore[union-attr]
        self._total, self._trips = "", None
        if self._loop is not None:
            if self._loop.counted:
                count = made[args[0]].op
                if isinstance(count, Constant):
                    self._total = str(count.value)
                else:
                    self._total = f"b{self.operands.index(args[0])}"
            items = [made[slot].op for slot in part.results]
            numbers = [op.index for op in items if isinstance(op, Item)]
            trips = self._loop.trip_count
            self._trips = self.form.results[numbers.index(trips)] if trips in numbers else None
        self.squared = frozenset([part.results.index(slot) for slot in builder.checked])
        self.each = [
            op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
            for op, args, kind, _ in self.instructions
        ]
        pieces = [self.form] if whole else self.form.apart(_STEPS_BETWEEN_POLLS)
        self._pieces = [_Piece.of(piece) for piece in pieces]

    def __str__(self) -> str:
        return f"native[{len(self.slots)} instructions]"

    @property
    def nbytes(self) -> int:
        """Bytes of the temporaries."""
        form = self.form
        own = {*range(form.operands, form.passed)}
        own -= {*form.flags, *form.faults, *[place.buffer for place in form.results]}
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
        text = self._written(codes)
        self._lines, self._passes = text.lines, text.function("native")

    def _written(self, codes: Sequence[Code]) -> Text:
        """A function of the poll, the list of what tells if results are finite, and operands."""
        kernel = self.form
        names = [f"b{number}" for number in range(kernel.passed)]
        text = Text(f"def native(poll, squares, {', '.join(names[: len(self.operands)])}):")
        for name, order, is_stack in zip(names, self._orders, self._stacks, strict=False):
            if is_stack:
                text.write(f"{name} = {text.bind(np.asarray, 'asarray')}({name})")
            if order is not None:
                text.write(f"{name} = {name}.transpose({order})")
        for number, value in enumerate(self._constants, len(self.operands)):
            names[number] = text.bind(np.ascontiguousarray(value))
        zeroed = {*kernel.flags, *kernel.faults, *kernel.statuses}
        for number in range(kernel.operands, kernel.passed):
            if not kernel.buffers[number].grows:
                memory = _memory(kernel.buffers[number], text, zeroed=number in zeroed)
                text.write(f"{names[number]} = {memory}")
            elif self._loop is not None:
                text.write(f"{names[number]} = None")
        for piece, code in zip(self._pieces, codes, strict=True):
            first = piece.kernel.nests[0]
            counted = isinstance(first, Repeat) and first.passes is None
            lines = self._passing(piece, code, names, text) if counted else None
            for indent, line in lines or _calls(piece, code, names, text):
                text.write(line, indent=indent)
        for number in kernel.faults:
            text.write(f"if {names[number]}: {text.bind(_leave, 'leave')}()")
        for number in kernel.statuses:
            unrecorded = text.bind(UnrecordedPath, "unrecorded")
            text.write(f"if {names[number]}[0] == {FAILED}: raise {unrecorded}")
        for number in kernel.flags:
            text.write(f"squares.append({names[number]}.item())")
        given = [
            f"{names[buffer]}{'' if shape or kernel.buffers[buffer].grows else f'[{element}]'}, "
            for (buffer, element), shape in zip(kernel.results, self._shapes, strict=True)
        ]
        text.write(f"return {''.join(given)}")
        return text

    def _passing(
        self, piece: _Piece, code: Code, names: Sequence[str], text: Text
    ) -> Iterator[tuple[int, str]]:
        """Lines that make passes until they end, some at a time, with room for what is kept."""
        kernel, op = piece.kernel, self._loop
        (repeat,) = kernel.nests
        assert isinstance(repeat, Repeat)
        assert op is not None
        rows = max(_STEPS_BETWEEN_POLLS // max(repeat.pass_steps, 1), 1)
        status = names[repeat.status or 0]
        stacks = [number for number, buffer in enumerate(kernel.buffers) if buffer.grows]
        text.bind(min, "min")
        check, room = text.bind(stack_check(op)), text.bind(_room, "room")
        yield 1, f"total = {text.bind(int, 'int')}({self._total or _MOST_PASSES})"
        if self._total:
            yield 1, f"{check}(total)"
        for number, name in enumerate(names[: kernel.operands]):
            if kernel.buffers[number].shape:
                yield 1, f"{name} = {text.bind(_in_order, 'in_order')}({name})"
        first = "total" if self._total else f"{max(min(rows, _FEW_PASSES), 1)}"
        yield 1, f"most = {first}"
        for number in stacks:
            shape, char = kernel.buffers[number].shape[1:], kernel.buffers[number].char
            dtype = text.bind(np.dtype(char), _DTYPES[char])
            yield 1, f"{names[number]} = {room}(None, most, {shape}, {dtype})"
        integers = text.bind(np.array([0, 0, 0, *kernel.integers()], np.int64))
        yield 1, f"n = {integers}.copy(); n[2] = total; at = 0"
        yield 1, "while at < total:"
        yield 2, f"n[0] = at; at = min(at + {rows}, most); n[1] = at"
        yield 2, _called(piece, code, names, "n", text)
        yield 2, "poll()"
        yield 2, f"if {status}[0]: break"
        yield 2, f"{check}(at)"
        yield 2, "if at == most and at < total:"
        yield 3, "most = min(2 * most, total)"
        for number in stacks:
            yield 3, f"{names[number]} = {room}({names[number]}, most)"
        if not stacks:
            yield 3, "pass"
        yield 1, f"at = {text.bind(int, 'int')}({status}[1]) if {status}[0] else at"
        for number in stacks:
            yield 1, f"{names[number]} = {names[number]}[:at]"
        if self._trips is not None:
            yield 1, f"{names[self._trips.buffer]}[{self._trips.element}] = at"

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


def kernels_of(tape: Tape, poll: Poll) -> list[NativeKernel]:
    """The kernels of a tape, to be compiled and loaded."""
    outputs, made = {*tape.outputs}, settled(tape.instructions, poll)
    views = Views(made, poll)
    found = parts(Tape(tuple(made), tape.inputs, tape.outputs), views, poll)
    if len(found) > _MOST_KERNELS:
        return []
    kernels: list[NativeKernel] = []
    for part in found:
        kernels.append(NativeKernel(tape, made, views, part, outputs))
        poll()
    return kernels


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
    return kind.nbytes >= POOLED_BYTES and kind.dtype.char in "df"  # type: ignore[union-attr]


def _in_order(x: Any) -> Any:
    """In row-major order, each element at a place that its size divides."""
    return np.require(x, requirements=("C", "A"))


def _leave() -> None:
    """An index is out of range: NumPy computes everything once more, and says of which."""
    raise ValueError("index out of range")


def _refused() -> None:
    raise InternalError("machine code refused an array in row-major order")


def _nbytes(buffer: Buffer) -> int:
    return math.prod(buffer.shape, start=np.dtype(buffer.char).itemsize)


# The Python that calls machine code


def _memory(buffer: Buffer, text: Text, *, zeroed: bool) -> str:
    """Code that makes room for a result or a temporary."""
    dtype = text.bind(np.dtype(buffer.char), _DTYPES[buffer.char])
    if zeroed:
        return f"{text.bind(np.zeros, 'zeros')}({buffer.shape}, {dtype})"
    if _nbytes(buffer) >= POOLED_BYTES:
        return f"{text.bind(POOL.empty, 'lent')}({buffer.shape}, {dtype})"
    return f"{text.bind(np.empty, 'empty')}({buffer.shape}, {dtype})"


def _room(stack: Any, items: int, shape: Shape = (), dtype: Any = None) -> Any:
    """Memory for so many items, the first of them those of ``stack``."""
    if stack is None:
        return np.empty((items, *shape), dtype)
    more = np.empty((items, *stack.shape[1:]), stack.dtype)
    more[: len(stack)] = stack
    return more


def _calls(
    piece: _Piece, code: Code, names: Sequence[str], text: Text
) -> Iterator[tuple[int, str]]:
    """Lines that call a piece: once, or for some passes at a time, looking at the deadline."""
    kernel, steps = piece.kernel, piece.kernel.steps
    length = _passes(kernel) if piece.ranged else 0
    integers = text.bind(np.array([0, length, length, *kernel.integers()], np.int64))
    rows = max(_STEPS_BETWEEN_POLLS * length // max(steps, 1) // LANES, 1) * LANES
    if not piece.ranged or rows >= length:
        yield 1, _called(piece, code, names, integers, text)
        return
    yield 1, f"n = {integers}.copy()"
    yield 1, f"for at in {text.bind(range, 'range')}(0, {length}, {rows}):"
    yield 2, f"n[0], n[1] = at, {text.bind(min, 'min')}(at + {rows}, {length})"
    yield 2, _called(piece, code, names, "n", text)
    yield 2, "poll()"


def _passes(kernel: Kernel) -> int:
    """Those of the outermost loop of the only nest."""
    (nest,) = kernel.nests
    if isinstance(nest, Nest):
        return nest.lengths[0]
    assert isinstance(nest, Repeat)
    return nest.passes or 0


def _called(piece: _Piece, code: Code, names: Sequence[str], table: str, text: Text) -> str:
    """Code of a call: once more with copies, if an operand is not in row-major order."""
    kernel = piece.kernel
    call = text.bind(callable_of(code, releases=kernel.steps > _FEW_STEPS))
    numbers = text.bind(np.array(kernel.numbers or (0.0,), np.float64))
    in_order, refused = text.bind(_in_order, "in_order"), text.bind(_refused, "refused")
    copied = [
        f"{in_order}({name})" if number < kernel.operands else name
        for number, name in enumerate(names)
    ]
    rest = f"{table}, {numbers})"
    first, second = (f"{call}({', '.join(each)}, {rest}" for each in (names, copied))
    return f"{first} or {second} or {refused}()"
