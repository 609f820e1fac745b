"""Structural sparsity, read off a tape: which elements of a target depend on which of a source.

Patterns are conservative: a pair that is not in one has derivative 0 for all values. A pattern is
kept as the rising array of its pairs, each of them the number ``row * columns + column``.
Source: Griewank and Walther, Evaluating Derivatives, section 7.1 (propagation of index domains).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire_engine.autodiff.paths import ancestors
from gradwire_engine.autodiff.terms import aligned, stack, terms
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import Example
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Input, Item
from gradwire_engine.tape import ArrayType, Shape, TupleType

Indices: TypeAlias = NDArray[np.int64]


class Pattern(NamedTuple):
    """Places of a matrix's elements that may differ from zero, row by row; each once."""

    rows: Indices
    columns: Indices
    shape: tuple[int, int]


class Known(Protocol):
    """Values while recording."""

    def value(self, var: Var) -> Any:
        """The value of what constants make."""
        ...

    def integers(self, var: Var) -> Any:
        """The value of given integers, with which the tape holds from then on; None if unknown."""
        ...


def sparsity(b: Builder, target: Var, source: Var, known: Known | None = None) -> Pattern:
    """The pattern of ``∂ target / ∂ source``, both in row-major order.

    What an operation moves is found by moving numbers; what it combines, by its terms, along the
    axes it names or in the stacks it goes over; of an unknown one everything depends on everything.
    Constants and integers that are given have the values that ``known`` tells. The time is linear,
    up to sorting, in the pairs of all instructions between.
    """
    walk = _Walk(b, target, source, known)
    needed = [slot for slot in sorted(ancestors(b, [target])) if slot > source.slot]
    last = {arg: slot for slot in needed for arg in b.instructions[slot].args}
    for slot in needed:
        b.poll()
        walk.step(slot)
        for arg in b.instructions[slot].args:
            if last[arg] == slot:
                walk.pairs.pop(arg, None)
    columns = source.type.size
    rows, places = np.divmod(walk.pairs.get(target.slot, _NONE), max(columns, 1))
    return Pattern(rows, places, (target.type.size, columns))


_NONE: Indices = np.zeros(0, np.int64)


class _Walk:
    """Pairs of the slots that depend on the source."""

    def __init__(self, b: Builder, target: Var, source: Var, known: Known | None) -> None:
        self.b = b
        self.known = known
        self.given = _given(b, target.slot + 1)
        self.columns = max(source.type.size, 1)
        self.pairs = {source.slot: np.arange(source.type.size) * (self.columns + 1)}
        #: How an instruction with several results is stacked: these share the pairs of a stack.
        self.stacks: dict[int, Shape] = {}

    def step(self, slot: int) -> None:
        """Find the pairs of ``slot``."""
        op, args, kind, _ = self.b.instructions[slot]
        if not op.differentiable or not any(arg in self.pairs for arg in args):
            return
        found = None
        if isinstance(kind, ArrayType):
            if not kind.differentiable:
                return
            if op.linear and not (op.elementwise or isinstance(op, Item)):
                found = self._moved(op, args, kind)
        self.pairs[slot] = self._combined(slot) if found is None else found

    def _moved(self, op: Op, args: Sequence[int], kind: ArrayType) -> Indices | None:
        """Pairs where each element is one of the operands' or zero, or adds up what moved to it.

        The operation, or its transpose, then takes the elements' numbers to those of where each
        comes from, or to 0, and squares of numbers to squares of what it takes the numbers to.
        """
        types = [self.b.vars[arg].type for arg in args]
        numbered: list[Any] = []
        parts, before = [], 0
        for arg, x in zip(args, types, strict=True):
            if x.differentiable:
                numbered.append(np.arange(before + 1.0, before + 1 + x.size).reshape(x.shape))
                parts.append(self.pairs.get(arg, _NONE) + before * self.columns)
                before += x.size
            elif (value := self._value(arg)) is not None:
                numbered.append(value)
            else:
                return None
        squares = [
            numbers * numbers if x.differentiable else numbers
            for x, numbers in zip(types, numbered, strict=True)
        ]
        try:
            origins = op.kernel(np, *numbered)
            if (op.kernel(np, *squares) == origins * origins).all():
                return self._selected(np.concatenate(parts), _indices(origins))
            if len(parts) == 1:
                transposed = self._transposed(op, types, kind)
                cells = np.arange(1.0, 1 + kind.size).reshape(kind.shape)
                ends = transposed(cells, *numbered)
                if (transposed(cells * cells, *numbered) == ends * ends).all():
                    return self._grouped(parts[0], _indices(ends))
        except IndexError:  # a constant index out of range, which the replay explains
            pass
        return None

    def _transposed(
        self, op: Op, types: Sequence[ArrayType], kind: ArrayType
    ) -> Callable[..., Any]:
        """The derivative rule of a linear operation, as a function of ``z_bar`` and operands."""
        b = Builder(self.b.limits)
        z_bar, z, *operands = [b.input(x) for x in (kind, kind, *types)]
        bar, *_ = op.vjp(z_bar, z, *operands)
        assert bar is not None

        def kernel(z_bar: Any, *operands: Any) -> Any:
            values = [z_bar, None, *operands]  # what is linear does not read its result
            for rule, args, _, _ in b.instructions[len(values) :]:
                values.append(rule.kernel(np, *[values[arg] for arg in args]))
            return values[bar.slot]

        return kernel

    def _value(self, slot: int) -> Any:
        """The value of what constants, or integers that are given, make; None of all else."""
        if self.known is None or self.given[slot] == _REALS:
            return None
        know = self.known.integers if self.given[slot] else self.known.value
        return know(self.b.vars[slot])

    def _constant(self, slot: int) -> Any:
        """The value of what constants make; None of all else."""
        return None if self.given[slot] else self._value(slot)

    def _combined(self, slot: int) -> Indices:
        """Pairs where elements are combined: of each operand, along the axes that are mixed."""
        op, args, kind, _ = self.b.instructions[slot]
        shapes = [
            self.stacks[arg] if arg in self.stacks else self.b.vars[arg].type.shape for arg in args
        ]
        if isinstance(kind, TupleType):
            result = self.stacks[slot] = stack(op, shapes)
        else:
            result = kind.shape
        parts: dict[int, Indices] = {}
        for number, arg in enumerate(args):
            pairs = self.pairs.get(arg)
            if pairs is not None:
                pairs = self._read(op, number, args, shapes, result, pairs)
                parts[id(pairs)] = pairs
        first, *more = parts.values()
        return distinct(np.concatenate([first, *more])) if more else first

    def _read(
        self,
        op: Op,
        number: int,
        args: Sequence[int],
        shapes: Sequence[Shape],
        result: Shape,
        pairs: Indices,
    ) -> Indices:
        """What operand ``number``, of these pairs, adds to the result's."""
        know = self._constant if op.elementwise else self._value
        found = terms(op, number, shapes, result, lambda i: know(args[i]))
        if found and math.prod(found.shape) * pairs.itemsize <= self.b.limits.array_bytes:
            results, reads = found.filled()
            return self._grouped(self._selected(pairs, reads), results)
        cells, reading = aligned(op, shapes, number, result)
        if math.prod(cells) != math.prod(shapes[number]):
            pairs = self._grouped(pairs, _numbered(cells, cells, shapes[number]))
        if math.prod(reading) != math.prod(result):
            pairs = self._selected(pairs, _numbered(cells, reading, result))
        return pairs

    def _grouped(self, pairs: Indices, cells: Indices) -> Indices:
        """Pairs of rows that are sums: row ``i`` goes into row ``cells[i]``, none if negative."""
        rows, places = np.divmod(pairs, self.columns)
        into = cells[rows]
        return distinct((into * self.columns + places)[into >= 0])

    def _selected(self, pairs: Indices, reads: Indices) -> Indices:
        """Pairs of rows that are copies: row ``i`` is row ``reads[i]``, empty if negative."""
        starts = np.searchsorted(pairs, reads * self.columns)
        lengths = np.searchsorted(pairs, (reads + 1) * self.columns) - starts
        ends = np.cumsum(lengths)
        count = int(ends[-1]) if ends.size else 0
        if count * pairs.itemsize > self.b.limits.array_bytes:
            raise OverBudget(
                f"the sparsity pattern of a derivative would have {count} elements",
                hint="take products with jvp and grad",
            )
        places = np.arange(count) + np.repeat(starts - ends + lengths, lengths)
        moved = np.repeat(np.arange(reads.size) - reads, lengths)
        found: Indices = pairs[places] + moved * self.columns
        return found


def distinct(pairs: Indices) -> Indices:
    """Pairs rising, each once; merging what rises in parts beats the hashing of ``unique``."""
    rising = np.sort(pairs, kind="stable")
    found: Indices = rising[np.diff(rising, prepend=-1) != 0]
    return found


def _indices(numbers: Any) -> Indices:
    """Numbers counted from 1 as indices, -1 for 0."""
    found: Indices = numbers.ravel().astype(np.int64) - 1
    return found


#: What the value of a slot depends on that comes with the request: nothing, integers, all else.
_NOTHING, _INTEGERS, _REALS = range(3)


def _given(b: Builder, count: int) -> bytearray:
    """On what the values of the first slots depend."""
    given = bytearray(count)
    for slot, (op, args, kind, _) in enumerate(b.instructions[:count]):
        own = _INTEGERS if isinstance(op, Input | Example) else _NOTHING
        most = max([own, *[given[arg] for arg in args]])
        countable = isinstance(kind, ArrayType) and kind.dtype.kind in "biu"
        given[slot] = most if countable or not most else _REALS
    return given


def _numbered(cells: Shape, aligned: Shape, shape: Shape) -> Indices:
    """For each element of ``shape`` the number of the cell that it belongs to or reads."""
    numbers = np.arange(math.prod(cells)).reshape(aligned)
    return np.broadcast_to(numbers, shape).ravel()
