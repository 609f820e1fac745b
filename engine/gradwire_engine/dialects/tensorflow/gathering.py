"""TensorFlow's gathering, scattering and cutting out."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.axes import axis_of, integer, integers, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.patterns import ARRAY, Span, complete_pattern
from gradwire_engine.ops.promotion import DTYPES

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TF.macro("gather")
def gather(
    b: Builder,
    params: Any,
    indices: Any,
    validate_indices: Static = None,
    axis: Static = None,
    batch_dims: Static = 0,
) -> Any:
    """Slices of ``params`` along ``axis``, repeats allowed; one index array for each example if
    ``batch_dims`` axes, the first ones of both, count examples.
    """
    x, index = b.array(params), b.array(indices)
    count = _batch_dims(batch_dims, x, index)
    place = axis_of(count if axis is None else axis, x.ndim, "gather")
    if place < count:
        raise BadArgument(f"gather goes along an axis after the {count} of batch_dims")
    index = from_start(b, index, x)
    if not count:
        return recorded("take")(b, x, index, place)
    moved = recorded("moveaxis")(b, x, place, count)
    z = _rows(b, moved, [index], count, index.ndim)
    own = list(range(index.ndim, index.ndim + place - count))
    order = [*range(count), *own, *range(count, index.ndim)]
    return recorded("transpose")(b, z, [*order, *range(len(order), z.ndim)])


@TF.macro("gather_nd")
def gather_nd(b: Builder, params: Any, indices: Any, batch_dims: Static = 0) -> Any:
    """Elements or slices of ``params`` whose indices stand along the last axis of ``indices``,
    within each example if ``batch_dims`` axes, the first ones of both, count examples.
    """
    x, index = b.array(params), b.array(indices)
    count = _batch_dims(batch_dims, x, index)
    index = from_start(b, index, x)
    if not count:
        return recorded("gather_nd")(b, x, index)
    return _rows(b, x, recorded("unstack")(b, index, -1), count, index.ndim - 1)


def _batch_dims(batch_dims: Any, x: Var, index: Var) -> int:
    count = integer(batch_dims, "batch_dims")
    count = count + index.ndim if count < 0 else count
    if not 0 <= count <= min(x.ndim, index.ndim) or x.shape[:count] != index.shape[:count]:
        raise BadArgument(
            f"batch_dims={count} needs as many first axes alike, got {x.type} and {index.type}"
        )
    return count


def from_start(b: Builder, index: Var, x: Var) -> Var:
    """Indices of ``x`` that count from the start only: what NumPy counts from the end is beyond."""
    if index.dtype.kind != "i":
        return index
    below, beyond = recorded("less")(b, index, 0), max(x.shape, default=0)
    z: Var = recorded("where")(b, below, beyond, b.cast(index, DTYPES["int64"]))
    return z


def _rows(b: Builder, x: Var, indices: list[Var], count: int, ndim: int) -> Var:
    """Elements by ``indices`` of ``ndim`` axes, of each of the examples in ``count`` axes."""
    examples = [b.numbers(n, axis, ndim) for axis, n in enumerate(x.shape[:count])]
    pattern = (ARRAY,) * (count + len(indices))
    return GetItem(complete_pattern(pattern, x.ndim))(x, *examples, *indices)


@TF.macro("one_hot")
def one_hot(
    b: Builder,
    indices: Any,
    depth: Static,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: Static = -1,
    dtype: Static = None,
) -> Any:
    """``on_value`` where the index along the new ``axis`` is the given one, else ``off_value``."""
    index = b.array(indices)
    place = axis_of(-1 if axis is None else axis, index.ndim + 1, "one_hot")
    if index.dtype.kind in "iu":  # the counter's dtype, for strict promotion
        index = recorded("astype")(b, index, "int64")
    counter = recorded("arange")(b, integer(depth, "depth"))
    shape = [-1 if i == place else 1 for i in range(index.ndim + 1)]
    same = recorded("equal")(
        b, recorded("expand_dims")(b, index, place), recorded("reshape")(b, counter, shape)
    )
    on, off = b.promote(
        *[recorded("array")(b, v, dtype or "float64") for v in (on_value, off_value)]
    )
    return recorded("where")(b, same, on, off)


@TF.macro("slice")
def slice(b: Builder, input_: Any, begin: Static, size: Static) -> Any:
    """``size`` elements along each axis from ``begin`` on; -1 means all that follow."""
    x = b.array(input_)
    starts, counts = integers(begin, "begin"), integers(size, "size")
    if not len(starts) == len(counts) == x.ndim:
        raise BadArgument(f"slice needs a start and a size for each of {x.ndim} axes")
    for axis, (start, count) in enumerate(zip(starts, counts, strict=True)):
        length = x.type.shape[axis]
        stop = length if count == -1 else start + count
        if not 0 <= start <= stop <= length:
            raise BadArgument(f"slice cannot take {count} of {length} elements from {start} on")
        x = recorded("split")(b, x, [start, stop], axis)[1]
    return x


@TF.macro("strided_slice")
def strided_slice(
    b: Builder,
    input_: Any,
    begin: Static,
    end: Static,
    strides: Static = None,
    begin_mask: Static = 0,
    end_mask: Static = 0,
    ellipsis_mask: Static = 0,
    new_axis_mask: Static = 0,
    shrink_axis_mask: Static = 0,
) -> Any:
    """The slice ``begin:end:strides`` of each axis; bit i of a mask is for entry i.

    The masks say that the beginning or the end is the axis's own, that the entry stands for an
    ellipsis or a new axis, or that ``begin`` is an index, which takes the axis away.
    """
    x = b.array(input_)
    starts, stops = integers(begin, "begin"), integers(end, "end")
    steps = (1,) * len(starts) if strides is None else integers(strides, "strides")
    if not len(starts) == len(stops) == len(steps):
        raise BadArgument("strided_slice needs begin, end and strides of one length")
    items: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            items.append(...)
        elif new_axis_mask & bit:
            items.append(None)
        elif shrink_axis_mask & bit:
            items.append(start)
        else:
            first, last = begin_mask & bit, end_mask & bit
            items.append(Span(None if first else start, None if last else stop, step))
    return GetItem(complete_pattern(tuple(items), x.ndim))(x)


@TF.macro("unravel_index")
def unravel_index(b: Builder, indices: Any, dims: Static) -> Any:
    """Indices of elements in row-major order as one index for each axis of ``dims``, stacked."""
    rest, places = b.array(indices), []
    for n in reversed(lengths(dims, "dims")):
        places.append(recorded("remainder")(b, rest, n))
        rest = recorded("floor_divide")(b, rest, n)
    return recorded("stack")(b, places[::-1])


@TF.macro("dynamic_stitch")
def dynamic_stitch(b: Builder, indices: Static, data: Any) -> Any:
    """The rows of all ``data`` put at their ``indices``; of rows at one place the last stays.

    The indices are taken as known while recording.
    """
    if not isinstance(indices, list | tuple) or not isinstance(data, list | tuple):
        raise BadArgument("dynamic_stitch takes two lists, one of indices and one of arrays")
    parts = [b.array(part) for part in data]
    places = [integers(index, "indices") for index in indices]
    if not places or len(places) != len(parts):
        raise BadArgument("dynamic_stitch needs as many lists of indices as arrays")
    rest = parts[0].shape[isinstance(indices[0], list | tuple) :]
    rows = [
        recorded("reshape")(b, part, (len(place), *rest))
        for place, part in zip(places, parts, strict=True)
    ]
    last = {place: row for row, place in enumerate(chain.from_iterable(places))}
    if sorted(last) != [*range(len(last))]:
        raise BadArgument("dynamic_stitch needs a row for each place up to the last")
    order = [last[place] for place in range(len(last))]
    return recorded("take")(b, recorded("concatenate")(b, rows), b.constant(order), 0)
