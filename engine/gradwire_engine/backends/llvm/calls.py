"""The Python that calls the machine code of a kernel.

What takes less than half a millisecond is one call, which makes all but large results. Of what
takes longer, nests are called one after the other, for some passes of their outermost loop at a
time, and one looks at the deadline between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.llvm.compiler import Code
from gradwire_engine.backends.llvm.shim import (
    Argument,
    Frame,
    Made,
    Pointer,
    Result,
    Scratch,
    callable_of,
)
from gradwire_engine.backends.llvm.writer import LANES
from gradwire_engine.backends.numpy.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.errors import InternalError
from gradwire_engine.kernels.form import Buffer, Kernel
from gradwire_engine.tape import Shape

#: Nodes that are computed in about half a millisecond, after which one looks at the deadline, and
#: in less time than it takes to let other threads run.
STEPS_BETWEEN_POLLS = 1 << 21
_FEW_STEPS = 1 << 16
_DTYPES = {"d": "float64", "f": "float32", "l": "int64", "?": "bool"}
#: Scratch memory begins and ends at lines of the cache.
_LINE = 64
#: In which order the axes of an operand are in memory, if it is not theirs.
Order: TypeAlias = tuple[int, ...] | None
#: A kernel, whether it can be called for some passes of its outermost loop, and its code.
Piece: TypeAlias = tuple[Kernel, bool, Code]


def nbytes(buffer: Buffer) -> int:
    """Bytes of its elements."""
    return math.prod(buffer.shape, start=np.dtype(buffer.char).itemsize)


class Whole:
    """The call of all of a kernel, whose results have ``shapes``; some of them are ``checked``."""

    def __init__(
        self, kernel: Kernel, code: Code, shapes: Sequence[Shape], checked: Collection[int]
    ) -> None:
        self._kernel, self._shapes = kernel, shapes
        buffers, own = kernel.buffers, range(kernel.operands, len(kernel.buffers))
        #: The numbers of large buffers, which Python takes from its pool.
        self.lent = [number for number in own if nbytes(buffers[number]) >= POOLED_BYTES]
        pointers: dict[int, Pointer] = {}
        for argument, number in enumerate([*range(kernel.operands), *self.lent]):
            pointers[number] = Argument(argument)
        self._made = [k for k, (b, _) in enumerate(kernel.results) if b not in pointers]
        for item, k in enumerate(self._made):
            if shapes[k]:
                pointers[kernel.results[k].buffer] = Result(item)
        end = 0
        for number in [*kernel.flags, *own]:
            if number not in pointers:
                pointers[number] = Scratch(end)
                size = nbytes(buffers[number])
                end += size if number in kernel.flags else size + -size % _LINE
        results: list[Made] = []
        for k in self._made:
            buffer, element = kernel.results[k]
            char, place = buffers[buffer].char, pointers[buffer]
            scratch = None
            if isinstance(place, Scratch):
                scratch = place.offset + element * np.dtype(char).itemsize
            results.append(Made(char, shapes[k], k in checked, scratch))
        ordered = [pointers[number] for number in range(len(buffers))]
        frame = Frame([*ordered, *_tables(kernel)], results, end, len(kernel.flags))
        self._call = callable_of(code, frame, releases=kernel.steps > _FEW_STEPS)

    def code(self, operands: Sequence[str], bind: Callable[..., str]) -> str:
        """Code for what the call makes: once more with copies if it refuses an operand."""
        call, lent = bind(self._call), [f"b{number}" for number in self.lent]
        return _called(call, operands, lent, bind)

    def text(self, orders: Sequence[Order]) -> Text:
        """A function of the poll and operands, which gives the results and a number."""
        kernel, text = self._kernel, _opened(self._kernel, orders)
        for number in self.lent:
            text.write(f"b{number} = {_memory(kernel.buffers[number], text)}")
        operands = [f"b{number}" for number in range(kernel.operands)]
        text.write(f"z = {self.code(operands, text.bind)}")
        items = dict(zip(self._made, count(), strict=False))
        given = [
            f"z[{items[k]}]"
            if k in items
            else f"b{buffer}"
            if self._shapes[k]
            else f"b{buffer}[{at}]"
            for k, (buffer, at) in enumerate(kernel.results)
        ]
        text.write(f"return {', '.join([*given, 'z[-1]'])}" if self.lent else "return z")
        return text


def in_pieces(
    kernel: Kernel, orders: Sequence[Order], pieces: Sequence[Piece], shapes: Sequence[Shape]
) -> Text:
    """The same of what takes long: nest by nest, looking at the deadline."""
    names = [f"b{number}" for number in range(len(kernel.buffers))]
    text = _opened(kernel, orders)
    for number in range(kernel.operands, len(kernel.buffers)):
        memory = _memory(kernel.buffers[number], text, zeroed=number in kernel.flags)
        text.write(f"{names[number]} = {memory}")
    for piece in pieces:
        for indent, line in _lines(piece, names, text):
            text.write(line, indent=indent)
    given = [
        names[buffer] if shape else f"{names[buffer]}[{element}]"
        for (buffer, element), shape in zip(kernel.results, shapes, strict=True)
    ]
    told = " + ".join([f"{names[number]}.item()" for number in kernel.flags])
    text.write(f"return {', '.join([*given, told])}")
    return text


def _lines(piece: Piece, names: Sequence[str], text: Text) -> Iterator[tuple[int, str]]:
    """Lines that call a piece: once, or for some passes at a time, looking at the deadline."""
    kernel, ranged, code = piece
    steps, arguments = kernel.steps, len(names) + 1
    length = kernel.nests[0].lengths[0] if ranged else 0
    integers, numbers = _tables(kernel)
    frame = Frame([*map(Argument, range(arguments)), numbers])
    call = text.bind(callable_of(code, frame, releases=steps > _FEW_STEPS))
    operands, own = names[: kernel.operands], names[kernel.operands :]
    bound = text.bind(integers)
    rows = max(STEPS_BETWEEN_POLLS * length // max(steps, 1) // LANES, 1) * LANES
    if not ranged or rows >= length:
        yield 1, _called(call, operands, [*own, bound], text.bind)
        return
    yield 1, f"n = {bound}.copy()"
    yield 1, f"for at in {text.bind(range, 'range')}(0, {length}, {rows}):"
    yield 2, f"n[0], n[1] = at, {text.bind(min, 'min')}(at + {rows}, {length})"
    yield 2, _called(call, operands, [*own, "n"], text.bind)
    yield 2, "poll()"


def _opened(kernel: Kernel, orders: Sequence[Order]) -> Text:
    """A function whose operands are as they are in memory."""
    names = [f"b{number}" for number in range(kernel.operands)]
    text = Text(f"def native({', '.join(['poll', *names])}):")
    for name, order in zip(names, orders, strict=True):
        if order is not None:
            text.write(f"{name} = {name}.transpose({order})")
    return text


def _called(
    call: str, operands: Sequence[str], others: Sequence[str], bind: Callable[..., str]
) -> str:
    """Code of a call: once more with copies, if an operand is not in row-major order."""
    in_order, refused = bind(_in_order, "in_order"), bind(_refused, "refused")
    copied = [f"{in_order}({operand})" for operand in operands]
    first, second = (f"{call}({', '.join([*each, *others])})" for each in (operands, copied))
    return f"{first} or {second} or {refused}()"


def _tables(kernel: Kernel) -> tuple[Array, Array]:
    """The integers, of which the first bound the outermost loop, and numbers that are arguments."""
    length, *_ = *kernel.nests[0].lengths, 0
    integers = [0, length, *kernel.integers()]
    return np.array(integers, np.int64), np.array(kernel.numbers or (0.0,), np.float64)


def _memory(buffer: Buffer, text: Text, *, zeroed: bool = False) -> str:
    """Code that makes room for a result or a temporary."""
    dtype = text.bind(np.dtype(buffer.char), _DTYPES[buffer.char])
    if zeroed:
        return f"{text.bind(np.zeros, 'zeros')}({buffer.shape}, {dtype})"
    if nbytes(buffer) >= POOLED_BYTES:
        return f"{text.bind(POOL.empty, 'lent')}({buffer.shape}, {dtype})"
    return f"{text.bind(np.empty, 'empty')}({buffer.shape}, {dtype})"


def _in_order(x: Any) -> Any:
    """In row-major order, each element at a place that its size divides."""
    return np.require(x, requirements=("C", "A"))


def _refused() -> None:
    raise InternalError("machine code refused an array in row-major order")
