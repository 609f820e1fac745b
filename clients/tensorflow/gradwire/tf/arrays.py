"""Shapes: what elements stand where, and which axes there are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradwire.tf import dtypes, static
from gradwire.tf.arguments import only
from gradwire.tf.calls import call
from gradwire.tf.conversion import convert_to_tensor, tensor_of
from gradwire.tf.errors import invalid
from gradwire.tf.nodes import Spec
from gradwire.tf.operations.types import Ints, Shape, TensorLike
from gradwire.tf.shapes import as_shape
from gradwire.tf.tensors import METHODS, Tensor

__all__ = [
    "ensure_shape", "expand_dims", "pad", "reshape", "reverse_sequence", "slice", "squeeze",
    "strided_slice", "tile", "transpose",
]  # fmt: skip


def reshape(tensor: TensorLike, shape: Shape, name: str | None = None) -> Tensor:
    """The elements in row-major order under another shape, of which one length may be -1."""
    if isinstance(shape, (str, bytes)):
        raise invalid(
            "Value for attr 'Tshape' of string is not in the list of allowed values: int32, int64"
        )
    x, wanted = convert_to_tensor(tensor), static.lengths(shape)
    size = math.prod(x._lengths())
    known = math.prod(length for length in wanted if length != -1)
    if sum(length == -1 for length in wanted) > 1:
        raise invalid("Only one input size may be -1 [Op:Reshape]")
    if -1 in wanted:
        if known == 0 or size % known:
            raise invalid(
                f"the length for -1 in {list(wanted)} is not a whole number for {size} values "
                "[Op:Reshape]"
            )
        wanted = tuple([size // known if length == -1 else length for length in wanted])
    elif known != size:
        raise invalid(f"{size} values do not fill the shape {list(wanted)} of {known} [Op:Reshape]")
    if x.dtype == dtypes.string:
        return tensor_of(x._value().reshape(wanted), x.dtype)
    return call("np.reshape", x, list(wanted), spec=Spec(x.dtype, wanted))


def transpose(
    a: TensorLike,
    perm: Ints | None = None,
    conjugate: bool = False,
    name: str | None = "transpose",
) -> Tensor:
    """The axes in the order ``perm``, else in reverse; the conjugate if asked for."""
    x = convert_to_tensor(a)
    lengths = x._lengths()
    order = list(range(len(lengths)))[::-1] if perm is None else list(static.lengths(perm))
    if len(order) != len(lengths):
        raise invalid(
            f"transpose expects a vector of size {len(lengths)}. But input(1) is a vector of size "
            f"{len(order)} [Op:Transpose]"
        )
    order = [axis % len(lengths) for axis in order]
    shape = tuple([lengths[axis] for axis in order])
    if x.dtype == dtypes.string:
        return tensor_of(x._value().transpose(order), x.dtype)
    spec = Spec(x.dtype, shape)
    if conjugate and x.dtype.is_complex:
        return call("tf.transpose", x, order, conjugate=True, spec=spec)
    return call("np.transpose", x, order, spec=spec)


def expand_dims(input: TensorLike, axis: Ints, name: str | None = None) -> Tensor:
    """A new axis of length 1."""
    if hasattr(input, "_elementwise"):
        rows: Tensor = METHODS["expand_rows"](input, static.integer(axis))
        return rows
    x, place = convert_to_tensor(input), static.integer(axis)
    lengths = list(x._lengths())
    if not -len(lengths) - 1 <= place <= len(lengths):
        raise invalid(
            f"Tried to expand dim index {place} for tensor with {len(lengths)} dimensions. "
            "[Op:ExpandDims] name: "
        )
    lengths.insert(place % (len(lengths) + 1), 1)
    if x.dtype == dtypes.string:
        return tensor_of(np.expand_dims(x._value(), place), x.dtype)
    return call("np.expand_dims", x, place, spec=Spec(x.dtype, tuple(lengths)))


def squeeze(input: TensorLike, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """Without the axes of length 1, or without those that are given."""
    x = convert_to_tensor(input)
    lengths = x._lengths()
    rank = len(lengths)
    given = () if axis is None else static.lengths(axis)
    if not given:
        gone = {place for place, length in enumerate(lengths) if length == 1}
    else:
        text = "Tried to squeeze dim index {axis} for tensor with {rank} dimensions. [Op:Squeeze]"
        gone = {static.axis_of(place, rank, text) for place in given}
    for place in gone:
        if lengths[place] != 1:
            raise invalid(
                f"Can not squeeze dim[{place}], expected a dimension of 1, got {lengths[place]} "
                "[Op:Squeeze]"
            )
    shape = tuple([length for place, length in enumerate(lengths) if place not in gone])
    return reshape(x, shape)


def tile(input: TensorLike, multiples: Ints, name: str | None = None) -> Tensor:
    """The tensor repeated along each axis."""
    x, counts = convert_to_tensor(input), list(static.lengths(multiples))
    lengths = x._lengths()
    if isinstance(multiples, int):
        raise invalid("Expected multiples to be 1-D, but got shape [] [Op:Tile] name: ")
    if len(counts) != len(lengths):
        raise invalid(
            f"Expected multiples argument to be a vector of length {len(lengths)} but got length "
            f"{len(counts)} [Op:Tile]"
        )
    shape = tuple([a * b for a, b in zip(lengths, counts, strict=True)])
    if x.dtype == dtypes.string:
        return tensor_of(np.tile(x._value(), counts), x.dtype)
    return call("np.tile", x, counts, spec=Spec(x.dtype, shape))


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    constant_values: TensorLike = 0,
    name: str | None = None,
) -> Tensor:
    """A border around it: so many elements before and after, for each axis."""
    x, borders = convert_to_tensor(tensor), static.array(paddings)
    lengths, kind = x._lengths(), mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"`mode` {mode!r} is unknown; use 'CONSTANT', 'REFLECT' or 'SYMMETRIC'")
    if borders.shape != (len(lengths), 2):
        raise invalid(
            f"The first dimension of paddings must be the rank of inputs[{len(lengths)},2] "
            f"{static.listed(borders.shape)} [Op:Pad]"
        )
    pairs = [[int(before), int(after)] for before, after in borders]
    shape = tuple([n + a + b for n, (a, b) in zip(lengths, pairs, strict=True)])
    given: dict[str, Any] = {}
    if kind == "CONSTANT" and not (isinstance(constant_values, int) and constant_values == 0):
        given["constant_values"] = convert_to_tensor(constant_values, x.dtype)
    return call("tf.pad", x, pairs, kind, **given, spec=Spec(x.dtype, shape))


def slice(input_: TensorLike, begin: Ints, size: Ints, name: str | None = None) -> Tensor:
    """``size`` elements along each axis from ``begin`` on; -1 means all that follow."""
    x = convert_to_tensor(input_)
    lengths = x._lengths()
    starts, counts = static.lengths(begin), static.lengths(size)
    if not len(starts) == len(counts) == len(lengths):
        raise invalid(
            "Expected begin and size arguments to be 1-D tensors of size "
            f"{len(lengths)}, but got shapes {static.listed([len(starts)])} and "
            f"{static.listed([len(counts)])} instead. [Op:Slice]"
        )
    items = []
    for axis, (start, count, length) in enumerate(zip(starts, counts, lengths, strict=True)):
        stop = length if count == -1 else start + count
        if not 0 <= start <= length:
            raise invalid(f"Expected begin[{axis}] in [0, {length}], but got {start} [Op:Slice]")
        if not start <= stop <= length:
            raise invalid(
                f"Expected size[{axis}] in [0, {length - start}], but got {count} [Op:Slice]"
            )
        items.append(builtin_slice(start, stop))
    return x[tuple(items)]  # type: ignore[no-any-return]


def strided_slice(
    input_: TensorLike,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Tensor:
    """The slice ``begin:end:strides`` of each axis; bit i of a mask is for entry i."""
    only("strided_slice", var=(var, None))
    starts, stops = static.lengths(begin), static.lengths(end)
    steps = [1] * len(starts) if strides is None else static.lengths(strides)
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
            items.append(builtin_slice(None if first else start, None if last else stop, step))
    return convert_to_tensor(input_)[tuple(items)]  # type: ignore[no-any-return]


def ensure_shape(x: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """The tensor itself, which must have a shape; ``None`` there fits any length."""
    tensor, wanted = convert_to_tensor(x), as_shape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        shown = (
            "?" if wanted.rank is None else static.listed("?" if n is None else n for n in wanted)
        )
        raise invalid(
            f"Shape of tensor input {static.listed(tensor._lengths())} is not compatible with "
            f"expected shape {shown}. [Op:EnsureShape] name: "
        )
    return tensor


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Each example with its first elements along ``seq_axis`` in reverse."""
    x, counts = convert_to_tensor(input), convert_to_tensor(seq_lengths)
    spec = Spec(x.dtype, x._node.shape)
    along = 0 if seq_axis is None else seq_axis
    examples = 0 if batch_axis is None else batch_axis
    return call("tf.reverse_sequence", x, counts, along, examples, spec=spec)


builtin_slice: type[Any] = type(np.s_[:])
