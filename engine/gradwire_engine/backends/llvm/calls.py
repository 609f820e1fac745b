"""Calls of the machine code of a kernel.

What takes less than half a millisecond is one call, which makes all but large results. Of what
takes longer, nests are called one after the other, for some passes of their outermost loops at a
time, and one looks at the deadline between. So are passes whose number is known when they are made,
where there is also made room for what further ones keep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array, Poll
from gradwire_engine.backends.llvm.chunked_loop import ChunkedLoop
from gradwire_engine.backends.llvm.compiler import Code
from gradwire_engine.backends.llvm.fastcall import (
    Argument,
    Frame,
    Made,
    Pointer,
    Result,
    Scratch,
    callable_of,
)
from gradwire_engine.backends.llvm.lanes import vectorized
from gradwire_engine.backends.llvm.partial import partials
from gradwire_engine.backends.llvm.threads import on_threads
from gradwire_engine.backends.llvm.writer import LANES, bounds_of
from gradwire_engine.backends.walk.buffers import POOL, POOLED_BYTES
from gradwire_engine.kernels.form import FAILED, Buffer, For, Kernel, Nest, dtype_of
from gradwire_engine.ops.constants import UnrecordedPath
from gradwire_engine.tape import Shape

#: Nodes that are computed in less time than it takes to let other threads run.
_FEW_STEPS = 1 << 16
#: Scratch memory begins and ends at lines of the cache.
_LINE = 64
#: A kernel, for how many passes of its outermost loops it is called at a time, and its code.
Piece: TypeAlias = tuple[Kernel, Sequence[int], Code]


class Left(Exception):
    """The results of a kernel are of no use: the walk of the tape in its own order says why."""


class Given(NamedTuple):
    """The arguments of a kernel: the order of each operand's axes in memory if it is not their own.

    ``stacks`` are the numbers of those that may be lists; after the operands come ``constants``.
    """

    orders: Sequence[tuple[int, ...] | None]
    stacks: Collection[int] = ()
    constants: Sequence[Array] = ()

    def opened(self, operands: Sequence[Any]) -> list[Any]:
        """The operands as they are in memory."""
        found = [*operands]
        for number in self.stacks:
            found[number] = np.asarray(found[number])
        for number, order in enumerate(self.orders):
            if order is not None:
                found[number] = found[number].transpose(order)
        return found

    @property
    def is_plain(self) -> bool:
        """True if operands are taken as they are."""
        return not self.stacks and all(order is None for order in self.orders)

    def pointers(self) -> dict[int, Pointer]:
        """The pointers that machine code takes of the given buffers."""
        count, known = len(self.orders), enumerate(self.constants, len(self.orders))
        operands: dict[int, Pointer] = {number: Argument(number) for number in range(count)}
        return operands | {number: np.ascontiguousarray(value) for number, value in known}


def whole(
    kernel: Kernel, code: Code, given: Given, shapes: Sequence[Shape], checked: Collection[int]
) -> Callable[..., tuple[Any, ...]]:
    """The function of the operands that computes all of a kernel.

    Its results have ``shapes``; some of them are ``checked``: after the results comes a number that
    is finite if these are.
    """
    buffers, own = kernel.buffers, range(kernel.operands, kernel.passed)
    #: The buffers that Python checks afterwards, and those that it makes: these, and large ones,
    #: which it takes from its pool.
    checked_after = {*kernel.faults, *kernel.statuses}
    large = [number for number in own if buffers[number].nbytes >= POOLED_BYTES]
    allocated = [*large, *checked_after]
    pointers = given.pointers()
    for argument, number in enumerate(allocated, len(given.orders)):
        pointers[number] = Argument(argument)
    made = [k for k, (b, _) in enumerate(kernel.results) if b not in pointers]
    for item, k in enumerate(made):
        if shapes[k]:
            pointers[kernel.results[k].buffer] = Result(item)
    end = 0
    for number in [*kernel.flags, *own]:
        if number not in pointers:
            pointers[number] = Scratch(end)
            size = buffers[number].nbytes
            end += size if number in kernel.flags else size + -size % _LINE
    results: list[Made] = []
    for k in made:
        buffer, element = kernel.results[k]
        char, place = buffers[buffer].char, pointers[buffer]
        scratch = None
        if isinstance(place, Scratch):
            scratch = place.offset + element * dtype_of(char).itemsize
        results.append(Made(char, shapes[k], k in checked, scratch))
    ordered = [pointers[number] for number in range(kernel.passed)]
    pointed = [*ordered, *tables(kernel)]
    frame = Frame(pointed, results, end, len(kernel.flags), len(given.orders))
    call = callable_of(code, frame, releases=kernel.steps > _FEW_STEPS)
    opened = None if given.is_plain else given.opened
    if not allocated:
        return call if opened is None else lambda *operands: call(*opened(operands))
    rooms = [_memory(buffers[number], zeroed=number in checked_after) for number in allocated]
    faults, statuses = (
        [allocated.index(number) for number in numbers]
        for numbers in (kernel.faults, kernel.statuses)
    )
    #: Where each result is: its number among those of the call, its last number, and what is
    #: allocated. Of what has no axes it is one element.
    sources = [
        made.index(k) if k in made else len(made) + 1 + allocated.index(buffer)
        for k, (buffer, _) in enumerate(kernel.results)
    ]
    results_of = itemgetter(*sources, len(made))
    numbers = [
        (k, element)
        for k, (_, element) in enumerate(kernel.results)
        if not (k in made or shapes[k])
    ]

    def computed(*operands: Any) -> tuple[Any, ...]:
        arrays = [room() for room in rooms]
        z: tuple[Any, ...] = call(*(operands if opened is None else opened(operands)), *arrays)
        for number in faults:
            if arrays[number]:
                raise Left
        for number in statuses:
            if arrays[number][0] == FAILED:
                raise UnrecordedPath
        found: tuple[Any, ...] = results_of((*z, *arrays))
        if not numbers:
            return found
        items = [*found]
        for k, element in numbers:
            items[k] = items[k][element]
        return tuple(items)

    return computed


def in_pieces(
    kernel: Kernel,
    given: Given,
    pieces: Sequence[Piece],
    shapes: Sequence[Shape],
    passing: ChunkedLoop | None = None,
    threads: int = 1,
) -> Callable[..., tuple[Any, ...]]:
    """The same of what takes long, given the poll first: nest by nest, on so many threads."""
    zeroed = {*kernel.flags, *kernel.faults, *kernel.statuses}
    rooms = [
        (lambda: None) if buffer.grows else _memory(buffer, zeroed=number in zeroed)
        for number, buffer in enumerate(kernel.buffers[: kernel.passed])
        if number >= kernel.operands
    ]
    calls = [_PieceCall(piece, given, threads, passing) for piece in pieces]
    sources = [
        (buffer, None if shape or kernel.buffers[buffer].grows else element)
        for (buffer, element), shape in zip(kernel.results, shapes, strict=True)
    ]
    constants = [None] * len(given.constants)  # which calls have by themselves

    def computed(poll: Poll, *operands: Any) -> tuple[Any, ...]:
        arrays = [*given.opened(operands), *constants, *[room() for room in rooms]]
        for call in calls:
            call(poll, arrays)
        if any(arrays[number] for number in kernel.faults):
            raise Left
        if any(arrays[number][0] == FAILED for number in kernel.statuses):
            raise UnrecordedPath
        flags = sum([arrays[number].item() for number in kernel.flags])
        return (*[_at(arrays[buffer], at) for buffer, at in sources], flags)

    return computed


class _PieceCall:
    """The call of a piece: once, or for some passes at a time, looking at the deadline.

    These are shared among threads, if they can be.
    """

    def __init__(
        self, piece: Piece, given: Given, threads: int, passing: ChunkedLoop | None
    ) -> None:
        self._kernel, self._spans, code = piece
        kernel = self._kernel
        self._operands = len(given.orders)
        pointers = given.pointers()
        for argument, number in enumerate(range(kernel.operands, kernel.passed), self._operands):
            pointers[number] = Argument(argument)
        self._integers, numbers = tables(kernel, len(self._spans))
        table = Argument(self._operands + kernel.passed - kernel.operands)
        ordered = [pointers[number] for number in range(kernel.passed)]
        frame = Frame([*ordered, table, numbers], operands=self._operands)
        self._call = callable_of(code, frame, releases=kernel.steps > _FEW_STEPS)
        self._lengths = _passes(kernel)
        self._least = self._fewest()
        self._threads = threads
        self._shared = partials(kernel) if threads > 1 else None
        if self._least > 1 and len(self._spans) > 1:
            self._shared = None
        first = kernel.nests[0]
        counted = isinstance(first, For) and first.passes is None
        self._passing = passing if counted else None

    def __call__(self, poll: Poll, arrays: list[Any]) -> None:
        """Compute it: ``arrays`` are the buffers, some of them made here."""
        if self._passing is not None:
            self._passing.make(
                self._kernel, self._integers, partial(self._once, arrays), poll, arrays
            )
        elif all(span >= n for span, n in zip(self._spans, self._lengths, strict=False)):
            self._once(arrays, self._integers)
        elif self._shared is None:
            self._some(poll, arrays, 0, self._lengths[0])
        else:
            shared = self._shared
            parts = on_threads(
                self._lengths[0], self._least, self._threads, partial(self._part, poll, arrays)
            )
            for number, each in enumerate(shared):
                each.join(arrays[each.buffer], [part[number] for part in parts])

    def _part(self, poll: Poll, arrays: list[Any], first: int, last: int) -> list[Any]:
        """The partial results of some passes of the outermost loop, on one thread."""
        shared = self._shared or ()
        own = [*arrays]
        for each in shared:
            own[each.buffer] = each.own(arrays[each.buffer])
        self._some(poll, own, first, last)
        return [own[each.buffer] for each in shared]

    def _once(self, arrays: Sequence[Any], integers: Array) -> None:
        own = arrays[self._kernel.operands :]
        self._call(*arrays[: self._operands], *own, integers)

    def _some(self, poll: Poll, arrays: Sequence[Any], first: int, last: int) -> None:
        """Make passes of the outermost loop, some at a time."""
        integers = self._integers.copy()
        for bounds in self._bounds(first, last):
            for at, (begin, end) in bounds:
                integers[at], integers[at + 1] = begin, end
            self._once(arrays, integers)
            poll()

    def _bounds(
        self, first: int, last: int, level: int = 0
    ) -> Iterator[list[tuple[int, tuple[int, int]]]]:
        """The bounds of the loops in each call, with their places among the integers."""
        pairs = [*zip(self._spans, self._lengths, strict=False)]
        span, length = pairs[level]
        begin, end = (0, length) if level else (first, last)
        place = bounds_of(level) if level else 0
        for at in range(begin, end, span):
            own = (place, (at, min(at + span, end)))
            if level + 1 == len(pairs):
                yield [own]
            else:
                for inner in self._bounds(first, last, level + 1):
                    yield [own, *inner]

    def _fewest(self) -> int:
        """Of how many passes of the outermost loop there must be a multiple at a time."""
        nest = self._kernel.nests[0]
        return LANES if isinstance(nest, Nest) and vectorized(nest) == 0 else 1


def _passes(kernel: Kernel) -> Sequence[int]:
    """Those of the outermost loops."""
    match kernel.nests[0]:
        case Nest(lengths=lengths):
            return lengths or (0,)
        case For(passes=int(length)):
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


def _memory(buffer: Buffer, *, zeroed: bool = False) -> Callable[[], Array]:
    """Makes room for a result or a temporary."""
    dtype = dtype_of(buffer.char)
    if zeroed:
        return partial(np.zeros, buffer.shape, dtype)
    empty = POOL.empty if buffer.nbytes >= POOLED_BYTES else np.empty
    return partial(empty, buffer.shape, dtype)


def _at(array: Any, element: int | None) -> Any:
    return array if element is None else array[element]
