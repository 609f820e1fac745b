"""Derivatives of a Cholesky factor, of whose congruence one triangle is read.

They read the lower triangle of ``L^T M``, which depends on no more than the lower triangle of
``M``: there is no need to cut it out, and what ``M`` is the sum of is multiplied by itself where
that takes less.  Measured by *Cholesky likelihood, n = 200*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.arrays.diagonals import OnDiagonal, Tril
from gradwire_engine.ops.arrays.shape import Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.cholesky import Cholesky, Congruence
from gradwire_engine.ops.linalg.contraction import contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.pointwise.arithmetic import Add, Multiply, Negative, Subtract
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable

#: ``x^T y``.
_BY_COLUMNS = contract("ki", "kj", "ij")


def _congruence(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The lower triangle of ``L^T M``, where only that is read, by the terms of ``M``."""
    *before, slot = args
    product, of, _, _ = values.code[slot]
    if product != _BY_COLUMNS or values.dtype(slot).kind != "f":
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


RULES: Mapping[type[Op], Rule] = {Congruence: _congruence}
