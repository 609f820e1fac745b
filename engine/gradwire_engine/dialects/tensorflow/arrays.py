"""TensorFlow's functions of shapes, order and running totals that mean something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.dialects.base import recorded
from gradwire_engine.dialects.tensorflow.names import TF
from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.slicing import of_lengths
from gradwire_engine.ops.axes import axis_of, flag, integers
from gradwire_engine.ops.base import Static
from gradwire_engine.ops.sequences.cumulative import shifted

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@TF.macro("math.cumsum cumsum")
def cumsum(
    b: Builder, x: Any, axis: Static = 0, exclusive: Static = False, reverse: Static = False
) -> Any:
    """Running sum along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """
    return _running(b, "cumsum", b.array(x), axis, exclusive, reverse, 0)


@TF.macro("math.cumprod")
def cumprod(
    b: Builder, x: Any, axis: Static = 0, exclusive: Static = False, reverse: Static = False
) -> Any:
    """Running product along ``axis``, without the element itself if ``exclusive``, from the end if
    ``reverse``.
    """
    return _running(b, "cumprod", b.array(x), axis, exclusive, reverse, 1)


@TF.macro("math.cumulative_logsumexp")
def cumulative_logsumexp(
    b: Builder, x: Any, axis: Static = 0, exclusive: Static = False, reverse: Static = False
) -> Any:
    """Logarithm of the running sum of exponentials along ``axis``; ``-inf`` of none."""
    z = b.inexact(x)
    return _running(b, "cumlogsumexp", z, axis, exclusive, reverse, -np.inf)


def _running(
    b: Builder, name: str, z: Var, axis: Any, exclusive: Any, reverse: Any, first: Any
) -> Any:
    place = axis_of(axis, z.ndim, name)
    backwards = flag(reverse, "reverse")
    if backwards:
        z = recorded("flip")(b, z, place)
    z = recorded(name)(b, z, place)
    if flag(exclusive, "exclusive"):
        z = shifted(z, place, first)
    return recorded("flip")(b, z, place) if backwards else z


@TF.macro("split")
def split(b: Builder, value: Any, num_or_size_splits: Static, axis: Static = 0) -> Any:
    """A list of parts along ``axis``: so many of equal length, or of the given lengths."""
    if not isinstance(num_or_size_splits, list | tuple):
        return recorded("split")(b, value, num_or_size_splits, axis)
    x, sizes = b.array(value), integers(num_or_size_splits, "num_or_size_splits")
    return of_lengths(x, sizes, axis_of(axis, x.ndim, "split"))


@TF.macro("pad")
def pad(
    b: Builder,
    tensor: Any,
    paddings: Static,
    mode: Static = "CONSTANT",
    constant_values: Any = 0,
) -> Any:
    """The array with ``paddings``, a pair (before, after) for each axis, around it."""
    lowered = mode.lower() if isinstance(mode, str) else mode
    if lowered != "constant":
        return recorded("pad")(b, tensor, paddings, lowered)
    return recorded("pad")(b, tensor, paddings, lowered, constant_values)


@TF.macro("ensure_shape")
def ensure_shape(b: Builder, x: Any, shape: Static) -> Any:
    """The array itself, which must have ``shape``; ``None`` there fits any length."""
    z = b.array(x)
    if not isinstance(shape, list | tuple):
        raise BadArgument("ensure_shape needs a list of lengths")
    fits = len(shape) == z.ndim and all(n in (None, m) for n, m in zip(shape, z.shape, strict=True))
    if not fits:
        raise ShapeMismatch(f"an array of shape {tuple(shape)} is needed, got {z.shape}")
    return z


@TF.macro("sort")
def sort(b: Builder, values: Any, axis: Static = -1, direction: Static = "ASCENDING") -> Any:
    """The elements in rising order along ``axis``, or falling if ``direction`` is "DESCENDING".

    Convention: NaNs are largest; TensorFlow orders them in no fixed way.
    """
    return recorded("sort")(b, values, axis, _falling(direction))


@TF.macro("argsort")
def argsort(
    b: Builder,
    values: Any,
    axis: Static = -1,
    direction: Static = "ASCENDING",
    stable: Static = False,
) -> Any:
    """Indices that sort along ``axis``; of equal elements the first comes first.

    Convention: NaNs are largest; TensorFlow orders them in no fixed way.
    """
    order = recorded("argsort")(b, values, axis, _falling(direction))
    return recorded("astype")(b, order, "int32")


def _falling(direction: Any) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise BadArgument("direction is 'ASCENDING' or 'DESCENDING'")
    return bool(direction == "DESCENDING")


@TF.macro("searchsorted")
def searchsorted(
    b: Builder,
    sorted_sequence: Any,
    values: Any,
    side: Static = "left",
    out_type: Static = "int32",
) -> Any:
    """Places in rising sequences where values belong, before equal ones or ("right") after.

    Shapes: both have the same axes before the last one.
    """
    row, v = b.promote(sorted_sequence, values)
    if row.ndim == 1:
        return recorded("astype")(b, recorded("searchsorted")(b, row, v, side), out_type)
    if side not in ("left", "right"):
        raise BadArgument("searchsorted takes side='left' or side='right'")
    if row.shape[:-1] != v.shape[:-1]:
        raise ShapeMismatch(
            f"searchsorted needs a sequence for each row of values, got {row.type}, {v.type}"
        )
    before = recorded("less" if side == "left" else "less_equal")
    pairs = before(b, recorded("expand_dims")(b, row, -2), recorded("expand_dims")(b, v, -1))
    return recorded("astype")(b, recorded("sum")(b, pairs, -1), out_type)


@TF.macro("math.count_nonzero")
def count_nonzero(
    b: Builder,
    input: Any,
    axis: Static = None,
    keepdims: Static = None,
    dtype: Static = "int64",
) -> Any:
    """The number of nonzero elements over ``axis``."""
    count = recorded("count_nonzero")(b, input, axis, bool(keepdims))
    return recorded("astype")(b, count, dtype)


@TF.macro("math.is_non_decreasing")
def is_non_decreasing(b: Builder, x: Any) -> Any:
    """True if no element in row-major order is less than the one before."""
    return _rises(b, x, "greater_equal")


@TF.macro("math.is_strictly_increasing")
def is_strictly_increasing(b: Builder, x: Any) -> Any:
    """True if each element in row-major order is greater than the one before."""
    return _rises(b, x, "greater")


def _rises(b: Builder, x: Any, compared: str) -> Any:
    steps = recorded("diff")(b, recorded("ravel")(b, x))
    return recorded("all")(b, recorded(compared)(b, steps, 0))
