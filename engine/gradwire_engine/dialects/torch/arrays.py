"""PyTorch's functions of shapes that mean something else than the unprefixed ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH, listed
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import few_parts, of_lengths
from gradwire_engine.ops.axes import axis_of, flag, integer, integers, reshaped
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("zeros empty")
def zeros(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Zeros; the lengths are given one by one or as a list."""
    return recorded("zeros")(b, listed(size), dtype)


@TORCH.macro("ones")
def ones(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Ones; the lengths are given one by one or as a list."""
    return recorded("ones")(b, listed(size), dtype)


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


@TORCH.macro("meshgrid")
def meshgrid(b: Builder, *tensors: Any, indexing: Any = "ij") -> Any:
    """Coordinates of a grid, an array for each vector; the first counts the rows."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return recorded("meshgrid")(b, *given, indexing=indexing)


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
