"""TensorFlow's reductions of segments in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _rows(b: Builder, data: Any, segment_ids: Any) -> tuple[Var, Var]:
    """What has one id each, as rows, and the ids as a vector."""
    x, ids = b.array(data), b.array(segment_ids)
    if x.shape[: ids.ndim] != ids.shape:
        raise ShapeMismatch(f"ids {ids.type} are not of the first axes of {x.type}")
    size, rest = ids.type.size, x.shape[ids.ndim :]
    return recorded("reshape")(b, x, (size, *rest)), recorded("reshape")(b, ids, size)


def _enter(reduction: str, reduced: str) -> None:
    def unsorted(b: Builder, data: Any, segment_ids: Any, num_segments: Static) -> Any:
        rows, ids = _rows(b, data, segment_ids)
        return recorded(f"segment_{reduction}")(b, rows, ids, num_segments)

    unsorted.__doc__ = (
        f"{reduced} of the parts of ``data`` with each id; ids have the first axes of ``data``."
    )
    TF.macro(f"math.unsorted_segment_{reduction}")(unsorted)


_enter("sum", "Sum")
_enter("mean", "Mean, 0 of none,")
_enter("max", "Largest elements, ``-inf`` of none,")
_enter("min", "Smallest elements, ``inf`` of none,")
_enter("prod", "Product")


@TF.macro("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(b: Builder, data: Any, segment_ids: Any, num_segments: Static) -> Any:
    """Sum of the rows of each segment divided by the root of their number."""
    x, ids = _rows(b, floating(b, data), segment_ids)
    total = recorded("segment_sum")(b, x, ids, num_segments)
    ones = recorded("ones")(b, ids.shape, x.dtype)
    count = recorded("maximum")(b, recorded("segment_sum")(b, ones, ids, num_segments), 1)
    shape = (-1, *[1] * (x.ndim - 1))
    return total / recorded("reshape")(b, recorded("sqrt")(b, count), shape)
