"""PyTorch's functions of shapes that mean something else than the unprefixed ones."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axes_of, axis_of, flag, integer, integers, reshaped
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import refuse_too_large
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("flatten")
def flatten(b: Builder, input: Any, start_dim: Static = 0, end_dim: Static = -1) -> Any:
    """The axes from ``start_dim`` to ``end_dim``, inclusive, as one."""
    x = b.array(input)
    if not x.ndim:
        return recorded("reshape")(b, x, (1,))
    first, last = (axis_of(axis, x.ndim, "flatten") for axis in (start_dim, end_dim))
    if first > last:
        raise ShapeMismatch(f"flatten goes from an axis to a later one, not {first} to {last}")
    shape = x.type.shape
    length = 1
    for n in shape[first : last + 1]:
        length *= n
    return recorded("reshape")(b, x, (*shape[:first], length, *shape[last + 1 :]))


@TORCH.macro("split")
def split(b: Builder, tensor: Any, split_size_or_sections: Static, dim: Static = 0) -> Any:
    """A list of parts along ``dim`` of one length, the last perhaps shorter, or of given ones."""
    x = b.array(tensor)
    place = axis_of(dim, x.ndim, "split")
    length = x.type.shape[place]
    if isinstance(split_size_or_sections, list | tuple):
        sizes = integers(split_size_or_sections, "split_size_or_sections")
        if any(size < 0 for size in sizes) or sum(sizes) != length:
            raise BadArgument(f"parts of {sizes} do not make up a length of {length}")
        cuts = [sum(sizes[:i]) for i in range(1, len(sizes))]
    else:
        size = integer(split_size_or_sections, "split_size_or_sections")
        if size < 1:
            raise BadArgument(f"parts have a length of at least 1, not {size}")
        cuts = [*range(size, length, size)]
    return recorded("split")(b, x, cuts, place)


@TORCH.macro("chunk")
def chunk(b: Builder, input: Any, chunks: Static, dim: Static = 0) -> Any:
    """A list of at most ``chunks`` parts along ``dim``, of one length but for the last."""
    x = b.array(input)
    count = integer(chunks, "chunks")
    if count < 1:
        raise BadArgument(f"an array cannot be split into {count} parts")
    length = x.type.shape[axis_of(dim, x.ndim, "chunk")]
    size = -(-length // count)
    return split(b, x, size or 1, dim)


@TORCH.macro("meshgrid")
def meshgrid(b: Builder, *tensors: Any, indexing: Any = "ij") -> Any:
    """Coordinates of a grid, an array for each vector; the first counts the rows."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return recorded("meshgrid")(b, *given, indexing=indexing)


@TORCH.macro("numel")
def numel(b: Builder, input: Any) -> Any:
    """Number of elements, an integer known while recording."""
    return b.array(input).type.size


@TORCH.macro("select")
def select(b: Builder, input: Any, dim: Static, index: Static) -> Any:
    """The part at ``index`` along ``dim``, which goes."""
    return recorded("take")(b, input, integer(index, "index"), dim)


@TORCH.macro("narrow")
def narrow(b: Builder, input: Any, dim: Static, start: Static, length: Static) -> Any:
    """``length`` elements along ``dim`` from ``start``."""
    x, first, count = b.array(input), integer(start, "start"), integer(length, "length")
    most = x.type.shape[axis_of(dim, x.ndim, "narrow")]
    if not 0 <= first <= first + count <= most:
        raise BadArgument(f"narrow cannot take {count} of {most} elements from {first} on")
    return recorded("split")(b, x, [first, first + count], dim)[1]


@TORCH.macro("squeeze")
def squeeze(b: Builder, input: Any, dim: Static = None) -> Any:
    """Axes of length 1 removed: all, or those of ``dim`` that have it."""
    x = b.array(input)
    shape = x.type.shape
    places = [i for i in axes_of(dim, x.ndim, "squeeze") if shape[i] == 1]
    return recorded("squeeze")(b, x, places)


@TORCH.macro("unflatten")
def unflatten(b: Builder, input: Any, dim: Static, sizes: Static) -> Any:
    """Axis ``dim`` as several of the given lengths, one of them perhaps -1."""
    x = b.array(input)
    place = axis_of(dim, x.ndim, "unflatten")
    shape = x.type.shape
    inner = reshaped((shape[place],), integers(sizes, "sizes"))
    return recorded("reshape")(b, x, (*shape[:place], *inner, *shape[place + 1 :]))


@TORCH.macro("cartesian_prod")
def cartesian_prod(b: Builder, *tensors: Any) -> Any:
    """All combinations of elements of the vectors, one a row; of one vector itself."""
    if len(tensors) == 1:
        return b.array(tensors[0])
    grids = recorded("meshgrid")(b, *tensors, indexing="ij")
    return recorded("stack")(b, [recorded("ravel")(b, grid) for grid in grids], -1)


@TORCH.macro("combinations")
def combinations(b: Builder, input: Any, r: Static = 2, with_replacement: Static = False) -> Any:
    """All choices of ``r`` elements of a vector, in its order, one a row."""
    x, count = b.array(input), integer(r, "r")
    if x.ndim != 1 or count < 0:
        raise ShapeMismatch(f"combinations takes a vector and r of at least 0, got {x.type}, {r}")
    again = flag(with_replacement, "with_replacement")
    choose = itertools.combinations_with_replacement if again else itertools.combinations
    length = x.type.shape[0]
    total = math.comb(length + count - 1 if again else length, count)
    refuse_too_large("combinations", ArrayType(x.dtype, (total, count)), b.limits.array_bytes)
    rows = np.array([*choose(range(length), count)], np.int64).reshape(total, count)
    return recorded("take")(b, x, b.constant(rows), 0)
