"""``jax.lax``: rounding and choosing, running totals, counters, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import of_lengths
from gradwire_engine.ops.axes import axes_of, axis_of, integers, lengths, range_of
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@JAX.macro("lax.select_n")
def select_n(b: Builder, which: Any, *cases: Any) -> Any:
    """Elements of the case whose number ``which`` gives, where booleans are 0 and 1."""
    number = b.array(which)
    if number.dtype.kind == "b":
        if len(cases) != 2:
            raise BadArgument(f"booleans choose from 2 cases, not from {len(cases)}")
        return recorded("where")(b, number, cases[1], cases[0])
    chosen = [recorded("equal")(b, number, i) for i in range(len(cases))]
    return recorded("select")(b, chosen, list(cases))


@JAX.macro("lax.broadcast_in_dim")
def broadcast_in_dim(b: Builder, operand: Any, shape: Static, broadcast_dimensions: Static) -> Any:
    """The array with its axes at ``broadcast_dimensions`` of ``shape``, repeated along others."""
    x, sizes = b.array(operand), lengths(shape)
    places = axes_of(list(integers(broadcast_dimensions, "axes")), len(sizes), "broadcast_in_dim")
    if len(places) != x.ndim or list(places) != sorted(places):
        raise ShapeMismatch(f"broadcast_in_dim needs {x.ndim} rising axes, got {places}")
    among = [1] * len(sizes)
    for place, length in zip(places, x.shape, strict=True):
        among[place] = length
    return recorded("broadcast_to")(b, recorded("reshape")(b, x, among), sizes)


@JAX.macro("lax.collapse")
def collapse(
    b: Builder, operand: Any, start_dimension: Static, stop_dimension: Static = None
) -> Any:
    """The axes from ``start_dimension`` to before ``stop_dimension`` as one."""
    x = b.array(operand)
    named = range_of(start_dimension, stop_dimension, None, x.ndim)
    first, last = named.start, named.stop
    if first >= last:
        raise ShapeMismatch(f"collapse goes from an axis to a later one, not {first} to {last}")
    return recorded("reshape")(b, x, (*x.shape[:first], -1, *x.shape[last:]))


@JAX.macro("lax.split")
def split(b: Builder, operand: Any, sizes: Static, axis: Static = 0) -> Any:
    """A list of parts of lengths ``sizes`` along ``axis``."""
    x = b.array(operand)
    return of_lengths(x, integers(sizes, "sizes"), axis_of(axis, x.ndim, "split"))
