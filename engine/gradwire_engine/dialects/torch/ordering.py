"""PyTorch's functions of the order of elements: extremes, sorting, and both with indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import choice, flag
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


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
