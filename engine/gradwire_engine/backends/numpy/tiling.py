"""Which instructions can be computed for some rows at a time: a row is an item of the first axis.

Of an array whose rows are long, or that has few, the elements are taken for rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradwire_engine.backends.numpy.operations import SumByProduct
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.patterns import FULL, Span
from gradwire_engine.ops.reductions.normalized import Shift, Softmax
from gradwire_engine.ops.reductions.reductions import AllOf, AnyOf, Max, Min, Prod, Sum
from gradwire_engine.tape import ArrayType, Shape, TupleType, Type

#: Rows up to this many elements are cut between, of at least so many rows.
_ROW_ELEMENTS, _FEWEST_ROWS = 4096, 16


#: Matrices that every block reads or adds to are no larger.
_WHOLE_BYTES = 1 << 16


class Tiling(NamedTuple):
    """How an instruction is computed by rows.

    ``key`` is the number of rows, or the shape of arrays whose elements are the rows: instructions
    of one key can be computed together. ``rows`` tells which operands are cut; of the others every
    block reads all. The results of blocks are the result's, one after the other, or ``joined`` by
    this ufunc: where blocks are reduced, or, with ``shifts``, where these are added to the result
    of each operand's rows.
    """

    key: Shape
    rows: tuple[bool, ...]
    joined: str = ""
    shifts: tuple[int, ...] = ()


def tile(op: Op, kind: Type, types: Sequence[Type]) -> Tiling | None:
    """How ``op`` is computed by rows from operands of ``types``, if it can be."""
    rule = _RULES.get(type(op))
    if rule is None and op.elementwise:
        rule = _elementwise
    if rule is None or not all(isinstance(t, ArrayType) for t in types):
        return None
    return rule(op, kind, types)


def key_of(shape: Shape) -> Shape:
    """What the rows of an array are: the items of its first axis, or its elements."""
    if len(shape) < 2:
        return shape
    size = 1
    for length in shape[1:]:
        size *= length
    return shape[:1] if shape[0] >= _FEWEST_ROWS and 0 < size <= _ROW_ELEMENTS else shape


def _elementwise(op: Op, kind: Type, types: Sequence[ArrayType]) -> Tiling | None:
    shape = kind.items[0].shape if isinstance(kind, TupleType) else kind.shape
    key = key_of(shape)
    if not key:
        return None
    if len(key) == 1:
        return Tiling(key, tuple([_has_rows(t.shape, shape) for t in types]))
    # Elements of arrays in row-major order: whatever broadcasts would have to be repeated.
    if all(not t.shape or t.shape == shape for t in types):
        return Tiling(key, tuple([t.shape == shape for t in types]))
    return None


def _has_rows(shape: Shape, result: Shape) -> bool:
    """Whether the first axis of an operand is that of the result, and not repeated along it."""
    return len(shape) == len(result) and shape[0] == result[0]


def _reduction(op: Any, kind: Type, types: Sequence[ArrayType]) -> Tiling | None:
    shape = types[0].shape
    key = key_of(shape)
    if not key or not op.axes:
        return None
    if len(key) == 1 and 0 not in op.axes:
        return Tiling(key, (True,))
    joined = _JOINED.get(type(op), "")
    if joined and (len(key) == 1 or len(op.axes) == len(shape)):
        return Tiling(key, (True,), joined)
    return None


def _view(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> Tiling | None:
    """An array whose rows are seen with another shape, or repeat within themselves."""
    (x,) = types
    key = key_of(kind.shape)
    same = len(key) == 1 and key == key_of(x.shape)
    ranks = isinstance(op, Reshape) or x.ndim == kind.ndim
    return Tiling(key, (True,)) if same and ranks else None


def _contraction(op: Contract, kind: ArrayType, types: Sequence[ArrayType]) -> Tiling | None:
    """Rows of the result by those of operands, or a small result of which each block has a part."""
    operands, result = op.labels[:2], op.labels.result
    keys = [key_of(t.shape) for t in types]
    if result:
        key = key_of(kind.shape)
        rows = tuple([own[0] == result[0] for own in operands])
        whole = [t.nbytes for t, cut in zip(types, rows, strict=True) if not cut]
        inside = any(result[0] in own[1:] for own in operands)
        same = all(k == key for k, cut in zip(keys, rows, strict=True) if cut)
        if len(key) == 1 and any(rows) and same and not inside and max([0, *whole]) <= _WHOLE_BYTES:
            return Tiling(key, rows)
    x, y = operands
    if x[0] != y[0] or x[0] in result or keys[0] != keys[1] or kind.nbytes > _WHOLE_BYTES:
        return None
    by_rows = len(keys[0]) == 1 or (x == y and not result)
    return Tiling(keys[0], (True, True), "add") if by_rows else None


def _placed(op: Placed, kind: ArrayType, types: Sequence[ArrayType]) -> Tiling | None:
    """Rows that are added to rows further on."""
    shapes = {t.shape for t in types}
    key = key_of(types[0].shape)
    shifts: list[int] = []
    for first, *rest in op.patterns:
        if not isinstance(first, Span) or first.step not in (None, 1) or {*rest} - {FULL}:
            return None
        shifts.append(slice(*first).indices(kind.shape[0])[0])
    if len(shapes) > 1 or len(key) > 1:
        return None
    return Tiling(key, (True,) * len(types), "add", tuple(shifts))


#: What joins the reductions of parts.
_JOINED: dict[type[Op], str] = {
    Sum: "add",
    SumByProduct: "add",
    Prod: "multiply",
    Max: "maximum",
    Min: "minimum",
    AnyOf: "logical_or",
    AllOf: "logical_and",
}
_RULES: dict[type[Op], Callable[[Any, Any, Any], Tiling | None]] = {
    **dict.fromkeys([*_JOINED, Shift, Softmax], _reduction),
    Reshape: _view,
    BroadcastTo: _view,
    Placed: _placed,
    Contract: _contraction,
}
