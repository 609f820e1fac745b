"""What is made of differences of neighbours: all of them, and phases without jumps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DtypeMismatch
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.axes import axis_of
from gradwire_engine.ops.base import Static, macro
from gradwire_engine.ops.conversion import floating
from gradwire_engine.ops.pointwise.arithmetic import Absolute
from gradwire_engine.ops.pointwise.comparison import GreaterEqual
from gradwire_engine.ops.pointwise.selection import Ceil, Sign, zero_unless
from gradwire_engine.ops.sequences.cumulative import CumSum, diff

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@macro("ediff1d")
def ediff1d(b: Builder, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours among all elements, ``to_begin`` before and ``to_end`` after."""
    x = b.array(ary)
    parts = [to_begin, diff(b, reshape(x, (x.type.size,))), to_end]
    lines = [b.array(part) for part in parts if part is not None]
    return Concatenate.record(b, [reshape(line, (line.type.size,)) for line in lines])


@macro("unwrap")
def unwrap(
    b: Builder, p: Any, discont: Any = None, axis: Static = -1, *, period: Any = 2 * math.pi
) -> Any:
    """``p`` plus whole periods, so that neighbours along ``axis`` differ by half of one at most.

    Smaller steps than ``discont`` stay, as do those of just half a period.  Convention: derivative
    1 in ``p``, also where it jumps; in ``period`` how many were added.
    """
    x, length = b.promote(floating(b, p), period)
    place = axis_of(axis, x.ndim, "unwrap")
    n = x.type.shape[place]
    if x.dtype.kind == "c":
        raise DtypeMismatch("complex numbers have no order to unwrap", hint="angle(x)")
    if n < 2:
        return x
    step = diff(b, x, 1, place)
    # Half a period is rounded towards the step as it is.
    turns = Ceil()(Absolute()(step) / length - 0.5) * Sign()(step)
    if discont is not None:
        step, least = b.promote(step, discont)
        turns = zero_unless(GreaterEqual()(Absolute()(step), least), turns)
    return Concatenate(place)(
        sliced(x, place, 0, 1), sliced(x, place, 1, n) - length * CumSum(place)(turns)
    )
