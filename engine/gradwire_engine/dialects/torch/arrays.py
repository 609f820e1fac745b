"""PyTorch's functions of shapes that mean something else than the unprefixed ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import few_parts, of_lengths
from gradwire_engine.ops.axes import axes_of, axis_of, flag, integer, integers, reshaped
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("flatten")
def flatten(b: Builder, input: Any, start_dim: Static = 0, end_dim: Static = -1) -> Any:
    """The axes from ``start_dim`` to ``end_dim``, inclusive, as one."""
    x = recorded("atleast_1d")(b, input)
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
    if isinstance(split_size_or_sections, list | tuple):
        return of_lengths(x, integers(split_size_or_sections, "split_size_or_sections"), place)
    size, length = integer(split_size_or_sections, "split_size_or_sections"), x.type.shape[place]
    if size < 1:
        raise BadArgument(f"parts have a length of at least 1, not {size}")
    few_parts(b, -(-length // size))
    return recorded("split")(b, x, [*range(size, length, size)], place)


@TORCH.macro("split_with_sizes")
def split_with_sizes(b: Builder, input: Any, split_sizes: Static, dim: Static = 0) -> Any:
    """A list of parts along ``dim`` of the given lengths."""
    return split(b, input, [*integers(split_sizes, "split_sizes")], dim)


@TORCH.macro("cat concat concatenate")
def cat(b: Builder, tensors: Any, dim: Static = 0) -> Any:
    """Arrays one after the other along ``dim``; vectors of no elements count as not there."""
    if isinstance(tensors, list | tuple):
        parts = [b.array(part) for part in tensors]
        tensors = [part for part in parts if part.shape != (0,)] or parts
    return recorded("concatenate")(b, tensors, dim)


def _at_least(axes: int) -> Callable[..., Any]:
    def at_least(b: Builder, tensors: Any, *others: Any) -> Any:
        """The array, or each of a list, with new axes of length 1 if it has too few."""
        listed = isinstance(tensors, list | tuple)
        given = tensors if listed and not others else (tensors, *others)
        grown = [recorded(f"atleast_{axes}d")(b, x) for x in given]
        return grown if listed or others else grown[0]

    return at_least


for _n in (1, 2, 3):
    TORCH.macro(f"atleast_{_n}d")(_at_least(_n))


@TORCH.macro("repeat_interleave")
def repeat_interleave(
    b: Builder,
    input: Any,
    repeats: Static,
    dim: Static = None,
    *,
    output_size: Static = None,
) -> Any:
    """Each element, or part along ``dim``, as often as ``repeats`` says; ``output_size`` in all."""
    z = recorded("repeat")(b, input, repeats, dim)
    length = z.shape[dim or 0]
    if output_size not in (None, length):
        raise BadArgument(f"repeats make up {length} parts, got an output_size of {output_size}")
    return z


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
    total = _chosen(length + count - 1 if again else length, count, b.limits.array_bytes)
    b.afford(*[ArrayType(DTYPES["int64"], shape) for shape in ((total, count), (5, length))])
    following = itertools.chain.from_iterable(choose(range(length), count))

    def rows(row: Any, _: Any) -> Any:
        return np.fromiter(following, np.int64, row.size * count).reshape(row.size, count)

    return recorded("take")(b, x, b.table((total, count), rows, by=0), 0)


def _chosen(n: int, k: int, most: int) -> int:
    """The number of choices of ``k`` from ``n``, or one above ``most``."""
    total = int(k <= max(n, 0))
    for i in range(min(k, n - k)):
        total = total * (n - i) // (i + 1)
        if total > most:
            break
    return total
