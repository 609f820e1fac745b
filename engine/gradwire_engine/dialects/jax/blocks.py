"""``jax.lax``: rounding and choosing, running totals, and blocks of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axes_of, axis_of, flag, integer, integers, lengths
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.indexing import GetItem, SetItem
from gradwire_engine.ops.patterns import Span

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@JAX.macro("lax.div")
def div(b: Builder, x: Any, y: Any) -> Any:
    """``z = x / y``; of integers the whole part, rounded towards 0."""
    x, y = b.promote(x, y)
    if x.dtype.kind not in "iu":
        return recorded("divide")(b, x, y)
    quotient = recorded("floor_divide")(b, recorded("abs")(b, x), recorded("abs")(b, y))
    sign = recorded("multiply")(b, recorded("sign")(b, x), recorded("sign")(b, y))
    return recorded("multiply")(b, sign, quotient)


@JAX.macro("lax.round")
def round(b: Builder, x: Any, rounding_method: Static = 0) -> Any:
    """The nearest integer; a half goes away from 0, or to the even one (``rounding_method`` 1)."""
    if rounding_method not in (0, 1):
        raise BadArgument("rounding_method is 0, away from zero, or 1, to the even integer")
    if rounding_method:
        return recorded("round")(b, x)
    x = b.array(x)
    whole = recorded("trunc")(b, x)
    half = recorded("greater_equal")(b, recorded("abs")(b, recorded("subtract")(b, x, whole)), 0.5)
    further = recorded("add")(b, whole, recorded("sign")(b, x))
    return recorded("where")(b, half, further, whole)


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


@JAX.macro("lax.cumsum")
def cumsum(b: Builder, operand: Any, axis: Static = 0, reverse: Static = False) -> Any:
    """Running sum along ``axis``, from the end if ``reverse``."""
    return _running(b, "cumsum", operand, axis, reverse)


@JAX.macro("lax.cumprod")
def cumprod(b: Builder, operand: Any, axis: Static = 0, reverse: Static = False) -> Any:
    """Running product along ``axis``, from the end if ``reverse``."""
    return _running(b, "cumprod", operand, axis, reverse)


@JAX.macro("lax.cummax")
def cummax(b: Builder, operand: Any, axis: Static = 0, reverse: Static = False) -> Any:
    """Running maximum along ``axis``, from the end if ``reverse``."""
    return _running(b, "cummax", operand, axis, reverse)


@JAX.macro("lax.cummin")
def cummin(b: Builder, operand: Any, axis: Static = 0, reverse: Static = False) -> Any:
    """Running minimum along ``axis``, from the end if ``reverse``."""
    return _running(b, "cummin", operand, axis, reverse)


@JAX.macro("lax.cumlogsumexp")
def cumlogsumexp(b: Builder, operand: Any, axis: Static = 0, reverse: Static = False) -> Any:
    """Logarithm of the running sum of exponentials along ``axis``, from the end if ``reverse``."""
    return _running(b, "cumlogsumexp", operand, axis, reverse)


def _running(b: Builder, name: str, operand: Any, axis: Any, reverse: Any) -> Any:
    x = b.array(operand)
    place = axis_of(axis, x.ndim, name)
    if not flag(reverse, "reverse"):
        return recorded(name)(b, x, place)
    back = recorded("flip")
    return back(b, recorded(name)(b, back(b, x, place), place), place)


@JAX.macro("lax.argmax")
def argmax(b: Builder, operand: Any, axis: Static, index_dtype: Static) -> Any:
    """Index of the largest element along ``axis``, the first of equals."""
    return recorded("astype")(b, recorded("argmax")(b, operand, axis), index_dtype)


@JAX.macro("lax.argmin")
def argmin(b: Builder, operand: Any, axis: Static, index_dtype: Static) -> Any:
    """Index of the smallest element along ``axis``, the first of equals."""
    return recorded("astype")(b, recorded("argmin")(b, operand, axis), index_dtype)


@JAX.macro("lax.sort_key_val")
def sort_key_val(
    b: Builder, keys: Any, values: Any, dimension: Static = -1, is_stable: Static = True
) -> Any:
    """A list of the keys in rising order along ``dimension``, and the values in that order."""
    order = recorded("argsort")(b, keys, dimension, stable=is_stable)
    return [recorded("take_along_axis")(b, x, order, dimension) for x in (keys, values)]


@JAX.macro("lax.top_k")
def top_k(b: Builder, operand: Any, k: Static, *, axis: Static = -1) -> Any:
    """A list of the ``k`` largest elements along ``axis``, falling, and their int32 indices."""
    x = b.array(operand)
    place = axis_of(axis, x.ndim, "top_k")
    found = recorded("top_k")(b, recorded("moveaxis")(b, x, place, -1), k)
    values, indices = (recorded("moveaxis")(b, part, -1, place) for part in found)
    return [values, recorded("astype")(b, indices, "int32")]


@JAX.macro("lax.iota")
def iota(b: Builder, dtype: Static, size: Static) -> Any:
    """The numbers from 0 to before ``size``."""
    return recorded("arange")(b, integer(size, "size"), dtype=dtype)


@JAX.macro("lax.broadcasted_iota")
def broadcasted_iota(b: Builder, dtype: Static, shape: Static, dimension: Static) -> Any:
    """An array of ``shape`` whose elements are their indices along ``dimension``."""
    sizes = lengths(shape)
    place = axis_of(dimension, len(sizes), "broadcasted_iota")
    column = (-1,) + (1,) * (len(sizes) - place - 1)
    return recorded("broadcast_to")(
        b, recorded("reshape")(b, iota(b, dtype, sizes[place]), column), sizes
    )


@JAX.macro("lax.broadcast")
def broadcast(b: Builder, operand: Any, sizes: Static) -> Any:
    """The array repeated along new axes of ``sizes`` before its own."""
    x = b.array(operand)
    return recorded("broadcast_to")(b, x, (*lengths(sizes, "sizes"), *x.shape))


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


@JAX.macro("lax.reshape")
def reshape(b: Builder, operand: Any, new_sizes: Static, dimensions: Static = None) -> Any:
    """The elements in an array of ``new_sizes``, read with the axes in the order ``dimensions``."""
    ordered = operand if dimensions is None else recorded("transpose")(b, operand, dimensions)
    return recorded("reshape")(b, ordered, new_sizes)


@JAX.macro("lax.collapse")
def collapse(
    b: Builder, operand: Any, start_dimension: Static, stop_dimension: Static = None
) -> Any:
    """The axes from ``start_dimension`` to before ``stop_dimension`` as one."""
    x = b.array(operand)
    first, last, _ = slice(start_dimension, stop_dimension).indices(x.ndim)
    if first >= last:
        raise ShapeMismatch(f"collapse goes from an axis to a later one, not {first} to {last}")
    return recorded("reshape")(b, x, (*x.shape[:first], -1, *x.shape[last:]))


@JAX.macro("lax.split")
def split(b: Builder, operand: Any, sizes: Static, axis: Static = 0) -> Any:
    """A list of parts of lengths ``sizes`` along ``axis``."""
    x, given = b.array(operand), integers(sizes, "sizes")
    length = x.shape[axis_of(axis, x.ndim, "split")]
    if min(given, default=0) < 0 or sum(given) != length:
        raise ShapeMismatch(f"parts of {given} do not make up a length of {length}")
    return recorded("split")(b, x, [sum(given[:i]) for i in range(1, len(given))], axis)


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
    start, stop, _ = slice(start_index, limit_index).indices(x.shape[place])
    pattern = [Span(None, None, None)] * x.ndim
    pattern[place] = Span(start, stop, integer(stride, "stride"))
    return GetItem(tuple(pattern))(x)


@JAX.macro("lax.index_in_dim")
def index_in_dim(
    b: Builder, operand: Any, index: Static, axis: Static = 0, keepdims: Static = True
) -> Any:
    """The part at ``index`` along ``axis``, which stays with length 1 or goes."""
    place = integer(index, "index")
    kept = flag(keepdims, "keepdims")
    return recorded("take")(b, operand, [place] if kept else place, axis)


@JAX.macro("lax.pad")
def pad(b: Builder, operand: Any, padding_value: Any, padding_config: Static) -> Any:
    """The array with ``padding_value`` before, after and between its elements.

    ``padding_config`` has (before, after, between) for each axis; negative numbers cut off.
    """
    x, fill = b.array(operand), b.array(padding_value)
    config = [integers(item, "padding_config") for item in padding_config]
    if len(config) != x.ndim or any(len(item) != 3 for item in config) or fill.ndim:
        raise ShapeMismatch(f"pad needs one number, and three integers for each of {x.ndim} axes")
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


@JAX.macro("lax.dynamic_slice")
def dynamic_slice(b: Builder, operand: Any, start_indices: Any, slice_sizes: Static) -> Any:
    """The block of ``slice_sizes`` at ``start_indices``, which may be computed.

    Negative starts count from the end; a block that would reach beyond is moved inside.
    """
    x = b.array(operand)
    return recorded("dynamic_slice")(b, x, _starts(b, x, start_indices), slice_sizes)


@JAX.macro("lax.dynamic_update_slice")
def dynamic_update_slice(b: Builder, operand: Any, update: Any, start_indices: Any) -> Any:
    """The array with the block at ``start_indices``, which may be computed, replaced.

    Negative starts count from the end; a block that would reach beyond is moved inside.
    """
    x = b.array(operand)
    return recorded("dynamic_update_slice")(b, x, update, _starts(b, x, start_indices))


@JAX.macro("lax.dynamic_slice_in_dim")
def dynamic_slice_in_dim(
    b: Builder, operand: Any, start_index: Any, slice_size: Static, axis: Static = 0
) -> Any:
    """``slice_size`` parts along ``axis`` from ``start_index``, which may be computed."""
    x = b.array(operand)
    place = axis_of(axis, x.ndim, "dynamic_slice_in_dim")
    sizes = [slice_size if i == place else length for i, length in enumerate(x.shape)]
    return dynamic_slice(b, x, _along(place, start_index, x), sizes)


@JAX.macro("lax.dynamic_index_in_dim")
def dynamic_index_in_dim(
    b: Builder, operand: Any, index: Any, axis: Static = 0, keepdims: Static = True
) -> Any:
    """The part along ``axis`` at ``index``, which may be computed; the axis stays or goes."""
    z = dynamic_slice_in_dim(b, operand, index, 1, axis)
    return z if flag(keepdims, "keepdims") else recorded("squeeze")(b, z, axis)


@JAX.macro("lax.dynamic_update_slice_in_dim")
def dynamic_update_slice_in_dim(
    b: Builder, operand: Any, update: Any, start_index: Any, axis: Static
) -> Any:
    """The array with its parts along ``axis`` from ``start_index``, perhaps computed, replaced."""
    x = b.array(operand)
    place = axis_of(axis, x.ndim, "dynamic_update_slice_in_dim")
    return dynamic_update_slice(b, x, update, _along(place, start_index, x))


@JAX.macro("lax.dynamic_update_index_in_dim")
def dynamic_update_index_in_dim(
    b: Builder, operand: Any, update: Any, index: Any, axis: Static
) -> Any:
    """The array with its part along ``axis`` at ``index``, which may be computed, replaced."""
    x, part = b.array(operand), b.array(update)
    if part.ndim < x.ndim:
        part = recorded("expand_dims")(b, part, axis)
    return dynamic_update_slice_in_dim(b, x, part, index, axis)


def _along(place: int, start: Any, x: Var) -> list[Any]:
    """``start`` for the axis at ``place``, 0 for the others."""
    return [start if axis == place else 0 for axis in range(x.ndim)]


def _starts(b: Builder, x: Var, starts: Any) -> Any:
    """``starts`` with the axis's length added to those that are negative."""
    given = starts if isinstance(starts, list | tuple) else recorded("unstack")(b, starts)
    if len(given) != x.ndim:
        raise BadArgument(f"a block needs {x.ndim} starts, one for each axis")
    return [_wrapped(b, start, length) for start, length in zip(given, x.shape, strict=True)]


def _wrapped(b: Builder, start: Any, length: int) -> Any:
    if isinstance(start, int):
        return start + length if start < 0 else start
    from_end = recorded("add")(b, start, length)
    return recorded("where")(b, recorded("less")(b, start, 0), from_end, start)
