"""Steps of operations on small matrices: passes over rows, in nests of all elements.

Rows that a pass leaves alone are selected, not left out, so that vectors go over whole rows.
Sources: Golub and Van Loan, Matrix Computations (2013), 3.1, 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from gradwire_engine.kernels.form import (
    Affine,
    Count,
    For,
    Literal,
    Load,
    Nest,
    Node,
    Output,
    Reduce,
    Step,
    Store,
    Value,
    Within,
)
from gradwire_engine.kernels.maps import Index, aligned, flat, minus
from gradwire_engine.kernels.memory import Key
from gradwire_engine.kernels.nodes import Nodes
from gradwire_engine.ops.linalg.determinants import Det, LogAbsDet
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.kernels.groups import Group

#: Most rows of a matrix, and most columns beside it.
LARGEST = 16
#: Elements that printers may compute at once.
_VECTOR = 8
#: Gives an element of a matrix: of the row and the column that are given.
Matrix: TypeAlias = Callable[["Cells", Affine, Affine], Value]
#: Goes on with a pivot: its value, and whether it was in its row.
Pivot: TypeAlias = Callable[["Cells", Value, Value], None]


class Cells(Nodes):
    """Writes a nest of these loops, in a pass over matrices or beside all passes.

    ``i`` and ``j`` are the numbers of its loops, ``k`` that of the pass.
    """

    def __init__(self, of: MatrixSteps, lengths: Shape, kept: int, *, passes: bool) -> None:
        super().__init__()
        self.of, self._lengths, self._kept = of, lengths, kept
        self._outer = of.around + passes
        self.loops = self._outer + len(lengths)
        self.k = self.number(of.around) if passes else self.nowhere
        self.i = self.number(self._outer) if lengths else self.nowhere
        self.j = self.number(self._outer + 1) if len(lengths) > 1 else self.nowhere
        self._outputs: list[Output] = []

    def number(self, loop: int) -> Affine:
        """The number of a loop, those around counted."""
        return Affine(tuple([int(k == loop) for k in range(self.loops)]), 0)

    @property
    def nowhere(self) -> Affine:
        """The index 0."""
        return Affine((0,) * self.loops, 0)

    @property
    def batch(self) -> Index:
        """The number of the matrix."""
        first = self.of.around - len(self.of.batch)
        return tuple([self.number(first + axis) for axis in range(len(self.of.batch))])

    def at(self, key: Key, *index: Affine) -> Value:
        """An element of a buffer, of those of this matrix if it has all."""
        return self.node(Load(key, self._place(key, index), None, self.of.char))

    def operand(self, number: int, *index: Affine) -> Value:
        """An element of an operand."""
        return self.node(self.of.operand(number, self.batch, index, self.loops))

    def index_in(self, key: Key) -> Affine:
        """The index that is in a buffer."""
        value = self.convert(self.at(key), "l")
        return self.nowhere._replace(terms=((value, 1),))

    def counted(self, index: Affine) -> Value:
        """An index as a number like the matrix's."""
        return self.convert(self.node(Count(index)), self.of.char)

    def constant(self, value: float) -> Value:
        """A number like the matrix's."""
        return self.node(Literal(value, self.of.char))

    def equal(self, a: Affine, b: Affine) -> Value:
        """True if two indices are equal."""
        return self.node(Within(minus(a, b), 0, 1))

    def beyond(self, a: Affine, b: Affine) -> Value:
        """True if index ``a`` is greater than ``b``."""
        return self.node(Within(minus(a, b), 1, LARGEST + 1))

    def store(self, key: Key, value: Value, *index: Affine) -> None:
        """Store an element of a buffer."""
        self._outputs.append(Store(key, self._place(key, index), value))

    def reduce(self, kind: str, key: Key, value: Value, *index: Affine) -> None:
        """Put values together over the loops that are not kept."""
        self._outputs.append(Reduce(kind, key, self._place(key, index), value))

    def require(self, holds: Value) -> None:
        """Set the fault where something does not hold."""
        self._outputs.append(Reduce("all", self.of.group.memory.fault, self.nowhere, holds))

    def nest(self) -> Nest:
        """The steps so far."""
        return Nest(self._lengths, self._kept, tuple(self.nodes), tuple(self._outputs), self._outer)

    def _place(self, key: Key, index: Sequence[Affine]) -> Affine:
        shape = self.of.rooms[key]
        own = (*self.batch, *index) if len(shape) > len(index) else tuple(index)
        return flat(own, shape, self.loops)


class MatrixSteps:
    """Computes an operation on each matrix of a stack, one after the other."""

    def __init__(self, group: Group, slot: int) -> None:
        self.op, self._args, kind, _ = group.instruction(slot)
        assert isinstance(kind, ArrayType)
        self.group, self._slot = group, slot
        self._shape, self.char = kind.shape, kind.dtype.char
        #: The number of rows of matrices, and their stack.
        self.rows = group.shape(self._args[0])[-1]
        inner = 0 if isinstance(self.op, Det | LogAbsDet) else 2
        self.batch = kind.shape[: len(kind.shape) - inner]
        self.around = group.outer + len(self.batch)
        #: The shapes of buffers.
        self.rooms: dict[Key, Shape] = {}
        self.result = self.room(*kind.shape)

    def room(self, *shape: int) -> Key:
        """A buffer."""
        key = self.group.memory.own(shape, self.char)
        self.rooms[key] = shape
        return key

    def cells(self, *lengths: int, kept: int | None = None, passes: bool = True) -> Cells:
        """A nest to be written."""
        return Cells(self, lengths, len(lengths) if kept is None else kept, passes=passes)

    def operand(self, number: int, batch: Index, index: Index, loops: int) -> Node:
        """An element of an operand."""
        slot = self._args[number]
        stack = self.group.shape(slot)[:-2]
        return self.group.read(slot, (*aligned(batch, stack, loops), *index), loops)

    def stacked(self, made: Sequence[Step]) -> list[Step]:
        """The steps for all matrices, then where their results are to be."""
        for length in reversed(self.batch):
            made = [For(length, backward=False, nests=tuple(made))]
        return [*made, self._moved()]

    def _moved(self) -> Nest:
        group, shape, slot = self.group, self._shape, self._slot
        loops = group.outer + len(shape)
        index = tuple([_number(group.outer + axis, loops) for axis in range(len(shape))])
        load = Load(self.result, flat(index, shape, loops), None, self.char)
        outputs: list[Output] = [Store(*group.target(slot, index, loops), 0)]
        if (flag := group.flag(slot)) is not None:
            outputs.append(Reduce("finite", flag, Affine((0,) * loops, 0), 0))
        return Nest(shape, len(shape), (load,), tuple(outputs), group.outer)

    # What operations are made of

    def filled(self, key: Key, of: Matrix) -> Step:
        """A buffer whose elements a matrix gives."""
        cells = self.cells(*self.rooms[key][-2:], passes=False)
        cells.store(key, of(cells, cells.i, cells.j), cells.i, cells.j)
        return cells.nest()

    def substituted(self, z: Key, a: Matrix, *, lower: bool, unit: bool = False) -> Step:
        """``a^-1 z`` in place of ``z``, of a triangle of ``a``."""
        n, m = self.rooms[z][-2:]
        row = self.room(m)
        cells = self.cells(m)
        k, j = cells.k, cells.i
        solved = cells.at(z, k, j)
        if not unit:
            pivot = a(cells, k, k)
            cells.require(cells.apply("not_equal", pivot, cells.constant(0.0)))
            solved = cells.apply("divide", solved, pivot)
        cells.store(row, solved, j)
        first = cells.nest()
        cells = self.cells(n, m)
        i, j, k = cells.i, cells.j, cells.k
        old, solved = cells.at(z, i, j), cells.at(row, j)
        less = cells.apply("subtract", old, cells.apply("multiply", a(cells, i, k), solved))
        follows = cells.beyond(i, k) if lower else cells.beyond(k, i)
        rest = cells.apply("where", follows, less, old)
        cells.store(z, cells.apply("where", cells.equal(i, k), solved, rest), i, j)
        return For(n, not lower, (first, cells.nest()))

    def eliminated(self, w: Key, then: Pivot | None = None) -> Step:
        """Gauss's elimination in place, with the largest pivots; ``then`` writes what is done next.

        That is given a pivot, and whether it was in its row.
        """
        n, m = self.rows, self.rooms[w][-1]
        size, place = self.room(), self.room()
        chosen, here, factor = self.room(m), self.room(m), self.room(n)

        def sizes(cells: Cells) -> tuple[Value, Value]:
            """True if a row has not been a pivot's, and how large its element is."""
            left = cells.node(Within(minus(cells.i, cells.k), 0, LARGEST + 1))
            return left, cells.apply("fabs", cells.at(w, cells.i, cells.k))

        def is_pivot(cells: Cells, row: Affine) -> Value:
            return cells.equal(row, cells.index_in(place))

        largest = self.cells(n, kept=0)
        left, each = sizes(largest)
        each = largest.apply("where", left, each, largest.constant(-1.0))
        largest.reduce("max", size, each)

        first = self.cells(n, kept=0)  # the first row that has it
        left, each = sizes(first)
        found = first.apply("and", left, first.apply("equal", each, first.at(size)))
        last = first.constant(float(n - 1))
        first.reduce("min", place, first.apply("where", found, first.counted(first.i), last))

        swapped = self.cells(m)
        swapped.store(chosen, swapped.at(w, swapped.index_in(place), swapped.i), swapped.i)
        swapped.store(here, swapped.at(w, swapped.k, swapped.i), swapped.i)

        factors = self.cells(n)
        i, k, pivot_size = factors.i, factors.k, factors.at(size)
        each = factors.apply(
            "where", is_pivot(factors, i), factors.at(here, k), factors.at(w, i, k)
        )
        factors.store(factor, factors.apply("divide", each, factors.at(chosen, k)), i)
        some = factors.apply("greater", pivot_size, factors.constant(0.0))
        finite = factors.apply("less", pivot_size, factors.constant(inf))
        factors.require(factors.apply("and", some, finite))

        rows = self.cells(n, m)
        i, j, k = rows.i, rows.j, rows.k
        old = rows.apply("where", is_pivot(rows, i), rows.at(here, j), rows.at(w, i, j))
        row = rows.at(chosen, j)
        less = rows.apply("subtract", old, rows.apply("multiply", rows.at(factor, i), row))
        rest = rows.apply("where", rows.beyond(i, k), less, old)
        rows.store(w, rows.apply("where", rows.equal(i, k), row, rest), i, j)

        nests = [largest, first, swapped, factors, rows]
        if then is not None:
            nests.append(self.cells())
            then(nests[-1], nests[-1].at(chosen, nests[-1].k), is_pivot(nests[-1], nests[-1].k))
        return For(n, backward=False, nests=tuple([each.nest() for each in nests]))

    def solved(self, right: Matrix, z: Key, then: Pivot | None = None) -> list[Step]:
        """``a^-1 right`` of the first operand into ``z``."""
        n, m = self.rows, self.rooms[z][-1]
        w = self.room(n, _rounded(n + m))
        steps: list[Step] = []
        if self.rooms[w][-1] > n + m:
            steps.append(self.filled(w, lambda at, i, j: at.constant(0.0)))
        cells = self.cells(n, n, passes=False)
        cells.store(w, cells.operand(0, cells.i, cells.j), cells.i, cells.j)
        steps.append(cells.nest())
        cells = self.cells(n, m, passes=False)
        beside = cells.j._replace(offset=n)
        cells.store(w, right(cells, cells.i, cells.j), cells.i, beside)
        steps += [cells.nest(), self.eliminated(w, then)]
        steps.append(self.filled(z, lambda at, i, j: at.at(w, i, j._replace(offset=n))))
        steps.append(self.substituted(z, lambda at, i, j: at.at(w, i, j), lower=False))
        return steps

    def number(self, key: Key, value: float) -> Step:
        """A step that puts a number into a buffer."""
        cells = self.cells(passes=False)
        cells.store(key, cells.constant(value))
        return cells.nest()


def _rounded(columns: int) -> int:
    """Columns beside which there may be others, so that vectors go over whole rows."""
    return columns if columns < _VECTOR else -(-columns // _VECTOR) * _VECTOR


def _number(loop: int, loops: int) -> Affine:
    return Affine(tuple([int(k == loop) for k in range(loops)]), 0)
