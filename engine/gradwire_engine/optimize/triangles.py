"""Products with a Cholesky factor of which one triangle is read, or that undo a solution.

Solutions with triangles that were cut out of matrices.

The derivative of a factor reads the lower triangle of ``L^T M``, which depends on no more than the
lower triangle of ``M``: there is no need to cut it out, and what ``M`` is the sum of is multiplied
by itself where that takes less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.arrays.diagonals import OnDiagonal, Tril, Triu
from gradwire_engine.ops.arrays.shape import Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.cholesky import Cholesky, Congruence
from gradwire_engine.ops.linalg.contraction import contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solve, SolveTriangular
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Negative, Subtract
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable

#: ``x^T y``.
_BY_COLUMNS = contract("ki", "kj", "ij")


def _undone(op: Op, of: Sequence[int], values: ValueTable) -> Expression | None:
    """``L (L^-1 b)`` and ``L^T (L^-T b)``: the slot of ``b``."""
    x, y = of
    op, args, _, _ = values.code[y]
    if not isinstance(op, SolveTriangular) or not op.lower or op.unit:
        return None
    factor = _transposed_factor(x, values) if op.adjoint else x
    same = factor == args[0] and isinstance(values.code[args[0]].op, Cholesky)
    return args[1] if same and values.dtype(x).kind == "f" else None


def _triangle(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The lower triangle of ``L^T M``, where only that is read, by the terms of ``M``."""
    *before, slot = args
    product, of, _, _ = values.code[slot]
    above = isinstance(op, Tril) and op.k > 0
    if above or product != _BY_COLUMNS or values.dtype(slot).kind != "f":
        return None
    if not isinstance(values.code[of[0]].op, Cholesky):
        return None
    if type(values.code[of[1]].op) not in (Tril, Add, Subtract, Negative):
        return None
    terms = _multiplied(of[0], of[1], values)
    return terms and (op, (*before, terms))


def _multiplied(factor: int, slot: int, values: ValueTable) -> Expression | None:
    """``L^T M`` where terms of ``M`` are diagonal or products of two vectors, else nothing."""
    op, args, _, _ = values.code[slot]
    if isinstance(op, Tril) and not op.k:
        return _multiplied(factor, args[0], values)
    if isinstance(op, Add | Subtract | Negative):
        parts = [_multiplied(factor, arg, values) for arg in args]
        return (op, [part for part in parts if part is not None]) if all(parts) else None
    shapes = [values.shape(arg) for arg in args]
    turned = Transpose((1, 0)), (factor,)
    outer = isinstance(op, Multiply) and all(len(s) == 2 and min(s) == 1 for s in shapes)
    return (MatMul(), (turned, slot)) if outer or isinstance(op, OnDiagonal) else None


def _by_substitution(op: Op, of: Sequence[int], values: ValueTable) -> Expression | None:
    """The solution of equations with one triangle of a matrix, or of its transpose."""
    slot, b = of
    inner, args, _, _ = values.code[slot]
    turned = isinstance(inner, Transpose) and inner.axes == (1, 0)
    if turned:
        (slot,) = args
        inner, args, _, _ = values.code[slot]
    lower = isinstance(inner, Tril)
    one = (lower and inner.k <= 0) or (isinstance(inner, Triu) and inner.k >= 0)  # type: ignore[attr-defined]
    matrices = len(values.shape(slot)) == len(values.shape(b)) == 2
    if not one or not matrices or values.dtype(slot).kind != "f":
        return None
    whole = args[0] if not inner.k else slot  # type: ignore[attr-defined]
    return SolveTriangular(lower, turned), [whole, b]


def _transposed_factor(slot: int, values: ValueTable) -> int | None:
    """The Cholesky factor of a matrix that a slot is the transpose of."""
    op, args, _, _ = values.code[slot]
    turned = isinstance(op, Transpose) and op.axes == (1, 0)
    return args[0] if turned and isinstance(values.code[args[0]].op, Cholesky) else None


RULES: Mapping[type[Op], Rule] = {
    MatMul: _undone,
    Tril: _triangle,
    Congruence: _triangle,
    Solve: _by_substitution,
}
