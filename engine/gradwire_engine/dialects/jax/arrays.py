"""``jax.lax``: rounding and choosing, running totals, counters, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.jax.names import JAX
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import of_lengths
from gradwire_engine.ops.axes import axes_of, axis_of, flag, integer, integers, lengths, range_of
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


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
