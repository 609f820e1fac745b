"""Arrays that are stored in several steps, each of which writes elements of an operand.

Zeros to which rows are added, copies of which elements are replaced, and joined arrays, piece by
piece: where an element goes is an index map from an operand to the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from gradwire_engine.kernels.maps import Element, Index, is_map, plus, selected_place
from gradwire_engine.ops.arrays.indexing import GetItem, Indexed, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.patterns import ARRAY, indexed_shape
from gradwire_engine.tape import ArrayType, Shape

#: Most pieces of a joined array.
_MOST_JOINED = 600


class Write(NamedTuple):
    """Elements of an operand of shape ``domain``, zeros where it is None, go into the result.

    ``selects`` ones go where the operation selects, after those that do not. Where several go to
    one place, all but the first are ``adds``, which are added one after the other.
    """

    operand: int | None
    domain: Shape
    selects: bool = False
    adds: bool = False


class Check(NamedTuple):
    """All elements of a slot must be indices of an axis of this length, as NumPy counts."""

    slot: int
    length: int


def is_written(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """True if an operation can be computed by writes, and not by a map alone."""
    if isinstance(op, Concatenate | Stack):
        return len(types) <= _MOST_JOINED
    if isinstance(op, Placed):
        known = all(ARRAY not in pattern for pattern in op.patterns) and kind.dtype.char != "?"
        return known and len(types) <= _MOST_JOINED and not is_map(op, [t.shape for t in types])
    if isinstance(op, ScatterAdd):
        return not (is_map(op, [t.shape for t in types]) or (kind.dtype.char == "?"))
    return isinstance(op, SetItem)


def writes(op: Op, shape: Shape, shapes: Sequence[Shape]) -> list[Write]:
    """The writes of a result of ``shape``, of which a later one begins when the others are done."""
    if isinstance(op, ScatterAdd):
        region = indexed_shape(op.shape, op.pattern, tuple(shapes[1:]))
        return [Write(None, shape), Write(0, region, selects=True, adds=ARRAY in op.pattern)]
    if isinstance(op, Placed):
        fresh, whole = op.overlaps()
        own = [Write(k, each, selects=True, adds=not fresh[k]) for k, each in enumerate(shapes)]
        return own if whole else [Write(None, shape), *own]
    if isinstance(op, SetItem):
        region = indexed_shape(shape, op.pattern, tuple(shapes[2:]))
        own = [Write(1, region, selects=True)] if prod(region) else []
        return [Write(0, shape), *own]
    return [Write(k, each) for k, each in enumerate(shapes)]


def target(op: Op, write: Write, at: Element) -> Index:
    """The place in the result of an element that is written."""
    if isinstance(op, Placed):
        return at.place if write.operand is None else selected_place(op.patterns[write.operand], at)
    if isinstance(op, Indexed):
        return selected_place(op.pattern, at) if write.selects else at.place
    assert isinstance(op, Concatenate | Stack)
    assert write.operand is not None
    axis, ahead = op.axis, at.shapes[: write.operand]
    if isinstance(op, Stack):
        nowhere = at.nowhere._replace(offset=len(ahead))
        return (*at.place[:axis], nowhere, *at.place[axis:])
    own = plus(at.place[axis], sum([each[axis] for each in ahead]))
    return (*at.place[:axis], own, *at.place[axis + 1 :])


def index_slots(op: Op, args: Sequence[int]) -> Sequence[int]:
    """The operands that are indices."""
    if isinstance(op, SetItem):
        return args[2:]
    return args[1:] if isinstance(op, GetItem | ScatterAdd) else ()


def checks(op: Op, args: Sequence[int], shapes: Sequence[Shape]) -> list[Check]:
    """The conditions on operands that are indices."""
    slots = index_slots(op, args)
    if not slots:
        return []
    assert isinstance(op, Indexed)
    of = op.shape if isinstance(op, ScatterAdd) else shapes[0]
    items = [item for item in op.pattern if item is not None]
    lengths = [n for n, item in zip(of, items, strict=True) if item == ARRAY]
    return [Check(slot, length) for slot, length in zip(slots, lengths, strict=True)]
