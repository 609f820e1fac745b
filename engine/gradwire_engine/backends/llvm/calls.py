"""The Python that calls the machine code of a kernel.

What takes less than half a millisecond is one call, which makes all but large results. Of what
takes longer, nests are called one after the other, for some passes of their outermost loops at a
time, and one looks at the deadline between. So are passes whose number is known when they are made,
where there is also made room for what further ones keep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.backends.llvm.compiler import Code
from gradwire_engine.backends.llvm.lanes import vectorized
from gradwire_engine.backends.llvm.partial import partials
from gradwire_engine.backends.llvm.passing import Passing
from gradwire_engine.backends.llvm.shim import (
    Argument,
    Frame,
    Made,
    Pointer,
    Result,
    Scratch,
    callable_of,
)
from gradwire_engine.backends.llvm.writer import LANES, bounds_of
from gradwire_engine.backends.numpy.buffers import POOL, POOLED_BYTES
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.backends.numpy.threads import on_threads
from gradwire_engine.errors import InternalError
from gradwire_engine.kernels.form import FAILED, Buffer, Kernel, Nest, Repeat, dtype_of
from gradwire_engine.ops.constants import UnrecordedPath
from gradwire_engine.tape import Shape

#: Nodes that are computed in less time than it takes to let other threads run.
_FEW_STEPS = 1 << 16
#: Scratch memory begins and ends at lines of the cache.
_LINE = 64
#: A kernel, for how many passes of its outermost loops it is called at a time, and its code.
Piece: TypeAlias = tuple[Kernel, Sequence[int], Code]


class Given(NamedTuple):
    """The arguments of a kernel: the order of each operand's axes in memory if it is not their own.

    ``stacks`` are the numbers of those that may be lists; after the operands come ``constants``.
    """

    orders: Sequence[tuple[int, ...] | None]
    stacks: Collection[int] = ()
    constants: Sequence[Array] = ()

    def opened(self) -> Text:
        """A function whose operands are as they are in memory."""
        names = [f"b{number}" for number in range(len(self.orders))]
        text = Text(f"def native({', '.join(['poll', *names])}):")
        for number, order in enumerate(self.orders):
            if number in self.stacks:
                text.write(f"b{number} = {text.bind(np.asarray, 'asarray')}(b{number})")
            if order is not None:
                text.write(f"b{number} = b{number}.transpose({order})")
        return text

    @property
    def is_plain(self) -> bool:
        """True if operands are taken as they are."""
        return not self.stacks and all(order is None for order in self.orders)

    def pointers(self) -> dict[int, Pointer]:
        """The pointers that machine code takes of the given buffers."""
        count, known = len(self.orders), enumerate(self.constants, len(self.orders))
        operands: dict[int, Pointer] = {number: Argument(number) for number in range(count)}
        return operands | {number: np.ascontiguousarray(value) for number, value in known}


def nbytes(buffer: Buffer) -> int:
    """Bytes of its elements."""
    return math.prod(buffer.shape, start=dtype_of(buffer.char).itemsize)


class Whole:
    """The call of all of a kernel, whose results have ``shapes``; some of them are ``checked``."""

    def __init__(
        self,
        kernel: Kernel,
        code: Code,
        given: Given,
        shapes: Sequence[Shape],
        checked: Collection[int],
    ) -> None:
        self._kernel, self._given, self._shapes = kernel, given, shapes
        buffers, own = kernel.buffers, range(kernel.operands, kernel.passed)
        #: The buffers that Python checks afterwards, and those that it makes: these, and
        #: large ones, which it takes from its pool.
        self._checked_after = {*kernel.faults, *kernel.statuses}
        large = [number for number in own if nbytes(buffers[number]) >= POOLED_BYTES]
        self.allocated = [*large, *self._checked_after]
        pointers = given.pointers()
        for argument, number in enumerate(self.allocated, len(given.orders)):
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
                scratch = place.offset + element * dtype_of(char).itemsize
            results.append(Made(char, shapes[k], k in checked, scratch))
        ordered = [pointers[number] for number in range(kernel.passed)]
        frame = Frame([*ordered, *tables(kernel)], results, end, len(kernel.flags))
        self._call = callable_of(code, frame, releases=kernel.steps > _FEW_STEPS)

    def code(self, operands: Sequence[str], bind: Callable[..., str]) -> str:
        """Code for what the call makes: once more with copies if it refuses an operand."""
        call, allocated = bind(self._call), [f"b{number}" for number in self.allocated]
        return _called(call, operands, allocated, bind)

    def text(self) -> Text:
        """A function of the poll and operands, which gives the results and a number."""
        kernel, text = self._kernel, self._given.opened()
        for number in self.allocated:
            zeroed = number in self._checked_after
            text.write(f"b{number} = {_memory(kernel.buffers[number], text, zeroed=zeroed)}")
        operands = [f"b{number}" for number in range(len(self._given.orders))]
        text.write(f"z = {self.code(operands, text.bind)}")
        heed(kernel, text)
        items = dict(zip(self._made, count(), strict=False))
        given = [
            f"z[{items[k]}]"
            if k in items
            else f"b{buffer}"
            if self._shapes[k]
            else f"b{buffer}[{at}]"
            for k, (buffer, at) in enumerate(kernel.results)
        ]
        text.write(f"return {', '.join([*given, 'z[-1]'])}" if self.allocated else "return z")
        return text


def in_pieces(
    kernel: Kernel,
    given: Given,
    pieces: Sequence[Piece],
    shapes: Sequence[Shape],
    passing: Passing | None = None,
    threads: int = 1,
) -> Text:
    """The same of what takes long: nest by nest, looking at the deadline, on so many threads."""
    names = [f"b{number}" for number in range(kernel.passed)]
    text = given.opened()
    zeroed = {*kernel.flags, *kernel.faults, *kernel.statuses}
    for number in range(kernel.operands, kernel.passed):
        if not kernel.buffers[number].grows:
            memory = _memory(kernel.buffers[number], text, zeroed=number in zeroed)
            text.write(f"{names[number]} = {memory}")
        else:
            text.write(f"{names[number]} = None")
    for piece in pieces:
        call = _PieceCall(piece, given, text)
        first = piece[0].nests[0]
        counted = isinstance(first, Repeat) and first.passes is None
        lines = passing.lines(piece[0], call, text) if counted and passing else call.lines(threads)
        for indent, line in lines:
            text.write(line, indent=indent)
    heed(kernel, text)
    made = [
        names[buffer] if shape or kernel.buffers[buffer].grows else f"{names[buffer]}[{element}]"
        for (buffer, element), shape in zip(kernel.results, shapes, strict=True)
    ]
    flags = " + ".join([f"{names[number]}.item()" for number in kernel.flags])
    text.write(f"return {', '.join([*made, flags])}")
    return text


def heed(kernel: Kernel, text: Text) -> None:
    """Write what is done where the results are of no use."""
    for number in kernel.faults:
        text.write(f"if b{number}: {text.bind(_leave, 'leave')}()")
    for number in kernel.statuses:
        unrecorded = text.bind(UnrecordedPath, "unrecorded")
        text.write(f"if b{number}[0] == {FAILED}: raise {unrecorded}")


class _PieceCall:
    """The call of a piece, by the names that buffers and the table of integers have."""

    def __init__(self, piece: Piece, given: Given, text: Text) -> None:
        self._kernel, self._spans, code = piece
        kernel, self._text = self._kernel, text
        self._operands = len(given.orders)
        pointers = given.pointers()
        for argument, number in enumerate(range(kernel.operands, kernel.passed), self._operands):
            pointers[number] = Argument(argument)
        self.integers, numbers = tables(kernel, len(self._spans))
        table = Argument(self._operands + kernel.passed - kernel.operands)
        ordered = [pointers[number] for number in range(kernel.passed)]
        frame = Frame([*ordered, table, numbers])
        self._call = text.bind(callable_of(code, frame, releases=kernel.steps > _FEW_STEPS))

    def code(self, table: str) -> str:
        """Code of it."""
        own = [f"b{number}" for number in range(self._kernel.operands, self._kernel.passed)]
        operands = [f"b{number}" for number in range(self._operands)]
        return _called(self._call, operands, [*own, table], self._text.bind)

    def lines(self, threads: int) -> Iterator[tuple[int, str]]:
        """Lines that call it: once, or for some passes at a time, looking at the deadline.

        These are shared among threads, if they can be.
        """
        text, bound = self._text, self._text.bind(self.integers)
        lengths = _passes(self._kernel)
        if all(span >= length for span, length in zip(self._spans, lengths, strict=False)):
            yield 1, self.code(bound)
            return
        shared = partials(self._kernel) if threads > 1 else None
        least = self._least()
        if shared is None or (least > 1 and len(self._spans) > 1):
            yield 1, f"n = {bound}.copy()"
            yield from self._some(1, "0", str(lengths[0]))
            return
        names = [f"b{each.buffer}" for each in shared]
        yield 1, f"def part({', '.join(['first', 'last', *[f'{x}={x}' for x in names]])}):"
        for name, each in zip(names, shared, strict=True):
            yield 2, f"{name} = {text.bind(each.own)}({name})"
        yield 2, f"n = {bound}.copy()"
        yield from self._some(2, "first", "last")
        yield 2, f"return [{', '.join(names)}]"
        run = text.bind(partial(on_threads, lengths[0], least, threads))
        yield 1, f"parts = {run}(part)"
        for number, (name, each) in enumerate(zip(names, shared, strict=True)):
            yield 1, f"{text.bind(each.join)}({name}, [each[{number}] for each in parts])"

    def _least(self) -> int:
        """Of how many passes of the outermost loop there must be a multiple at a time."""
        nest = self._kernel.nests[0]
        return LANES if isinstance(nest, Nest) and vectorized(nest) == 0 else 1

    def _some(self, indent: int, first: str, last: str) -> Iterator[tuple[int, str]]:
        """Lines that make passes of the outermost loop."""
        text, least = self._text, self._text.bind(min, "min")
        for level, (span, length) in enumerate(
            zip(self._spans, _passes(self._kernel), strict=False)
        ):
            at, begin, end = bounds_of(level) if level else 0, "0", str(length)
            if not level:
                begin, end = first, last
            yield indent, f"for at{level} in {text.bind(range, 'range')}({begin}, {end}, {span}):"
            indent += 1
            yield indent, f"n[{at}] = at{level}"
            yield indent, f"n[{at + 1}] = {least}(at{level} + {span}, {end})"
        yield indent, self.code("n")
        yield indent, "poll()"


def _called(
    call: str, operands: Sequence[str], others: Sequence[str], bind: Callable[..., str]
) -> str:
    """Code of a call: once more with copies, if an operand is not in row-major order."""
    in_order, refused = bind(_in_order, "in_order"), bind(_refused, "refused")
    copied = [f"{in_order}({operand})" for operand in operands]
    first, second = (f"{call}({', '.join([*each, *others])})" for each in (operands, copied))
    return f"{first} or {second} or {refused}()"


def _passes(kernel: Kernel) -> Sequence[int]:
    """Those of the outermost loops."""
    match kernel.nests[0]:
        case Nest(lengths=lengths):
            return lengths or (0,)
        case Repeat(passes=int(length)):
            return (length,)
    return (0,)


def tables(kernel: Kernel, bounded: int = 1) -> tuple[Array, Array]:
    """The integers, of which the first bound loops, and numbers that are arguments."""
    first, *others = _passes(kernel)
    integers = [0, first, first]
    for length in others[: max(bounded - 1, 0)]:
        integers += [0, length]
    integers += kernel.integers()
    return np.array(integers, np.int64), np.array(kernel.numbers or (0.0,), np.float64)


def _memory(buffer: Buffer, text: Text, *, zeroed: bool = False) -> str:
    """Code that makes room for a result or a temporary."""
    dtype = text.bind(dtype_of(buffer.char), dtype_of(buffer.char).name)
    if zeroed:
        return f"{text.bind(np.zeros, 'zeros')}({buffer.shape}, {dtype})"
    if nbytes(buffer) >= POOLED_BYTES:
        return f"{text.bind(POOL.empty, 'allocated')}({buffer.shape}, {dtype})"
    return f"{text.bind(np.empty, 'empty')}({buffer.shape}, {dtype})"


def _in_order(x: Any) -> Any:
    """An array itself, in row-major order, each element at a place that its size divides."""
    return np.require(x, requirements=("C", "A", "E"))


def _leave() -> None:
    """An index is out of range: NumPy computes everything once more, and says of which."""
    raise ValueError("index out of range")


def _refused() -> None:
    raise InternalError("machine code refused an array in row-major order")
