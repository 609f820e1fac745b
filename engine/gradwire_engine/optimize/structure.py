"""What derivatives for many seeds are made of: diagonal matrices, and matrices that are scaled.

Each rule multiplies all seeds' cotangents by a vector of its own. The vectors are multiplied first:
then a chain of elementwise operations costs one product of the size of the result. Instructions of
a program's own are left in its order. Source: Griewank and Walther, Evaluating Derivatives, section
10.2 (preaccumulation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gradwire_engine.ops.arrays.diagonals import MatrixDiagonal, OnDiagonal
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Divide, Multiply, Negative, Subtract
from gradwire_engine.optimize.expressions import Expression, Kept, Rule
from gradwire_engine.tape import Instruction, Shape

_Code: TypeAlias = Sequence[Instruction]


def _scaling(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    """``x * w`` or ``x / w``: on the diagonal of ``x``, or with what ``x`` is scaled by."""
    for x, w in (args, args[::-1]) if isinstance(op, Multiply) else (args,):
        if (diagonal := diagonal_of(x, code)) is not None and _within(_shape(w, code), x, code):
            return _on_diagonal((op, (diagonal, _beside(w, x, code))), x, code)
        if scaled := _scaled(x, code):
            matrix, v = scaled
            if _smaller(v, w, matrix, code):
                return Multiply(), (matrix, (op, (v, w)))
    return None


def _sum(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    """A sum or difference of two diagonal matrices, or of the same matrix scaled differently."""
    x, y = args
    one, other = diagonal_of(x, code), diagonal_of(y, code)
    if one is not None and other is not None and _shape(x, code) == _shape(y, code):
        return _on_diagonal((op, (one, other)), x, code)
    left, right = _scaled(x, code), _scaled(y, code)
    if left and right and left[0] == right[0] and _smaller(left[1], right[1], left[0], code):
        return Multiply(), (left[0], (op, (left[1], right[1])))
    return None


def _alone(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    """A negation, or a conversion of a diagonal matrix."""
    (x,) = args
    if (diagonal := diagonal_of(x, code)) is not None:
        return _on_diagonal((op, (diagonal,)), x, code)
    if isinstance(op, Negative) and (scaled := _scaled(x, code)):
        return Multiply(), (scaled[0], (op, (scaled[1],)))
    return None


def _matrix_product(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    """A diagonal matrix scales rows on the left, columns on the right."""
    x, y = args
    if (diagonal := diagonal_of(y, code)) is not None and len(_shape(y, code)) == 2:
        return Multiply(), (x, diagonal)
    if (diagonal := diagonal_of(x, code)) is not None and len(_shape(x, code)) == 2:
        column = (Reshape((*_shape(diagonal, code), 1)), (diagonal,))
        return Multiply(), (diagonal if len(_shape(y, code)) == 1 else column, y)
    return None


def _transposed(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    (x,) = args
    return None if diagonal_of(x, code) is None or len(_shape(x, code)) != 2 else x


def _read(op: Op, args: Sequence[int], code: _Code) -> Expression | None:
    (x,) = args
    assert isinstance(op, MatrixDiagonal)
    return diagonal_of(x, code) if not op.offset and len(_shape(x, code)) == 2 else None


def _on_code(rule: Callable[[Op, Sequence[int], _Code], Expression | None]) -> Rule:
    def asked(op: Op, args: Sequence[int], kept: Kept) -> Expression | None:
        return rule(op, args, kept.code)

    return asked


#: For results of at least one axis that differentiating made: nobody else makes such matrices.
OF_DERIVATIVES: Mapping[type[Op], Rule] = {
    op: _on_code(rule)
    for op, rule in {
        Multiply: _scaling,
        Divide: _scaling,
        Add: _sum,
        Subtract: _sum,
        Negative: _alone,
        AsType: _alone,
        Transpose: _transposed,
        MatrixDiagonal: _read,
    }.items()
}
RULES: Mapping[type[Op], Rule] = {MatMul: _on_code(_matrix_product)}


def _shape(slot: int, code: _Code) -> Shape:
    return code[slot].type.shape  # type: ignore[union-attr]


def diagonal_of(slot: int, code: _Code) -> int | None:
    """The diagonal of a square matrix that is zero beside it; its columns may be reshaped."""
    op, args, _, _ = code[slot]
    rows = None
    if isinstance(op, Reshape):
        rows = op.shape[:1]
        op, args, _, _ = code[args[0]]
    if not isinstance(op, OnDiagonal) or op.offset or op.rows != op.columns:
        return None
    shape = _shape(args[0], code)
    return args[0] if len(shape) == 1 and rows in (None, shape) else None


def _on_diagonal(diagonal: Expression, like: int, code: _Code) -> Expression:
    """The matrix of the shape of ``like`` with another diagonal."""
    shape = _shape(like, code)
    return Reshape(shape), [(OnDiagonal(shape[0], shape[0], 0), [diagonal])]


def _beside(slot: int, matrix: int, code: _Code) -> Expression:
    """What a slot that broadcasts to a diagonal matrix has on the diagonal."""
    shape, (count, *rest) = _shape(slot, code), _shape(matrix, code)
    own = shape[max(len(shape) - len(rest), 0) :]
    if math.prod(shape) == 1:
        return Reshape(()), (slot,)
    if math.prod(own) == math.prod(shape):  # the same for all rows
        return Reshape((count,)), [(BroadcastTo(tuple(rest)), [(Reshape(own), (slot,))])]
    whole: Expression = (BroadcastTo((count, *rest)), (slot,))
    return MatrixDiagonal(0), [(Reshape((count, count)), [whole])]


def _scaled(slot: int, code: _Code) -> tuple[int, int] | None:
    """An array and the smaller one that it is multiplied by."""
    op, args, _, _ = code[slot]
    if not isinstance(op, Multiply):
        return None
    x, y = args
    one, other = _shape(x, code), _shape(y, code)
    if one == other or math.prod(one) == math.prod(other):
        return None
    return (x, y) if math.prod(one) > math.prod(other) else (y, x)


def _smaller(v: int, w: int, matrix: int, code: _Code) -> bool:
    """Whether two slots broadcast to a smaller shape, within that of ``matrix``."""
    shape = broadcast_shapes(_shape(v, code), _shape(w, code))
    return math.prod(shape) < math.prod(_shape(matrix, code)) and _within(shape, matrix, code)


def _within(shape: Shape, matrix: int, code: _Code) -> bool:
    """Whether ``shape`` broadcasts to that of ``matrix``."""
    whole = _shape(matrix, code)
    return broadcast_shapes(shape, whole) == whole
