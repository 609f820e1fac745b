"""Index maps: how operations that compute nothing read their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.kernels.form import Affine, Value
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.arrays.diagonals import (
    MatrixDiagonal,
    OnDiagonal,
    Tril,
    Triu,
    nearest_offset,
)
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.rearranging import Flip, Roll
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.patterns import ARRAY, Pattern, Span, axes_ahead
from gradwire_engine.tape import Shape

#: One index for each axis of an array.
Index: TypeAlias = tuple[Affine, ...]
#: Most pieces of an array that are distinguished at each element.
MOST_PIECES = 3
#: The same of parts that overlap, so that most elements are sums of all.
_MOST_OVERLAPPING = 16


class Bound(NamedTuple):
    """The bounds of an index: at least ``low``, less than ``high``."""

    place: Affine
    low: int
    high: int


class Piece(NamedTuple):
    """Operand ``number`` at ``place``, where all ``bounds`` hold; pieces may overlap."""

    number: int
    place: Index
    bounds: tuple[Bound, ...] = ()


class Split(NamedTuple):
    """An element of which the first piece whose bounds hold is taken, or the sum of all pieces."""

    pieces: Sequence[Piece]
    added: bool = False


#: From an operation and an element of its result to what that reads.
_Map: TypeAlias = Callable[[Any, "Element"], Split | None]


#: The place along an axis of some length that an element of an operand says, as NumPy counts.
Selected: TypeAlias = Callable[[int, Index, int], Affine]


def _nothing(number: int, index: Index, length: int) -> Affine:
    """For views, whose places are not from data."""
    raise AssertionError(number)


class Element(NamedTuple):
    """An element at ``place`` of a result of ``shape``, in a nest of so many ``loops``."""

    shapes: Sequence[Shape]
    shape: Shape
    place: Index
    loops: int
    selected: Selected = _nothing

    @property
    def nowhere(self) -> Affine:
        """The index 0."""
        return Affine((0,) * self.loops, 0)


def reads(op: Op, at: Element) -> Split | None:
    """The expression of an element; None where the result has the operand's row-major order."""
    return _MAPS[type(op)](op, at)


def is_map(op: Op, shapes: Sequence[Shape]) -> bool:
    """True if ``reads`` knows the operation."""
    if type(op) not in _MAPS:
        return False
    if isinstance(op, Placed):
        few = len(shapes) <= _MOST_OVERLAPPING and _overlap(op, shapes)
        return few and all(map(_one_by_one, op.patterns))
    if isinstance(op, ScatterAdd):
        return _one_by_one(op.pattern)
    return type(op) not in _CHOICES or len(shapes) <= MOST_PIECES


def _overlap(op: Placed, shapes: Sequence[Shape]) -> bool:
    """True if most elements of a sum of parts are of most parts, as of neighbours on a grid."""
    return 2 * sum(map(prod, shapes)) > len(shapes) * prod(op.shape)


def _one_by_one(pattern: Pattern) -> bool:
    """True if a pattern selects neighbours, forward or backward."""
    return all(p != ARRAY and (type(p) is not Span or p.step in (None, 1, -1)) for p in pattern)


def pieces(op: Op, operands: int) -> int:
    """Between how many pieces an element of the result is chosen, 0 where that is no question."""
    if isinstance(op, Roll):
        return 1 << len({*op.axes})
    if isinstance(op, Pad):
        return 1
    return operands if type(op) in _CHOICES and operands > 1 else 0


def is_view(op: Op) -> bool:
    """True if the operation gives another view of its operand, which costs nothing."""
    return type(op) in _VIEWS and ARRAY not in getattr(op, "pattern", ())


def plus(index: Affine, offset: int) -> Affine:
    """``index + offset``."""
    return index._replace(offset=index.offset + offset)


def times(index: Affine, factor: int, offset: int = 0) -> Affine:
    """``index factor + offset``."""
    return Affine(
        tuple([c * factor for c in index.coefficients]),
        index.offset * factor + offset,
        tuple([(value, f * factor) for value, f in index.terms]),
    )


def minus(index: Affine, other: Affine) -> Affine:
    """``index - other``."""
    pairs = zip(index.coefficients, other.coefficients, strict=True)
    terms = (*index.terms, *[(value, -factor) for value, factor in other.terms])
    return Affine(tuple([a - b for a, b in pairs]), index.offset - other.offset, terms)


def aligned(index: Index, shape: Shape, loops: int) -> Index:
    """The index into an operand that is broadcast to the array of ``index``."""
    last = index[len(index) - len(shape) :]
    nothing = Affine((0,) * loops, 0)
    return tuple([nothing if n == 1 else i for i, n in zip(last, shape, strict=True)])


def flat(index: Index, shape: Shape, loops: int) -> Affine:
    """The place in row-major order."""
    coefficients, offset, stride = [0] * loops, 0, 1
    terms: dict[Value, int] = {}
    for each, length in zip(reversed(index), reversed(shape), strict=True):
        offset += each.offset * stride
        for loop, c in enumerate(each.coefficients):
            coefficients[loop] += c * stride
        for value, factor in each.terms:
            terms[value] = terms.get(value, 0) + factor * stride
        stride *= length
    return Affine(tuple(coefficients), offset, tuple(sorted(terms.items())))


def _broadcast(op: BroadcastTo, at: Element) -> Split:
    return Split([Piece(0, aligned(at.place, at.shapes[0], at.loops))])


def _transpose(op: Transpose, at: Element) -> Split:
    inverse = sorted(range(len(op.axes)), key=op.axes.__getitem__)
    return Split([Piece(0, tuple([at.place[axis] for axis in inverse]))])


def _reshape(op: Reshape, at: Element) -> Split | None:
    """The map of axes of length 1 that come or go."""
    (source,) = at.shapes
    if [n for n in source if n != 1] != [n for n in at.shape if n != 1]:
        return None
    kept = iter([i for i, n in zip(at.place, at.shape, strict=True) if n != 1])
    nothing = Affine((0,) * at.loops, 0)
    return Split([Piece(0, tuple([nothing if n == 1 else next(kept) for n in source]))])


def _getitem(op: GetItem, at: Element) -> Split:
    return Split([Piece(0, selected_place(op.pattern, at))])


def selected_place(pattern: Pattern, at: Element) -> Index:
    """The place in the first operand that ``pattern`` selects by the other operands."""
    shape, *arrays = at.shapes
    gathered = len(broadcast_shapes(*arrays)) if arrays else 0
    ahead = axes_ahead(pattern) if arrays else 0
    own = at.place[ahead : ahead + gathered]
    ours = iter((*at.place[:ahead], *at.place[ahead + gathered :]))
    found = list[Affine]()
    number = 0
    for item in pattern:
        if item is None:
            next(ours)
            continue
        length = shape[len(found)]
        if isinstance(item, Span):
            start, _, step = slice(*item).indices(length)
            found.append(times(next(ours), step, start))
        elif item == ARRAY:
            number += 1
            index = aligned(own, arrays[number - 1], at.loops)
            found.append(at.selected(number, index, length))
        else:
            found.append(Affine((0,) * at.loops, item % length if item < 0 else item))
    return tuple(found)


def _slice(op: Slice, at: Element) -> Split:
    return Split([Piece(0, tuple([plus(i, s) for i, s in zip(at.place, op.starts, strict=True)]))])


def _flip(op: Flip, at: Element) -> Split:
    turned = [
        times(i, -1, n - 1) if axis in op.axes else i
        for axis, (i, n) in enumerate(zip(at.place, at.shape, strict=True))
    ]
    return Split([Piece(0, tuple(turned))])


def _roll(op: Roll, at: Element) -> Split:
    pieces = [Piece(0, at.place)]
    shifts: dict[int, int] = {}
    for shift, axis in zip(op.shift, op.axes, strict=True):
        shifts[axis] = shifts.get(axis, 0) + shift
    for axis, shift in shifts.items():
        length = at.shape[axis]
        by, whole = shift % length if length else 0, at.place[axis]
        if not by:
            continue
        pieces = [
            Piece(0, _put(piece.place, axis, plus(piece.place[axis], move)), (*piece.bounds, bound))
            for piece in pieces
            for move, bound in (
                (-by, Bound(whole, by, length)),
                (length - by, Bound(whole, 0, by)),
            )
        ]
    return Split(pieces)


def _put(index: Index, axis: int, new: Affine) -> Index:
    return (*index[:axis], new, *index[axis + 1 :])


def _concatenate(op: Concatenate, at: Element) -> Split:
    axis = op.axis
    ends = [*accumulate([each[axis] for each in at.shapes])]
    own = at.place[axis]
    return Split(
        [
            Piece(number, _put(at.place, axis, plus(own, -start)), (Bound(own, start, end),))
            for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
        ]
    )


def _stack(op: Stack, at: Element) -> Split:
    axis = op.axis
    rest = (*at.place[:axis], *at.place[axis + 1 :])
    own = at.place[axis]
    return Split([Piece(k, rest, (Bound(own, k, k + 1),)) for k in range(len(at.shapes))])


def _pad(op: Pad, at: Element) -> Split:
    (source,) = at.shapes
    moved, bounds = list[Affine](), list[Bound]()
    for i, before, n, whole in zip(at.place, op.before, source, at.shape, strict=True):
        moved.append(plus(i, -before))
        if n != whole:
            bounds.append(Bound(i, before, before + n))
    return Split([Piece(0, tuple(moved), tuple(bounds))], added=True)


def _rows(op: Rows, at: Element) -> Split:
    """Of the rows of an array, the first axis of whose type is that along which they are."""
    number, *rest = at.place
    return Split([Piece(0, (*rest[: op.axis], number, *rest[op.axis :]))])


def _stacked(op: Stacked, at: Element) -> Split:
    own, (source,) = at.place[op.axis], at.shapes
    place = (own, *at.place[: op.axis], *at.place[op.axis + 1 :])
    bounds = () if source[0] >= op.length else (Bound(own, 0, source[0]),)
    return Split([Piece(0, place, bounds)], added=True)


def _scatter(op: ScatterAdd, at: Element) -> Split:
    return _added([op.pattern], at)


def _placed(op: Placed, at: Element) -> Split:
    return _added(op.patterns, at)


def _added(patterns: Sequence[Pattern], at: Element) -> Split:
    pieces = list[Piece]()
    for number, pattern in enumerate(patterns):
        found, bounds = list[Affine](), list[Bound]()
        axis = 0
        for item in pattern:
            if item is None:
                found.append(Affine((0,) * at.loops, 0))
                continue
            length, i = at.shape[axis], at.place[axis]
            axis += 1
            if not isinstance(item, Span):
                place = item % length if item < 0 else item
                bounds.append(Bound(i, place, place + 1))
                continue
            start, stop, step = slice(*item).indices(length)
            low, high = (start, stop) if step == 1 else (stop + 1, start + 1)
            found.append(plus(i, -start) if step == 1 else times(i, -1, start))
            if (low, high) != (0, length):
                bounds.append(Bound(i, low, high))
        pieces.append(Piece(number, tuple(found), tuple(bounds)))
    return Split(pieces, added=True)


def _tril(op: Tril, at: Element) -> Split:
    rows, _ = at.shape[-2:]
    return _between(at, -rows, nearest_offset(op.k, at.shape))


def _triu(op: Triu, at: Element) -> Split:
    _, columns = at.shape[-2:]
    return _between(at, nearest_offset(op.k, at.shape), columns)


def _between(at: Element, first: int, last: int) -> Split:
    """The elements on some diagonals, 0 elsewhere."""
    *_, i, j = at.place
    return Split([Piece(0, at.place, (Bound(minus(j, i), first, last + 1),))], added=True)


def _on_diagonal(op: OnDiagonal, at: Element) -> Split:
    *batch, i, j = at.place
    own = (*batch, plus(j, -max(op.offset, 0)))
    return Split([Piece(0, own, (Bound(minus(j, i), op.offset, op.offset + 1),))], added=True)


def _diagonal(op: MatrixDiagonal, at: Element) -> Split:
    *batch, k = at.place
    return Split([Piece(0, (*batch, plus(k, -min(op.offset, 0)), plus(k, max(op.offset, 0))))])


_MAPS: dict[type[Op], _Map] = {
    BroadcastTo: _broadcast,
    Transpose: _transpose,
    Reshape: _reshape,
    GetItem: _getitem,
    Slice: _slice,
    Flip: _flip,
    Roll: _roll,
    Concatenate: _concatenate,
    Stack: _stack,
    Pad: _pad,
    ScatterAdd: _scatter,
    Placed: _placed,
    Rows: _rows,
    Stacked: _stacked,
    Tril: _tril,
    Triu: _triu,
    OnDiagonal: _on_diagonal,
    MatrixDiagonal: _diagonal,
}
#: Those of which an element is one of several operands.
_CHOICES = frozenset((Concatenate, Stack, Placed))
_VIEWS = frozenset((BroadcastTo, Transpose, Reshape, GetItem, Slice, Flip, Rows, MatrixDiagonal))
