"""PyTorch's reading and writing of elements by index, by mask and along diagonals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axis_of, choice, flag, integer, integers, range_of
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.elementwise import broadcast_shapes

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: The update for each reduction, and what changes nothing there.
_REDUCTIONS = {
    "sum": ("add", 0),
    "add": ("add", 0),
    "mean": ("add", 0),
    "prod": ("multiply", 1),
    "multiply": ("multiply", 1),
    "amax": ("max", -math.inf),
    "amin": ("min", math.inf),
}


def held(value: float, dtype: Any) -> Any:
    """``value``, or for an infinite one that integers are to hold the outermost of these."""
    if dtype.kind not in "iu" or math.isfinite(value):
        return value
    bounds = np.iinfo(dtype)
    return int(bounds.max if value > 0 else bounds.min)


def _update(b: Builder, name: str, x: Var, places: Var, values: Any) -> Any:
    return recorded(f"tensor_scatter_nd_{name}")(b, x, places, values)


def _reduced(b: Builder, x: Var, places: Var, values: Any, reduce: Any, include_self: Any) -> Any:
    """``x`` with ``values`` reduced into the elements or rows at ``places``."""
    name, nothing = _REDUCTIONS[choice(reduce, _REDUCTIONS, "reduce")]
    own = flag(include_self, "include_self")
    empty = x if own else _update(b, "update", x, places, held(nothing, x.dtype))
    z = _update(b, name, empty, places, values)
    if reduce != "mean":
        return z
    ones = recorded("full_like")(b, x, 1.0 if own else 0.0)
    count = _update(b, "add", ones, places, 1.0)
    return recorded("divide")(b, z, recorded("maximum")(b, count, 1.0))


def _fitting(x: Var, axis: int, index: Any, op: str) -> Var:
    """An index of as many axes as the array, none but ``axis`` longer than there."""
    at = x.builder.array(index)
    pairs = [*zip(at.type.shape, x.type.shape, strict=False)]
    if at.ndim != x.ndim or any(n > most for i, (n, most) in enumerate(pairs) if i != axis):
        raise ShapeMismatch(f"{op} needs an index that fits {x.type}, got {at.type}")
    return at


def _along(b: Builder, x: Var, dim: Any, index: Any, op: str) -> Var:
    """Places in ``x`` of the elements that ``index`` names along ``dim``."""
    axis = axis_of(dim, x.ndim, op)
    at = _fitting(x, axis, index, op)
    parts = [at if i == axis else b.numbers(n, i, x.ndim) for i, n in enumerate(at.type.shape)]
    return recorded("stack")(b, recorded("broadcast_arrays")(b, *parts), -1)  # type: ignore[no-any-return]


def _first(b: Builder, src: Any, shape: tuple[int, ...]) -> Any:
    """The block of ``shape`` at the start of an array; a number is repeated in any case."""
    x = b.array(src)
    if not x.ndim:
        return x
    if len(shape) != x.ndim or any(n > most for n, most in zip(shape, x.type.shape, strict=True)):
        raise ShapeMismatch(f"an index of shape {shape} needs as many values, got {x.type}")
    for axis, (n, length) in enumerate(zip(shape, x.type.shape, strict=True)):
        if n != length:
            x = recorded("split")(b, x, [n], axis)[0]
    return x


@TORCH.macro("gather")
def gather(b: Builder, input: Any, dim: Static, index: Any) -> Any:
    """Elements by index along ``dim``: ``z[i, j] = input[i, index[i, j]]`` for the last axis."""
    x, at = b.array(input), b.array(index)
    axis = axis_of(dim, max(x.ndim, 1), "gather")
    if not at.type.size:
        return recorded("zeros")(b, at.shape, x.dtype)
    if max(x.ndim, at.ndim) < 2:
        return recorded("take")(b, recorded("reshape")(b, x, (-1,)), at, 0)
    at = _fitting(x, axis, at, "gather")
    for i, n in enumerate(at.type.shape):
        if i != axis and n < x.type.shape[i]:
            x = recorded("split")(b, x, [n], i)[0]
    return recorded("take_along_axis")(b, x, at, axis)


@TORCH.macro("scatter")
def scatter(
    b: Builder, input: Any, dim: Static, index: Any, src: Any, *, reduce: Static = None
) -> Any:
    """Elements set by index along ``dim``: ``z[i, index[i, j]] = src[i, j]`` for the last axis.

    Of values for one place the last counts; ``reduce`` is "add" or "multiply".
    """
    if reduce is not None:
        return scatter_reduce(b, input, dim, index, src, reduce)
    x = b.array(input)
    places = _along(b, x, dim, index, "scatter")
    return _update(b, "update", x, places, _first(b, src, places.shape[:-1]))


@TORCH.macro("scatter_reduce")
def scatter_reduce(
    b: Builder,
    input: Any,
    dim: Static,
    index: Any,
    src: Any,
    reduce: Static,
    *,
    include_self: Static = True,
) -> Any:
    """Elements reduced by index along ``dim``: their sum, prod, mean, amax or amin at each place.

    Convention: at a tie the derivative belongs to ``input``, in ``src`` it is shared evenly.
    """
    x = b.array(input)
    places = _along(b, x, dim, index, "scatter_reduce")
    return _reduced(b, x, places, _first(b, src, places.shape[:-1]), reduce, include_self)


def _rows(b: Builder, input: Any, dim: Any, index: Any, op: str) -> tuple[Var, Var, int]:
    """The array with axis ``dim`` in front, the places of its rows, and where ``dim`` was."""
    x = b.array(input)
    axis = axis_of(dim, x.ndim, op)
    places = recorded("reshape")(b, index, (-1, 1))
    return recorded("moveaxis")(b, x, axis, 0), places, axis


@TORCH.macro("index_reduce")
def index_reduce(
    b: Builder,
    input: Any,
    dim: Static,
    index: Any,
    source: Any,
    reduce: Static,
    *,
    include_self: Static = True,
) -> Any:
    """Parts of ``source`` along ``dim`` reduced by prod, mean, amax or amin at ``index``."""
    x, places, axis = _rows(b, input, dim, index, "index_reduce")
    values = recorded("moveaxis")(b, source, axis, 0)
    z = _reduced(b, x, places, values, reduce, include_self)
    return recorded("moveaxis")(b, z, 0, axis)


@TORCH.macro("index_copy")
def index_copy(b: Builder, input: Any, dim: Static, index: Any, source: Any) -> Any:
    """The array with its parts at ``index`` along ``dim`` replaced by those of ``source``."""
    x, places, axis = _rows(b, input, dim, index, "index_copy")
    if x.ndim == 1:  # its parts have no axes, and neither has a single one
        source = recorded("atleast_1d")(b, source)
    values = recorded("moveaxis")(b, source, axis, 0)
    return recorded("moveaxis")(b, _update(b, "update", x, places, values), 0, axis)


@TORCH.macro("index_fill")
def index_fill(b: Builder, input: Any, dim: Static, index: Any, value: Any) -> Any:
    """The array with its parts at ``index`` along ``dim`` filled with one number."""
    x, places, axis = _rows(b, input, dim, index, "index_fill")
    return recorded("moveaxis")(b, _update(b, "update", x, places, value), 0, axis)


@TORCH.macro("index_put")
def index_put(b: Builder, input: Any, indices: Any, values: Any, accumulate: Static = False) -> Any:
    """The array with ``values`` at the places that a tuple of index arrays names, or added."""
    if not isinstance(indices, list | tuple) or not indices:
        raise BadArgument(f"index_put needs a tuple of index arrays, got {describe(indices)}")
    places = recorded("stack")(b, recorded("broadcast_arrays")(b, *indices), -1)
    name = "add" if flag(accumulate, "accumulate") else "update"
    return _update(b, name, b.array(input), places, values)


@TORCH.macro("slice_scatter")
def slice_scatter(
    b: Builder,
    input: Any,
    src: Any,
    dim: Static = 0,
    start: Static = None,
    end: Static = None,
    step: Static = 1,
) -> Any:
    """The array with its slice along ``dim`` replaced by ``src``."""
    x = b.array(input)
    length = x.type.shape[axis_of(dim, x.ndim, "slice_scatter")]
    return index_copy(b, x, dim, range_of(start, end, step, length), src)


@TORCH.macro("diagonal_scatter")
def diagonal_scatter(
    b: Builder,
    input: Any,
    src: Any,
    offset: Static = 0,
    dim1: Static = 0,
    dim2: Static = 1,
) -> Any:
    """The array with its diagonals in two axes replaced by the last axis of ``src``."""
    x = recorded("moveaxis")(b, input, (dim1, dim2), (0, 1))
    rows, columns = x.type.shape[:2]
    above, below = max(integer(offset, "offset"), 0), max(-offset, 0)
    count = max(min(rows - below, columns - above), 0)
    places = b.table((count, 2), lambda i, j: i + np.array([below, above])[j])
    z = _update(b, "update", x, places, recorded("moveaxis")(b, src, -1, 0))
    return recorded("moveaxis")(b, z, (0, 1), (dim1, dim2))


@TORCH.macro("take_along_dim")
def take_along_dim(b: Builder, input: Any, indices: Any, dim: Static = None) -> Any:
    """Elements by index along ``dim``, the other axes broadcast; else of the flattened array."""
    x, at = b.array(input), b.array(indices)
    if dim is None:
        x, at, dim = *(recorded("ravel")(b, part) for part in (x, at)), 0
    axis = axis_of(dim, x.ndim, "take_along_dim")
    others = [(*v.type.shape[:axis], 1, *v.type.shape[axis + 1 :]) for v in (x, at)]
    shape = broadcast_shapes(*others)
    full = (*shape[:axis], x.type.shape[axis], *shape[axis + 1 :])
    return recorded("take_along_axis")(b, b.broadcast(x, full), at, axis)


@TORCH.macro("masked_scatter")
def masked_scatter(b: Builder, input: Any, mask: Any, source: Any) -> Any:
    """The array with the elements of ``source`` in turn where the mask is true."""
    x, chosen = recorded("broadcast_arrays")(b, input, mask)
    count = recorded("cumsum")(b, recorded("ravel")(b, chosen))
    turn = recorded("clip")(b, recorded("subtract")(b, count, 1), 0, None)
    most = max(b.array(source).type.size - 1, 0)  # what is beyond the trues is not read
    place = recorded("reshape")(b, recorded("minimum")(b, turn, most), x.type.shape)
    return recorded("where")(b, chosen, recorded("take")(b, source, place), x)


@TORCH.macro("segment_reduce")
def segment_reduce(b: Builder, data: Any, reduce: Static, *, lengths: Static) -> Any:
    """Rows reduced by sum, mean, max, min or prod, in segments of the given ``lengths``."""
    x, sizes = b.array(data), integers(lengths, "lengths")
    choice(reduce, ("sum", "mean", "max", "min", "prod"), "reduce")
    if any(size < 0 for size in sizes) or not x.ndim or sum(sizes) != x.type.shape[0]:
        raise BadArgument(f"segments of {sizes} do not make up the rows of {x.type}")
    ends = np.cumsum(sizes, dtype=np.int64)
    ids = b.table(x.type.shape[:1], lambda row: np.searchsorted(ends, row, "right"))
    return recorded(f"segment_{reduce}")(b, x, ids, len(sizes))
