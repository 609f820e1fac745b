"""Products of matrices with less arithmetic, or as one large product instead of many small ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Slice
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Subtract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression, Kept, Rule
from gradwire_engine.optimize.triangles import undone
from gradwire_engine.tape import Shape

#: Of wider matrices BLAS may as well be called for one after the other; of fewer rows it must.
_FEW_COLUMNS, _FEWEST_ROWS = 64, 8
#: How many times less arithmetic another order must take.
_GAIN = 1.25
_VIEWS = (Transpose, BroadcastTo, GetItem, Slice)


def _product(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
    """What is known to take less than the product of two arrays."""
    x, y = args
    if kept.dtype(x).char not in "fdFD":
        return None
    left, right = kept.shape(x), kept.shape(y)
    if len(left) > 2 or len(right) > 2:
        if len(left) < 2 or len(right) < 2:
            return None
        if left[-1] == 1:
            return Multiply(), (x, y)
        if left[-2] == right[-1] == 1:
            return _of_vectors(x, y, left, right)
        return _of_difference(x, y, kept) or _shared(x, y, left, right, kept)
    found = undone(x, y, kept)
    return _chain(x, y, kept) if found is None else found


def _of_vectors(x: int, y: int, left: Shape, right: Shape) -> Expression:
    """Rows by columns, many of them: BLAS would be called for each."""
    batch = broadcast_shapes(left[:-2], right[:-2])
    rows: Expression = (Reshape((*left[:-2], left[-1])), (x,))
    columns: Expression = (Reshape(right[:-1]), (y,))
    return Reshape((*batch, 1, 1)), [(Sum((len(batch),)), [(Multiply(), (rows, columns))])]


class _Term(NamedTuple):
    """One of two terms of a sum, and its shape, of at least two axes."""

    value: Expression
    shape: Shape


def _of_difference(x: int, y: int, kept: Kept) -> Expression | None:
    """``(a - b) C`` as ``a C - b C``, ``C (a - b)`` as ``C a - C b``, of repeated a and b."""
    if (found := _terms(x, kept)) is not None:
        op, a, b = found
        return op, (_by(a, y, kept), _by(b, y, kept))
    if (found := _terms(y, kept)) is not None:
        op, a, b = found
        return op, (_from(x, a, kept), _from(x, b, kept))
    return None


def _terms(slot: int, kept: Kept) -> tuple[Op, _Term, _Term] | None:
    """What a slot is the sum or difference of, where both are repeated along axes."""
    op, args, _, _ = kept.code[slot]
    turned = isinstance(op, Transpose)
    if isinstance(op, Transpose):
        ndim = len(op.axes)
        if op.axes != (*range(ndim - 2), ndim - 1, ndim - 2):
            return None
        op, args, _, _ = kept.code[args[0]]
    if type(op) not in (Add, Subtract) or any(2 * kept.size(a) > kept.size(slot) for a in args):
        return None
    first, second = (_term(arg, kept, turned=turned) for arg in args)
    return op, first, second


def _term(slot: int, kept: Kept, *, turned: bool) -> _Term:
    shape = kept.shape(slot)
    value: Expression = slot
    if len(shape) < 2:
        shape = (1,) * (2 - len(shape)) + shape
        value = Reshape(shape), (slot,)
    if turned:
        ndim = len(shape)
        axes = (*range(ndim - 2), ndim - 1, ndim - 2)
        value, shape = (Transpose(axes), (value,)), (*shape[:-2], shape[-1], shape[-2])
    return _Term(value, shape)


def _by(a: _Term, y: int, kept: Kept) -> Expression:
    """``a Y``; where ``a`` is the same along the inner axis, by the sums of columns."""
    shape = kept.shape(y)
    if a.shape[-1] == shape[-2]:
        return MatMul(), (a.value, y)
    total: Expression = (Sum((len(shape) - 2,)), (y,))
    return Multiply(), (a.value, (Reshape((*shape[:-2], 1, shape[-1])), (total,)))


def _from(x: int, a: _Term, kept: Kept) -> Expression:
    """``X a``; where ``a`` is the same along the inner axis, by the sums of rows."""
    shape = kept.shape(x)
    if a.shape[-2] == shape[-1]:
        return MatMul(), (x, a.value)
    total: Expression = (Sum((len(shape) - 1,)), (x,))
    return Multiply(), ((Reshape((*shape[:-1], 1)), (total,)), a.value)


def _shared(x: int, y: int, left: Shape, right: Shape, kept: Kept) -> Expression | None:
    """One product where all matrices of a side are the same one."""
    if len(left) == 2 and math.prod(right[:-2]) > 1:
        count, (inner, columns) = math.prod(right[:-2]), right[-2:]
        if left[0] < _FEWEST_ROWS or columns > _FEW_COLUMNS:
            return None
        ndim = len(right)
        ahead: Expression = (Transpose((ndim - 2, *range(ndim - 2), ndim - 1)), (y,))
        whole: Expression = (MatMul(), (x, (Reshape((inner, count * columns)), (ahead,))))
        apart: Expression = (Reshape((left[0], *right[:-2], columns)), (whole,))
        return Transpose((*range(1, ndim - 1), 0, ndim - 1)), (apart,)
    if len(right) == 2 and math.prod(left[:-2]) > 1:
        if left[-2] > _FEW_COLUMNS or isinstance(kept.code[x].op, _VIEWS):
            return None
        rows: Expression = (Reshape((math.prod(left[:-1]), left[-1])), (x,))
        return Reshape((*left[:-1], right[1])), [(MatMul(), (rows, y))]
    return None


class _Factors(NamedTuple):
    """What a matrix is the product of, and its sizes: ``rows`` by ``inner`` by ``columns``."""

    a: Expression
    b: Expression
    rows: int
    inner: int
    columns: int


def _factors(slot: int, kept: Kept) -> _Factors | None:
    """The factors of a slot that is a product of matrices or vectors, or the transpose of one."""
    op, args, _, _ = kept.code[slot]
    if isinstance(op, Transpose) and len(op.axes) == 2:
        found = _factors(args[0], kept) if op.axes == (1, 0) else None
        if found is None:
            return None
        turn = Transpose((1, 0))
        sizes = found.columns, found.inner, found.rows
        return _Factors((turn, (found.b,)), (turn, (found.a,)), *sizes)
    if type(op) not in (MatMul, Multiply) or len(kept.shape(slot)) != 2:
        return None
    (a, b), shape = args, kept.shape(slot)
    if type(op) is Multiply and (kept.shape(a), kept.shape(b)) == ((1, shape[1]), (shape[0], 1)):
        a, b = b, a
    left, right = kept.shape(a), kept.shape(b)
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
        return None
    if type(op) is Multiply and left[1] != 1:  # of elements, not of a column and a row
        return None
    return _Factors(a, b, left[0], left[1], right[1])


def _chain(x: int, y: int, kept: Kept) -> Expression | None:
    """``(A B) C`` as ``A (B C)``, or the other way round, where that is less arithmetic."""
    left, right = kept.shape(x), kept.shape(y)
    if len(left) == 2 and (found := _factors(x, kept)) is not None:
        columns = right[1] if len(right) == 2 else 1
        spared = 0 if _is_made(x, kept) else found.rows * found.inner * found.columns
        before = found.rows * found.columns * columns + spared
        after = (found.columns + found.rows) * found.inner * columns
        if before > _GAIN * after:
            plain = found.inner == 1 and len(right) == 2
            return Multiply() if plain else MatMul(), (found.a, (MatMul(), (found.b, y)))
    if len(right) == 2 and (found := _factors(y, kept)) is not None:
        rows = left[0] if len(left) == 2 else 1
        spared = 0 if _is_made(y, kept) else found.rows * found.inner * found.columns
        before = rows * found.rows * found.columns + spared
        after = rows * found.inner * (found.rows + found.columns)
        if before > _GAIN * after:
            plain = found.inner == 1 and len(left) == 2
            return Multiply() if plain else MatMul(), ((MatMul(), (x, found.a)), found.b)
    return None


def _is_made(slot: int, kept: Kept) -> bool:
    """Whether a product is made anyway: for others, or once for all replays.

    Of residents too only those are made that were written: ``X^T (X w)`` is not ``(X^T X) w``,
    which would cost less, but squares the condition of ``X``.
    """
    return kept.shared(slot) or kept.stands(slot)


RULES: Mapping[type[Op], Rule] = {MatMul: _product}
