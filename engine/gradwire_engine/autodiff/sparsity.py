"""Structural sparsity, read off a tape: which elements of a target depend on which of a source.

Patterns are conservative: a pair that is not in one has derivative 0 for all values. A pattern is
kept as the rising array of its pairs, each of them the number ``row * columns + column``.
Source: Griewank and Walther, Evaluating Derivatives, section 7.1 (propagation of index domains).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradwire_engine.answer import Poll
from gradwire_engine.autodiff.known import Known, Value, Values
from gradwire_engine.autodiff.sparse_loops import results
from gradwire_engine.autodiff.terms import aligned, stack, terms
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.errors import OverBudget
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import AddStacks, Rows, Stacked
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Item, Pack
from gradwire_engine.tape import ArrayType, Instruction, Shape, TupleType
from gradwire_engine.traversal import ancestors

Indices: TypeAlias = NDArray[np.int64]


class Pattern(NamedTuple):
    """Places of a matrix's elements that may differ from zero, row by row; each once."""

    rows: Indices
    columns: Indices
    shape: tuple[int, int]


def sparsity(b: Builder, target: Var, source: Var, known: Known | None = None) -> Pattern:
    """The pattern of ``∂ target / ∂ source``, both in row-major order.

    What an operation moves is found by moving numbers; what it combines, by its terms, along the
    axes it names or in the stacks it goes over; of an unknown one everything depends on everything.
    Constants and integers that are given have the values that ``known`` gives. The time is linear,
    up to sorting, in the pairs of all instructions between.
    """
    return joint_sparsity(b, target, [source], Values(b, target, known))


def joint_sparsity(b: Builder, target: Var, sources: Sequence[Var], values: Value) -> Pattern:
    """The pattern in several sources, side by side; none of them depends on another."""
    sizes = [source.type.size for source in sources]
    walk = Walk(b, b.instructions, sum(sizes), values)
    walk.afford(sum(sizes))
    before = 0
    for source, size in zip(sources, sizes, strict=True):
        walk.pairs[source.slot] = np.arange(size) * (walk.columns + 1) + before
        before += size
    first = min(source.slot for source in sources)
    needed = ancestors(b.instructions, [target.slot], range(first + 1))
    walk.go(sorted(needed.difference([source.slot for source in sources])), target.slot)
    rows, places = np.divmod(walk.pairs.get(target.slot, NONE), walk.columns)
    return Pattern(rows, places, (target.type.size, sum(sizes)))


NONE: Indices = np.zeros(0, np.int64)
#: So many arrays of their size are in use while pairs are sorted, moved or coloured.
_COPIES = 12
_FEW_PAIRS = 4096


def afford(b: Builder, count: int, held: Sequence[int] = ()) -> None:
    """Refuse to combine so many pairs beside arrays of so many, if there is no room for them."""
    kinds = [ArrayType(NONE.dtype, (size,)) for size in [*[count] * _COPIES, *held]]
    b.afford(*kinds, hint="take products with jvp and grad")


class Walk:
    """Pairs of the slots that depend on the source, which has so many ``columns``."""

    def __init__(
        self,
        b: Builder,
        instructions: Sequence[Instruction],
        size: int,
        value: Value,
        around: Walk | None = None,
    ) -> None:
        self.b = b
        #: The walk over the tape that this one's loop is on.
        self.around = around
        self.instructions = instructions
        self.value = value
        self.columns = max(size, 1)
        self.pairs: dict[int, Indices] = {}
        #: The stacking of an instruction with several results: these share the pairs of a stack.
        self.stacks: dict[int, Shape] = {}
        #: The pairs of each result of a loop.
        self.results: dict[int, Sequence[Indices]] = {}

    def go(self, slots: Sequence[int], *kept: int) -> None:
        """Find the pairs of ``slots``, of all but those ``kept`` for as long as they are read."""
        last = {arg: slot for slot in slots for arg in self.instructions[slot].args}
        for slot in slots:
            self.b.poll()
            self.step(slot)
            for arg in self.instructions[slot].args:
                if last[arg] == slot and arg not in kept:
                    self.pairs.pop(arg, None)

    def step(self, slot: int) -> None:
        """Find the pairs of ``slot``."""
        op, args, kind, _ = self.instructions[slot]
        if not op.differentiable or not any(arg in self.pairs for arg in args):
            return
        if not isinstance(kind, TupleType) and not kind.differentiable:
            return
        found = None
        if isinstance(op, Loop | Pack):
            given = [self.pairs.get(arg, NONE) for arg in args]
            self.results[slot] = results(self, op, args) if isinstance(op, Loop) else given
            found = NONE  # marks it as reached
        elif isinstance(op, Item) and args[0] in self.results:
            found = self.results[args[0]][op.index]
        elif isinstance(op, Rows | Stacked):
            found = self._restacked(op, args[0], kind)
        elif op.linear and not (op.elementwise or isinstance(op, Item | AddStacks)):
            assert isinstance(kind, ArrayType)
            found = self._moved(op, args, kind)
        self.pairs[slot] = self._combined(slot) if found is None else found

    def afford(self, count: int) -> None:
        """Refuse to combine so many pairs, if there is no room for them beside those held."""
        if count > _FEW_PAIRS:
            held: dict[int, Indices] = {}
            walk: Walk | None = self
            while walk is not None:
                held.update({id(pairs): pairs for pairs in walk.pairs.values()})
                walk = walk.around
            afford(self.b, count, [pairs.size for pairs in held.values()])

    def _restacked(self, op: Rows | Stacked, arg: int, kind: Any) -> Indices:
        """Pairs of an array's parts, taken for any of them, or of an array of such."""
        whole = kind.shape if isinstance(op, Stacked) else self._shape(arg)
        part = (*whole[: op.axis], 1, *whole[op.axis + 1 :])
        numbers = _numbered(part, part, whole)
        move = self._selected if isinstance(op, Stacked) else self._grouped
        return move(self.pairs[arg], numbers)

    def _moved(self, op: Op, args: Sequence[int], kind: ArrayType) -> Indices | None:
        """Pairs where each element is one of the operands' or zero, or adds up what moved to it.

        The transpose of the operation then takes the elements' numbers to those of where each
        goes, or to 0, and squares of numbers to squares of what it takes the numbers to.
        """
        types: list[Any] = [self.instructions[arg].type for arg in args]
        numbered = self._numbered_operands(args, types, kind)
        if numbered is None:
            return None
        parts, before = [], 0
        for arg, x in zip(args, types, strict=True):
            if x.differentiable:
                parts.append(self.pairs.get(arg, NONE) + before * self.columns)
                before += x.size
        try:
            origins = _copied(op, types, numbered, self.b.poll)
            if origins is not None:
                return self._selected(np.concatenate(parts), origins)
            if len(parts) == 1:
                transposed = self._transposed(op, types, kind)
                cells = np.arange(1.0, 1 + kind.size).reshape(kind.shape)
                ends = transposed(cells, *numbered)
                if (transposed(cells * cells, *numbered) == ends * ends).all():
                    return self._grouped(parts[0], _indices(ends))
        except IndexError:  # a constant index out of range, which the replay explains
            pass
        return None

    def origins(self, slot: int) -> Indices | None:
        """For each element the number of the operand's that it is a copy of, -1 for a zero.

        None if the instruction does anything else, or has several operands to differentiate in.
        """
        op, args, kind, _ = self.instructions[slot]
        types: list[Any] = [self.instructions[arg].type for arg in args]
        if not op.linear or op.elementwise or not isinstance(kind, ArrayType):
            return None
        if not all(isinstance(x, ArrayType) for x in types):
            return None
        if [x.differentiable for x in types].count(True) != 1:
            return None
        numbered = self._numbered_operands(args, types, kind)
        try:
            return None if numbered is None else _copied(op, types, numbered, self.b.poll)
        except IndexError:
            return None

    def _numbered_operands(
        self, args: Sequence[int], types: Sequence[Any], kind: ArrayType
    ) -> list[Any] | None:
        """Operands to differentiate in as numbers from 1, all others as their values, if known."""
        self.afford(kind.size + sum([x.size for x in types]))
        numbered: list[Any] = []
        before = 0
        for arg, x in zip(args, types, strict=True):
            if x.differentiable:
                numbered.append(np.arange(before + 1.0, before + 1 + x.size).reshape(x.shape))
                before += x.size
            elif (value := self.value(arg, False)) is not None:
                numbered.append(value)
            else:
                return None
        return numbered

    def _transposed(
        self, op: Op, types: Sequence[ArrayType], kind: ArrayType
    ) -> Callable[..., Any]:
        """The derivative rule of a linear operation, as a function of ``z_bar`` and operands."""
        b = Builder(self.b.limits)
        z_bar, z, *operands = [b.input(x) for x in (kind, kind, *types)]
        bar, *_ = op.vjp(z_bar, z, *operands)
        assert bar is not None

        def kernel(z_bar: Any, *given: Any) -> Any:
            values = [z_bar, None, *given]  # what is linear does not read its result
            for rule, args, _, _ in b.instructions[len(values) :]:
                operands = [values[arg] for arg in args]
                values.append(REFERENCE.evaluate(rule, self.b.poll, *operands))
            return values[bar.slot]

        return kernel

    def _combined(self, slot: int) -> Indices:
        """Pairs where elements are combined: of each operand, along the axes that are mixed."""
        op, args, kind, _ = self.instructions[slot]
        shapes = [self._shape(arg) for arg in args]
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
        if not more:
            return first
        self.afford(sum([pairs.size for pairs in parts.values()]))
        return distinct(np.concatenate([first, *more]))

    def _shape(self, slot: int) -> Shape:
        kind = self.instructions[slot].type
        return self.stacks[slot] if isinstance(kind, TupleType) else kind.shape

    def _read(
        self,
        op: Op,
        number: int,
        args: Sequence[int],
        shapes: Sequence[Shape],
        result: Shape,
        pairs: Indices,
    ) -> Indices:
        """The terms that operand ``number``, of these pairs, adds to the result's."""
        self.afford(math.prod(shapes[number]) + math.prod(result))
        found = terms(op, number, shapes, result, lambda i: self.value(args[i], op.elementwise))
        if found and self._has_room(math.prod(found.shape)):
            results, reads = found.filled()
            return self._grouped(self._selected(pairs, reads), results)
        cells, reading = aligned(op, shapes, number, result)
        if math.prod(cells) != math.prod(shapes[number]):
            pairs = self._grouped(pairs, _numbered(cells, cells, shapes[number]))
        if math.prod(reading) != math.prod(result):
            pairs = self._selected(pairs, _numbered(cells, reading, result))
        return pairs

    def _has_room(self, count: int) -> bool:
        """True if there is room for so many terms; else all are taken to be there."""
        try:
            self.afford(count)
        except OverBudget:
            return False
        return True

    def _grouped(self, pairs: Indices, cells: Indices) -> Indices:
        """Pairs of rows that are sums: row ``i`` goes into row ``cells[i]``, none if negative."""
        self.afford(pairs.size)
        rows, places = np.divmod(pairs, self.columns)
        into = cells[rows]
        return distinct((into * self.columns + places)[into >= 0])

    def _selected(self, pairs: Indices, reads: Indices) -> Indices:
        """Pairs of rows that are copies: row ``i`` is row ``reads[i]``, empty if negative."""
        starts = np.searchsorted(pairs, reads * self.columns)
        lengths = np.searchsorted(pairs, (reads + 1) * self.columns) - starts
        ends = np.cumsum(lengths)
        count = int(ends[-1]) if ends.size else 0
        self.afford(count)
        places = np.arange(count) + np.repeat(starts - ends + lengths, lengths)
        moved = np.repeat(np.arange(reads.size) - reads, lengths)
        found: Indices = pairs[places] + moved * self.columns
        return found


def distinct(pairs: Indices) -> Indices:
    """Pairs rising, each once; merging what rises in parts beats the hashing of ``unique``."""
    rising = np.sort(pairs, kind="stable")
    found: Indices = rising[np.diff(rising, prepend=-1) != 0]
    return found


def _copied(op: Op, types: Sequence[Any], numbered: Sequence[Any], poll: Poll) -> Indices | None:
    """For each element of a result the operands' that it is, -1 for a zero; None if it is neither.

    A linear operation then takes the numbers of elements to those of where each comes from, and
    squares of numbers to squares of what it takes the numbers to.
    """
    squares = [
        numbers * numbers if x.differentiable else numbers
        for x, numbers in zip(types, numbered, strict=True)
    ]
    origins = REFERENCE.evaluate(op, poll, *numbered)
    if (REFERENCE.evaluate(op, poll, *squares) != origins * origins).any():
        return None
    return _indices(origins)


def _indices(numbers: Any) -> Indices:
    """Numbers counted from 1 as indices, -1 for 0."""
    found: Indices = numbers.ravel().astype(np.int64) - 1
    return found


def _numbered(cells: Shape, aligned: Shape, shape: Shape) -> Indices:
    """For each element of ``shape`` the number of the cell that it belongs to or reads."""
    numbers = np.arange(math.prod(cells)).reshape(aligned)
    return np.broadcast_to(numbers, shape).ravel()
