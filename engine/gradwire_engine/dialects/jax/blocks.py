"""``jax.lax``: slices, borders, and blocks at computed places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem, SetItem
from gradwire_engine.ops.axes import axis_of, integer, integers, lengths, range_of
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.patterns import Span

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@JAX.macro("lax.slice")
def slice_(
    b: Builder, operand: Any, start_indices: Static, limit_indices: Static, strides: Static = None
) -> Any:
    """Every ``strides``-th element from ``start_indices`` to before ``limit_indices``."""
    x = b.array(operand)
    starts, limits = integers(start_indices, "starts"), integers(limit_indices, "limits")
    steps = (1,) * x.ndim if strides is None else integers(strides, "strides")
    if not len(starts) == len(limits) == len(steps) == x.ndim:
        raise ShapeMismatch(f"slice needs a start, a limit and a stride for each of {x.ndim} axes")
    for start, limit, step, length in zip(starts, limits, steps, x.shape, strict=True):
        if not 0 <= start <= limit <= length or step < 1:
            raise BadArgument(f"slice cannot go from {start} to {limit} by {step} in {length}")
    return GetItem(tuple(map(Span, starts, limits, steps)))(x)


@JAX.macro("lax.slice_in_dim")
def slice_in_dim(
    b: Builder,
    operand: Any,
    start_index: Static,
    limit_index: Static,
    stride: Static = 1,
    axis: Static = 0,
) -> Any:
    """Every ``stride``-th part from ``start_index`` to before ``limit_index`` along ``axis``."""
    x = b.array(operand)
    place = axis_of(axis, x.ndim, "slice_in_dim")
    within = range_of(start_index, limit_index, None, x.shape[place])
    pattern = [Span(None, None, None)] * x.ndim
    pattern[place] = Span(within.start, within.stop, integer(stride, "stride"))
    return GetItem(tuple(pattern))(x)


@JAX.macro("lax.pad")
def pad(b: Builder, operand: Any, padding_value: Any, padding_config: Static) -> Any:
    """The array with ``padding_value`` before, after and between its elements.

    ``padding_config`` has (before, after, between) for each axis; negative numbers cut off.
    """
    x, fill = b.array(operand), b.array(padding_value)
    triples = padding_config if isinstance(padding_config, list | tuple) else [padding_config]
    config = [integers(item, "padding_config") for item in triples]
    if len(config) != x.ndim or any(len(item) != 3 for item in config) or fill.ndim:
        raise ShapeMismatch(
            f"pad needs one number, and (before, after, between) for each of {x.ndim} axes, "
            f"got {fill.type} and {describe(padding_config)}"
        )
    kept, places, shape = [], [], []
    for (before, after, between), length in zip(config, x.shape, strict=True):
        if between < 0:
            raise BadArgument("pad cannot put a negative number of elements between others")
        step = between + 1
        total = before + after + length + max(length - 1, 0) * between
        first = max(-(before // step), 0)
        start = before + first * step
        count = min(max(-(-(total - start) // step), 0), max(length - first, 0))
        kept.append(Span(first, first + count, None))
        places.append(Span(start, start + count * step, step))
        shape.append(total)
    around = b.broadcast(b.cast(fill, x.dtype), lengths(shape, "the padded shape"))
    return SetItem(tuple(places))(around, GetItem(tuple(kept))(x))
