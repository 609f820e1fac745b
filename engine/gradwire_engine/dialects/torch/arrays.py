"""PyTorch's functions of arrays that mean something else than the unprefixed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.torch.names import TORCH
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.axes import axis_of, flag, integer, integers
from gradwire_engine.ops.base import Static

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder


@TORCH.macro("add")
def add(b: Builder, input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``z = input + alpha other``."""
    return recorded("add")(b, input, scaled(b, other, alpha))


@TORCH.macro("sub subtract")
def sub(b: Builder, input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``z = input - alpha other``."""
    return recorded("subtract")(b, input, scaled(b, other, alpha))


def scaled(b: Builder, x: Any, by: Any) -> Any:
    """``by x``, nothing recorded for 1."""
    return x if isinstance(by, int | float) and by == 1 else recorded("multiply")(b, by, x)


@TORCH.macro("addcmul")
def addcmul(b: Builder, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``z = input + value tensor1 tensor2``."""
    product = scaled(b, recorded("multiply")(b, tensor1, tensor2), value)
    return recorded("add")(b, input, product)


@TORCH.macro("addcdiv")
def addcdiv(b: Builder, input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``z = input + value tensor1 / tensor2``."""
    quotient = scaled(b, recorded("divide")(b, tensor1, tensor2), value)
    return recorded("add")(b, input, quotient)


@TORCH.macro("var")
def var(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """Variance over ``dim`` of ``n`` elements: ``z = sum |x - mean x|² / (n - correction)``."""
    return _spread(b, "var", input, dim, unbiased, keepdim, correction)


@TORCH.macro("std")
def std(
    b: Builder,
    input: Any,
    dim: Static = None,
    unbiased: Static = None,
    keepdim: Static = False,
    *,
    correction: Static = 1,
) -> Any:
    """Standard deviation over ``dim``, the root of ``sum |x - mean x|² / (n - correction)``."""
    return _spread(b, "std", input, dim, unbiased, keepdim, correction)


def _spread(
    b: Builder, name: str, x: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any
) -> Any:
    if isinstance(dim, bool):  # the older order: std(x, unbiased)
        dim, unbiased = None, dim
    less = correction if unbiased is None else int(flag(unbiased, "unbiased"))
    return recorded(name)(b, x, dim, correction=less, keepdims=keepdim)


@TORCH.macro("max")
def largest_element(b: Builder, input: Any, dim: Any = None, keepdim: Static = False) -> Any:
    """The largest element; with another array the elementwise maximum; along ``dim`` a list of the
    largest elements and their indices, the first of equals.
    """
    return _extreme(b, "max", input, dim, keepdim)


@TORCH.macro("min")
def smallest_element(b: Builder, input: Any, dim: Any = None, keepdim: Static = False) -> Any:
    """The smallest element; with another array the elementwise minimum; along ``dim`` a list of the
    smallest elements and their indices, the first of equals.
    """
    return _extreme(b, "min", input, dim, keepdim)


def _extreme(b: Builder, name: str, x: Any, dim: Any, keepdim: Any) -> Any:
    if dim is None:
        return recorded(name)(b, x)
    if not isinstance(dim, int) or isinstance(dim, bool):
        return recorded(f"{name}imum")(b, x, dim)
    index = recorded(f"arg{name}")(b, x, dim, keepdims=True)
    value = recorded("take_along_axis")(b, x, index, dim)
    if flag(keepdim, "keepdim"):
        return [value, index]
    return [recorded("squeeze")(b, part, dim) for part in (value, index)]


@TORCH.macro("sort")
def sort(
    b: Builder,
    input: Any,
    dim: Static = -1,
    descending: Static = False,
    stable: Static = False,
) -> Any:
    """A list of the elements in rising order along ``dim`` and their indices."""
    return [recorded(name)(b, input, dim, descending) for name in ("sort", "argsort")]


@TORCH.macro("topk")
def topk(b: Builder, input: Any, k: Static, dim: Static = -1, largest: Static = True) -> Any:
    """A list of the ``k`` largest (or smallest) elements along ``dim`` and their indices."""
    x = b.array(input)
    place, falling = axis_of(dim, x.ndim, "topk"), flag(largest, "largest")
    count, length = integer(k, "k"), x.type.shape[place]
    if not 0 <= count <= length:
        raise BadArgument(f"topk cannot take {count} of {length} elements")
    return [
        recorded("split")(b, recorded(name)(b, x, place, falling), [count], place)[0]
        for name in ("sort", "argsort")
    ]


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


@TORCH.macro("gather")
def gather(b: Builder, input: Any, dim: Static, index: Any) -> Any:
    """Elements by index along ``dim``: ``z[i, j] = input[i, index[i, j]]`` for the last axis."""
    x, place = b.array(input), b.array(index)
    axis = axis_of(dim, x.ndim, "gather")
    if place.ndim == x.ndim:
        for i, (n, most) in enumerate(zip(place.type.shape, x.type.shape, strict=True)):
            if i != axis and n > most:
                raise ShapeMismatch(f"gather needs an index of at most length {most} in axis {i}")
            if i != axis and n < most:
                x = recorded("split")(b, x, [n], i)[0]
    return recorded("take_along_axis")(b, x, place, axis)


@TORCH.macro("zeros")
def zeros(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Zeros; the lengths are given one by one or as a list."""
    return recorded("zeros")(b, _size(size), dtype)


@TORCH.macro("ones")
def ones(b: Builder, *size: Static, dtype: Static = "float64") -> Any:
    """Ones; the lengths are given one by one or as a list."""
    return recorded("ones")(b, _size(size), dtype)


def _size(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size


@TORCH.macro("arange")
def arange(
    b: Builder,
    start: Static,
    end: Static = None,
    step: Static = 1,
    *,
    dtype: Static = None,
) -> Any:
    """Numbers from ``start`` (0) to before ``end`` by ``step``."""
    return recorded("arange")(b, start, end, step, dtype)


@TORCH.macro("meshgrid")
def meshgrid(b: Builder, *tensors: Any, indexing: Static = "ij") -> Any:
    """Coordinates of a grid, an array for each vector; the first counts the rows."""
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors
    return recorded("meshgrid")(b, *given, indexing=indexing)


@TORCH.macro("numel")
def numel(b: Builder, input: Any) -> Any:
    """Number of elements, an integer known while recording."""
    return b.array(input).type.size


@TORCH.macro("searchsorted")
def searchsorted(b: Builder, sorted_sequence: Any, input: Any, *, right: Static = False) -> Any:
    """Places in a rising sequence where elements belong, before equal ones or (``right``) after."""
    side = "right" if flag(right, "right") else "left"
    return recorded("searchsorted")(b, sorted_sequence, input, side)


@TORCH.macro("bucketize")
def bucketize(b: Builder, input: Any, boundaries: Any, *, right: Static = False) -> Any:
    """Numbers of the buckets between rising ``boundaries``, the upper one (or ``right``) open."""
    return searchsorted(b, boundaries, input, right=right)


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


@TORCH.macro("median")
def median(b: Builder, input: Any, dim: Static = None, keepdim: Static = False) -> Any:
    """The middle element, of an even number the lower; along ``dim`` a list of it and its index."""
    x = b.array(input)
    flat = x if dim is not None else recorded("ravel")(b, x)
    axis = axis_of(-1 if dim is None else dim, flat.ndim, "median")
    length = flat.type.shape[axis]
    if not length:
        raise ShapeMismatch("no elements have no median")
    order = recorded("argsort")(b, flat, axis)
    index = recorded("take")(b, order, [(length - 1) // 2], axis)
    value = recorded("take_along_axis")(b, flat, index, axis)
    parts = [value, index]
    if dim is None or not flag(keepdim, "keepdim"):
        parts = [recorded("squeeze")(b, part, axis) for part in parts]
    return parts[0] if dim is None else parts
