"""Structured derivatives for many seeds: diagonal matrices, and matrices that are scaled.

Each rule multiplies all seeds' cotangents by a vector of its own. The vectors are multiplied first:
then a chain of elementwise operations costs one product of the size of the result. Instructions of
a program's own are left in its order. Measured by *Hessian, n = 50*, products of matrices by
*Cholesky likelihood, n = 200*. Source: Griewank and Walther, Evaluating Derivatives, section 10.2
(preaccumulation).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, OnDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply, Negative, Subtract
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable
from gradwire_engine.tape import Shape

#: Operations that give diagonal matrices, and scaled ones.
_MATRICES = frozenset((OnDiagonal, Reshape, Multiply))


def _scaling(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``x * w`` or ``x / w``: on the diagonal of ``x``, or with what ``x`` is scaled by."""
    for x, w in (args, args[::-1]) if type(op) is Multiply else (args,):
        if type(values.code[x].op) not in _MATRICES:
            continue
        if (diagonal := diagonal_of(x, values)) is not None and _within(values.shape(w), x, values):
            return _on_diagonal((op, (diagonal, _beside(w, x, values))), x, values)
        if scaled := _scaled(x, values):
            matrix, v = scaled
            if _smaller(v, w, matrix, values):
                return Multiply(), (matrix, (op, (v, w)))
    return None


def _sum(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A sum or difference of two diagonal matrices, or of the same matrix scaled differently."""
    x, y = args
    if not {type(values.code[x].op), type(values.code[y].op)} <= _MATRICES:
        return None
    one, other = diagonal_of(x, values), diagonal_of(y, values)
    if one is not None and other is not None and values.shape(x) == values.shape(y):
        return _on_diagonal((op, (one, other)), x, values)
    left, right = _scaled(x, values), _scaled(y, values)
    if left and right and left[0] == right[0] and _smaller(left[1], right[1], left[0], values):
        return Multiply(), (left[0], (op, (left[1], right[1])))
    return None


def _alone(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A negation, or a conversion of a diagonal matrix."""
    (x,) = args
    if (diagonal := diagonal_of(x, values)) is not None:
        return _on_diagonal((op, (diagonal,)), x, values)
    if isinstance(op, Negative) and (scaled := _scaled(x, values)):
        return Multiply(), (scaled[0], (op, (scaled[1],)))
    return None


def _matrix_product(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """A diagonal matrix scales rows on the left, columns on the right."""
    x, y = args
    if (diagonal := diagonal_of(y, values)) is not None and len(values.shape(y)) == 2:
        return Multiply(), (x, diagonal)
    if (diagonal := diagonal_of(x, values)) is not None and len(values.shape(x)) == 2:
        column = (Reshape((*values.shape(diagonal), 1)), (diagonal,))
        return Multiply(), (diagonal if len(values.shape(y)) == 1 else column, y)
    return None


#: For results of at least one axis that differentiating made: nobody else makes such matrices.
OF_DERIVATIVES: Mapping[type[Op], Rule] = {
    Multiply: _scaling,
    Divide: _scaling,
    Add: _sum,
    Subtract: _sum,
    Negative: _alone,
    AsType: _alone,
}
RULES: Mapping[type[Op], Rule] = {MatMul: _matrix_product}


def diagonal_of(slot: int, values: ValueTable) -> int | None:
    """The diagonal of a square matrix that is zero beside it; its columns may be reshaped."""
    op, args, _, _ = values.code[slot]
    rows = None
    if isinstance(op, Reshape):
        rows = op.shape[:1]
        op, args, _, _ = values.code[args[0]]
    if not isinstance(op, OnDiagonal) or op.offset or op.rows != op.columns:
        return None
    shape = values.shape(args[0])
    if len(shape) != 1 or shape == (0,):  # what is empty may be reshaped to any columns
        return None
    return args[0] if rows in (None, shape) else None


def _on_diagonal(diagonal: Expression, like: int, values: ValueTable) -> Expression:
    """The matrix of the shape of ``like`` with another diagonal."""
    shape = values.shape(like)
    return Reshape(shape), [(OnDiagonal(shape[0], shape[0], 0), [diagonal])]


def _beside(slot: int, matrix: int, values: ValueTable) -> Expression:
    """The diagonal of a slot that broadcasts to a diagonal matrix."""
    shape, (count, *rest) = values.shape(slot), values.shape(matrix)
    own = shape[max(len(shape) - len(rest), 0) :]
    if math.prod(shape) == 1:
        return Reshape(()), (slot,)
    if math.prod(own) == math.prod(shape):  # the same for all rows
        return Reshape((count,)), [(BroadcastTo(tuple(rest)), [(Reshape(own), (slot,))])]
    whole: Expression = (BroadcastTo((count, *rest)), (slot,))
    return MatrixDiagonal(0), [(Reshape((count, count)), [whole])]


def _scaled(slot: int, values: ValueTable) -> tuple[int, int] | None:
    """An array and the smaller one that it is multiplied by."""
    op, args, _, _ = values.code[slot]
    if not isinstance(op, Multiply):
        return None
    x, y = args
    one, other = values.shape(x), values.shape(y)
    if math.prod(one) == math.prod(other):
        return None
    return (x, y) if math.prod(one) > math.prod(other) else (y, x)


def _smaller(v: int, w: int, matrix: int, values: ValueTable) -> bool:
    """True if two slots broadcast to a smaller shape, within that of ``matrix``."""
    shape = broadcast_shapes(values.shape(v), values.shape(w))
    return math.prod(shape) < math.prod(values.shape(matrix)) and _within(shape, matrix, values)


def _within(shape: Shape, matrix: int, values: ValueTable) -> bool:
    """True if ``shape`` broadcasts to that of ``matrix``."""
    whole = values.shape(matrix)
    return broadcast_shapes(shape, whole) == whole
