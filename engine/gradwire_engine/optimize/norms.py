"""Euclidean norms as roots of contractions: measured by *kernel energy: norm*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.ops.base import Op
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


RULES: Mapping[type[Op], Rule] = {Norm: _root}
