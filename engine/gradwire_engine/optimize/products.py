"""The normal form of contractions, and what is read into it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, OnDiagonal
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose, View
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern
from gradwire_engine.ops.pointwise.arithmetic import Multiply, Negative, Square
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import ValueTable
from gradwire_engine.tape import DType, Shape

#: The label of each axis, none of axes of length 1.
Labels: TypeAlias = Sequence["int | None"]
#: Most arrays of one product: the order of more is not looked for.
MOST_FACTORS = 8


class Form(NamedTuple):
    """Arrays over labelled axes that are multiplied, and summed over what ``result`` lacks.

    A label twice in one array is a diagonal; ``splits`` are the labels in which some were split.
    What ``selects`` is an index i that stands for the matrix that is 1 at ``r, i[r]``, else 0.
    """

    shapes: tuple[Shape, ...]
    labels: tuple[tuple[int | None, ...], ...]
    selects: tuple[bool, ...]
    result: tuple[int | None, ...]
    lengths: tuple[int, ...]
    splits: tuple[tuple[int, tuple[int, ...]], ...]
    dtype: DType


class Factor(NamedTuple):
    """A slot, and the labels of its axes."""

    slot: int
    labels: Labels
    selects: bool = False


#: Factors before they are looked into, and whether others read what they are views of.
_Pending: TypeAlias = tuple[int, Labels, bool]


class Product:
    """A form under construction, the slots of its arrays, and a number that multiplies it.

    ``through`` looks into values that are there anyway, since others read them or since they are
    computed once for all replays. ``selecting`` looks into rows that indices select.
    """

    def __init__(self, values: ValueTable, dtype: DType, *, through: bool, selecting: bool) -> None:
        self.values = values
        self.dtype = dtype
        self.through = through
        self.selecting = selecting
        #: Whether something that is there anyway was met, and its nanoseconds for each reader.
        self.stopped = False
        self.share = 0.0
        self.scale: Any = 1
        self.factors: list[Factor] = []
        #: The length of each label, and the labels in which some were split.
        self.lengths: list[int] = []
        self.splits: dict[int, tuple[int, ...]] = {}
        #: The labels of indices, which are not split.
        self.indexed: set[int] = set()
        self.result: Labels = ()

    @classmethod
    def of(
        cls, op: Op, args: Sequence[int], values: ValueTable, *, through: bool, selecting: bool
    ) -> Product:
        """The result in question as a product, whoever reads it."""
        product = cls(values, values.dtype(args[0]), through=through, selecting=selecting)
        product.result = product.axes(values.kind.shape)  # type: ignore[union-attr]
        for arg, labels in _PARTS[type(op)](product, op, args, product.result) or ():
            product.multiply(arg, labels)
        return product

    def is_only(self, slot: int) -> bool:
        """True if nothing is multiplied."""
        return len(self.factors) == 1 and self.factors[0].slot == slot and self.scale == 1

    def replaced(self, place: int, slot: int) -> Product:
        """The same with a slot that broadcasts in place of a factor."""
        other = Product(self.values, self.dtype, through=self.through, selecting=self.selecting)
        other.scale, other.result = self.scale, self.result
        other.lengths, other.splits = [*self.lengths], {**self.splits}
        other.indexed = {*self.indexed}
        other.factors = self.factors[:place] + self.factors[place + 1 :]
        other.multiply(slot, _broadcast(self.values.shape(slot), self.factors[place].labels))
        return other

    def label(self, length: int) -> int | None:
        """A new label, none for an axis of length 1."""
        if length == 1:
            return None
        self.lengths.append(length)
        return len(self.lengths) - 1

    def axes(self, shape: Shape) -> list[int | None]:
        """New labels for the axes of an array."""
        return [self.label(length) for length in shape]

    def multiply(self, slot: int, labels: Labels, *, shared: bool = False) -> None:
        """Multiply by what a slot is the product of, or by itself."""
        if type(self.values.code[slot].op) not in _PARTS:
            self.factors.append(Factor(slot, labels))
            return
        pending: list[_Pending] = [(slot, labels, shared)]
        while pending:
            slot, labels, shared = pending.pop()
            op, args, _, _ = self.values.code[slot]
            find = _PARTS.get(type(op))
            parts = None
            if find is not None and len(self.factors) + len(pending) < MOST_FACTORS - 1:
                shared = shared or self.values.shared(slot)
                if self._opens(slot, op, shared=shared):
                    parts = find(self, op, args, labels)
            if parts is None:
                self.factors.append(Factor(slot, labels))
            else:
                pending += [(arg, own, shared) for arg, own in reversed(parts)]

    def _opens(self, slot: int, op: Op, *, shared: bool) -> bool:
        """True if to look into a slot: a view, or what is made at each replay for one reader.

        What is there anyway is read, unless it is larger than what it is made of.
        """
        if isinstance(op, View):
            return True
        values = self.values
        if not shared and not values.stands(slot):
            return True
        args = values.code[slot].args
        scaled = not values.numbers.keys().isdisjoint(args)
        if scaled or sum(map(values.size, args)) >= 2 * values.size(slot):
            return False
        self.stopped = True
        if not self.through:
            made = values.costs.elementwise(values.size(slot), 0, self.dtype.itemsize)
            self.share += made / max(values.reads(slot), 1)
        return self.through

    def index(self, slot: int, row: int | None, column: int | None) -> None:
        """Multiply by the matrix of an index."""
        assert row is not None
        assert column is not None
        self.indexed |= {row, column}
        self.factors.append(Factor(slot, (row, column), selects=True))

    def is_whole(self, label: int | None) -> bool:
        """True if an axis is neither of length 1 nor in parts."""
        return label is not None and label not in self.splits

    def split(self, label: int, lengths: Sequence[int]) -> tuple[int, ...] | None:
        """The labels of which an axis is made, in row-major order, if they have these lengths."""
        parts = self.splits.get(label)
        if label in self.indexed:
            return None
        if parts is None:
            first = len(self.lengths)
            self.lengths += lengths
            parts = self.splits[label] = tuple(range(first, len(self.lengths)))
        return parts if [self.lengths[part] for part in parts] == [*lengths] else None

    @property
    def form(self) -> Form:
        """All but the slots and the number."""
        shapes, every, selects = [], [], []
        for slot, labels, selecting in self.factors:
            shapes.append(() if selecting else self.values.shape(slot))
            every.append(tuple(labels))
            selects.append(selecting)
        lengths, splits = tuple(self.lengths), tuple(self.splits.items())
        result = tuple(self.result)
        return Form(
            tuple(shapes), tuple(every), tuple(selects), result, lengths, splits, self.dtype
        )


def is_product(op: Op) -> bool:
    """True if the result of an operation is a product, or a view."""
    return type(op) in _PARTS


_Parts: TypeAlias = "list[tuple[int, Labels]] | None"


def _of_product(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    for number, other in (args, args[::-1]):
        if (c := p.values.number(number)) is not None:
            p.scale = p.scale * c
            return [(other, labels)]
    return [(arg, _broadcast(p.values.shape(arg), labels)) for arg in args]


def _broadcast(shape: Shape, labels: Labels) -> Labels:
    """The labels of an operand that broadcasts to axes with ``labels``."""
    own = labels[len(labels) - len(shape) :]
    return [None if n == 1 else label for n, label in zip(shape, own, strict=True)]


def _of_square(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    return [(args[0], labels), (args[0], labels)]


def _of_negative(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    p.scale = -p.scale
    return [(args[0], labels)]


def _of_repeated(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    return [(args[0], _broadcast(p.values.shape(args[0]), labels))]


def _of_turned(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    assert isinstance(op, Transpose)
    return [(args[0], [labels[op.axes.index(axis)] for axis in range(len(labels))])]


def _of_diagonal(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    assert isinstance(op, MatrixDiagonal)
    square = op.offset == 0 and len({*p.values.shape(args[0])[-2:]}) == 1
    return [(args[0], [*labels, labels[-1]])] if square else None


def _of_reshaped(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    """Axes of length 1 that come or go, and axes that become one."""
    assert isinstance(op, Reshape)
    old, found = [*p.values.shape(args[0])], []
    for length, label in zip(op.shape, labels, strict=True):
        if length == 1:
            continue
        group: list[int] = []
        while math.prod(group) < length and old:
            group.append(old.pop(0))
        lengths = [n for n in group if n != 1]
        if math.prod(lengths) != length or label is None:
            return None
        parts = (label,) if len(lengths) == 1 else p.split(label, lengths)
        if parts is None:
            return None
        rest = iter(parts)
        found += [None if n == 1 else next(rest) for n in group]
    return [(args[0], found + [None] * len(old))]


def _of_sum(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    assert isinstance(op, Sum)
    left = iter(labels)
    shape = p.values.shape(args[0])
    return [(args[0], [p.label(n) if i in op.axes else next(left) for i, n in enumerate(shape)])]


def _of_matrices(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    x, y = args
    left, right = p.values.shape(x), p.values.shape(y)
    inner, rest = p.label(left[-1]), [*labels]
    column = [rest.pop()] if len(right) > 1 else []
    row = [rest.pop()] if len(left) > 1 else []
    first = [*_broadcast(left[:-2], rest), *row, inner]
    second = [*_broadcast(right[:-2], rest), inner, *column] if column else [inner]
    return [(x, first), (y, second)]


def _of_contraction(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    assert isinstance(op, Contract)
    known = dict(zip(op.labels.result, labels, strict=True))
    for letter, length in op.lengths(*map(p.values.shape, args)).items():
        if letter not in known:
            known[letter] = p.label(length)
    pairs = zip(args, op.labels, strict=False)
    return [(arg, [known[letter] for letter in own]) for arg, own in pairs]


def _of_rows(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    """Rows that an index selects; of an identity matrix they are those of the index itself."""
    assert isinstance(op, GetItem)
    if not _is_of_rows(p, op.pattern, args):
        return None
    (x, index), row, count = args, labels[0], p.values.shape(args[0])[0]
    if not p.is_whole(row) or count == 1:
        return None
    if len(labels) == 2 and p.is_whole(labels[1]) and _is_identity(x, p.values):
        p.index(index, row, labels[1])
        return []
    column = p.label(count)
    p.index(index, row, column)
    return [(x, [column, *labels[1:]])]


def _of_added(p: Product, op: Op, args: Sequence[int], labels: Labels) -> _Parts:
    """Rows that are added to those that an index selects."""
    assert isinstance(op, ScatterAdd)
    if not _is_of_rows(p, op.pattern, args):
        return None
    (x, index), column, count = args, labels[0], p.values.shape(args[0])[0]
    if not p.is_whole(column) or count == 1:
        return None
    row = p.label(count)
    p.index(index, row, column)
    return [(x, [row, *labels[1:]])]


def _is_of_rows(p: Product, pattern: Pattern, args: Sequence[int]) -> bool:
    """True if one index selects rows."""
    rows = pattern[:1] == (ARRAY,) and {*pattern[1:]} <= {FULL}
    return p.selecting and rows and len(p.values.shape(args[1])) == 1


def _is_identity(slot: int, values: ValueTable) -> bool:
    op, args, _, _ = values.code[slot]
    if not isinstance(op, OnDiagonal) or op.offset or op.rows != op.columns:
        return False
    ones, number, _, _ = values.code[args[0]]
    return isinstance(ones, BroadcastTo) and values.number(number[0]) == 1


#: Each operation as a product: of which slots, with which labels.
_PARTS: Mapping[type[Op], Callable[[Product, Op, Sequence[int], Labels], _Parts]] = {
    Multiply: _of_product,
    Square: _of_square,
    Negative: _of_negative,
    BroadcastTo: _of_repeated,
    Transpose: _of_turned,
    MatrixDiagonal: _of_diagonal,
    Reshape: _of_reshaped,
    Sum: _of_sum,
    MatMul: _of_matrices,
    Contract: _of_contraction,
    GetItem: _of_rows,
    ScatterAdd: _of_added,
}
