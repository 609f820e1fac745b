"""TensorFlow's reductions of segments in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import ShapeMismatch
from gradwire_engine.ops.axes import integer, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.conversion import floating

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _reduced(b: Builder, reduction: str, data: Any, segment_ids: Any, num_segments: Any) -> Var:
    """The parts of ``data`` with each id reduced; those with a negative one are left out."""
    x, ids = b.array(data), b.array(segment_ids)
    if x.shape[: ids.ndim] != ids.shape:
        raise ShapeMismatch(f"ids {ids.type} are not of the first axes of {x.type}")
    size, rest = ids.type.size, x.shape[ids.ndim :]
    (count,) = lengths(integer(num_segments, "num_segments"), "num_segments")
    rows, numbers = (recorded("reshape")(b, *p) for p in ((x, (size, *rest)), (ids, size)))
    # One segment more takes what belongs to none.
    numbers = recorded("where")(b, recorded("less")(b, numbers, 0), count, numbers)
    z = recorded(f"segment_{reduction}")(b, rows, numbers, count + 1)
    found: Var = recorded("split")(b, z, [count])[0]
    return found


def _enter(reduction: str, reduced: str) -> None:
    def unsorted(b: Builder, data: Any, segment_ids: Any, num_segments: Static) -> Any:
        return _reduced(b, reduction, data, segment_ids, num_segments)

    unsorted.__doc__ = (
        f"{reduced} of the parts of ``data`` with each id; ids have the first axes of ``data``.\n\n"
        "Parts with a negative id are left out."
    )
    TF.macro(f"math.unsorted_segment_{reduction}")(unsorted)


_enter("sum", "Sum")
_enter("mean", "Mean, 0 of none,")
_enter("max", "Largest elements, ``-inf`` of none,")
_enter("min", "Smallest elements, ``inf`` of none,")
_enter("prod", "Product")


@TF.macro("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(b: Builder, data: Any, segment_ids: Any, num_segments: Static) -> Any:
    """Sum of the parts of ``data`` with each id, divided by the root of their number."""
    x, ids = floating(b, data), b.array(segment_ids)
    total = _reduced(b, "sum", x, ids, num_segments)
    ones = recorded("ones")(b, ids.shape, x.dtype)
    count = recorded("maximum")(b, _reduced(b, "sum", ones, ids, num_segments), 1)
    shape = (-1, *[1] * (total.ndim - 1))
    return total / recorded("reshape")(b, recorded("sqrt")(b, count), shape)
