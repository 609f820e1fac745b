"""Euclidean norms as roots of contractions, and their squares without a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.base import Op
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.pointwise.arithmetic import Multiply, Sqrt
from gradwire_engine.ops.reductions.norms import Norm
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable


def _root(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``|x|`` as ``sqrt(sum x²)``."""
    assert isinstance(op, Norm)
    (x,) = args
    few = values.dtype(x).char == "d" or values.size(x) <= values.costs.most_single
    if values.dtype(x).char not in "fd" or not few or not values.size(x):
        return None
    return Sqrt(), [(Sum(op.axes), [(Multiply(), [x, x])])]


def _square(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """``sqrt(sum x²) sqrt(sum x²)`` as ``sum x²``."""
    x, y = args
    if x != y or type(values.code[x].op) is not Sqrt:
        return None
    squares = values.code[x].args[0]
    inner, of, _, _ = values.code[squares]
    same = isinstance(inner, Contract) and inner.labels.left == inner.labels.right
    return squares if same and of[0] == of[1] else None


RULES: Mapping[type[Op], Rule] = {Norm: _root, Multiply: _square}
