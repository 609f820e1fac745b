"""PyTorch's functions of the order of elements: extremes, sorting, and both with indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axis_of, choice, flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def _with_index(b: Builder, x: Any, index: Any, dim: Any, keepdim: Any) -> list[Any]:
    """The elements at an index along ``dim`` that has length 1 there, and the index."""
    parts = [recorded("take_along_axis")(b, x, index, dim), index]
    if flag(keepdim, "keepdim"):
        return parts
    return [recorded("squeeze")(b, part, dim) for part in parts]


@TORCH.macro("max")
def largest_element(
    b: Builder, input: Any, dim: Any = None, keepdim: Static = False, *, other: Any = None
) -> Any:
    """The largest element; with another array the elementwise maximum; along ``dim`` a list of the
    largest elements and their indices, the first of equals.
    """
    return _extreme(b, "max", input, dim, keepdim, other)


@TORCH.macro("min")
def smallest_element(
    b: Builder, input: Any, dim: Any = None, keepdim: Static = False, *, other: Any = None
) -> Any:
    """The smallest element; with another array the elementwise minimum; along ``dim`` a list of the
    smallest elements and their indices, the first of equals.
    """
    return _extreme(b, "min", input, dim, keepdim, other)


def _extreme(b: Builder, name: str, x: Any, dim: Any, keepdim: Any, other: Any) -> Any:
    if other is None and dim is None:
        return recorded(name)(b, x)
    if other is None and isinstance(dim, list | tuple) and all(type(axis) is int for axis in dim):
        message = f"{name} takes one axis or another array, got {describe(dim)} of integers"
        raise BadArgument(message, hint=f"torch.a{name}(x, dim) takes several axes")
    if other is not None or type(dim) is not int:
        return recorded(f"{name}imum")(b, x, dim if other is None else other)
    index = recorded(f"arg{name}")(b, x, dim, keepdims=True)
    return _with_index(b, x, index, dim, keepdim)


def _in_order(b: Builder, input: Any, dim: Any, op: str) -> tuple[Var, Var, int, int]:
    """An array, the order of its elements along an axis, that axis and its length, not 0."""
    x = b.array(input)
    axis = axis_of(dim, x.ndim, op)
    length = x.type.shape[axis]
    if not length:
        raise ShapeMismatch(f"{op} needs elements")
    return x, recorded("argsort")(b, x, axis), axis, length


@TORCH.macro("median")
def median(b: Builder, input: Any, dim: Static = None, keepdim: Static = False) -> Any:
    """The middle element, of an even number the lower; along ``dim`` a list of it and its index.

    NaN where there is one.  Convention: without ``dim`` equal elements share the derivative.
    """
    return _median(b, "", input, dim, keepdim)


@TORCH.macro("nanmedian")
def nanmedian(b: Builder, input: Any, dim: Static = None, keepdim: Static = False) -> Any:
    """The middle element of those that are not NaN; along ``dim`` a list of it and its index."""
    return _median(b, "nan", input, dim, keepdim)


def _median(b: Builder, prefix: str, input: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None:
        x = b.array(input)
        middle = recorded(f"{prefix}quantile")(b, x, 0.5, method="lower")
        return recorded("astype")(b, middle, x.dtype)
    x, order, axis, length = _in_order(b, input, dim, f"{prefix}median")
    missing = recorded("sum")(b, recorded("isnan")(b, x), axis, keepdims=True)
    count = recorded("subtract")(b, length, missing)
    if prefix:
        place = recorded("floor_divide")(b, recorded("clip")(b, count - 1, 0, None), 2)
    else:  # NaN is sorted behind all else
        whole = recorded("equal")(b, missing, 0)
        place = recorded("where")(b, whole, (length - 1) // 2, count)
    index = recorded("take_along_axis")(b, order, place, axis)
    return _with_index(b, x, index, axis, keepdim)


@TORCH.macro("mode")
def mode(b: Builder, input: Any, dim: Static = -1, keepdim: Static = False) -> Any:
    """A list of the element that is there most often along ``dim``, of several the smallest, and
    its index, the last of equals.
    """
    x, order, axis, _ = _in_order(b, input, dim, "mode")
    rows = recorded("moveaxis")(b, recorded("sort")(b, x, axis), axis, -1)
    pairs = [recorded("expand_dims")(b, rows, place) for place in (-1, -2)]
    often = recorded("count_nonzero")(b, recorded("equal")(b, *pairs), -1)
    first = recorded("argmax")(b, often, -1, keepdims=True)
    last = first + recorded("take_along_axis")(b, often, first, -1) - 1
    place = recorded("moveaxis")(b, last, -1, axis)
    index = recorded("take_along_axis")(b, order, place, axis)
    return _with_index(b, x, index, axis, keepdim)


@TORCH.macro("cummax")
def cummax(b: Builder, input: Any, dim: Static) -> Any:
    """A list of the running maximum along ``dim`` and its index, the last of equals."""
    return _running(b, "cummax", input, dim)


@TORCH.macro("cummin")
def cummin(b: Builder, input: Any, dim: Static) -> Any:
    """A list of the running minimum along ``dim`` and its index, the last of equals."""
    return _running(b, "cummin", input, dim)


def _running(b: Builder, name: str, input: Any, dim: Any) -> Any:
    x = b.array(input)
    axis = axis_of(dim, x.ndim, name)
    attained = recorded("equal")(b, x, recorded(name)(b, x, axis))
    # NaN stays the extreme from where it is met, as the only element not equal to itself.
    attained = recorded("logical_or")(b, attained, recorded("not_equal")(b, x, x))
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    numbers = recorded("reshape")(b, recorded("arange")(b, x.type.shape[axis]), shape)
    index = recorded("cummax")(b, recorded("where")(b, attained, numbers, 0), axis)
    return [recorded("take_along_axis")(b, x, index, axis), index]


@TORCH.macro("searchsorted")
def searchsorted(
    b: Builder,
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: Static = False,
    right: Static = False,
    side: Static = None,
    sorter: Any = None,
) -> Any:
    """Places in a rising sequence where elements belong, before equal ones or (``right``) after.

    Of a stack of sequences each is that of the elements at its place.  ``sorter`` is the order in
    which they rise.
    """
    after = choice(side, (None, "left", "right"), "side")
    after = after or ("right" if flag(right, "right") else "left")
    rising, wanted = b.array(sorted_sequence), b.array(input)
    if sorter is not None:
        rising = recorded("take_along_axis")(b, rising, sorter, -1)
    if rising.ndim < 2:
        places = recorded("searchsorted")(b, rising, wanted, after)
    elif rising.shape[:-1] != wanted.shape[:-1]:
        raise ShapeMismatch(f"searchsorted got stacks of {rising.type} and {wanted.type}")
    else:
        below = "less_equal" if after == "right" else "less"
        pair = [recorded("expand_dims")(b, v, place) for v, place in ((rising, -2), (wanted, -1))]
        places = recorded("count_nonzero")(b, recorded(below)(b, *pair), -1)
    return recorded("astype")(b, places, "int32") if flag(out_int32, "out_int32") else places
