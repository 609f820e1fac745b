"""What kernels compute sooner of its parts, and what they do not need rewritten for NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradwire_engine.backends.numpy.rules import RULES as FOR_NUMPY
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.pointwise.comparison import IsFinite
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.pointwise.trigonometric import Cos, Hypot, Sin
from gradwire_engine.ops.reductions.normalized import Shift
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.optimize.expressions import Expression, Rule, ValueTable, constant

#: What kernels compute sooner than what rules for NumPy make of it.
_OWN = Sin, Cos, Hypot, Sum, ScatterAdd


def _shift(op: Op, args: Sequence[int], values: ValueTable) -> Expression | None:
    """The largest where it is finite: a kernel goes on with it."""
    assert isinstance(op, Shift)
    (x,) = args
    if not op.axes or not values.size(x):
        return None
    top: Expression = (Max(op.axes), [x])
    return Where(), [(IsFinite(), [top]), top, constant(0, values.dtype(x))]


RULES: Mapping[type[Op], Rule] = {
    **{op: rule for op, rule in FOR_NUMPY.items() if op not in _OWN},
    Shift: _shift,
}
