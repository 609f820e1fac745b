"""Pooling: the windows along each axis, and the places of their largest elements."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradwire_engine.errors import DtypeMismatch, ShapeMismatch
from gradwire_engine.ops.arrays.windows import borders, per_axis, span
from gradwire_engine.ops.axes import flag, integers
from gradwire_engine.ops.base import Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import FLOATING, ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


class Axis(NamedTuple):
    """``number`` windows along an axis of ``length``, the first ``before`` elements outside."""

    length: int
    number: int
    extent: int
    stride: int
    dilation: int
    before: int
    after: int

    @property
    def starts(self) -> Any:
        """The start of each window; some before the axis."""
        return np.arange(self.number) * self.stride - self.before

    def steps_to(self, place: int) -> Any:
        """The number of elements of each window before ``place``."""
        return (-((self.starts - place) // self.dilation)).clip(0, self.extent)


@register("window_argmax", public=False)
class WindowArgMax(Op):
    """Place of the largest element of each window over the last axes, the first of equals.

    Elements are numbered in row-major order over those axes.  NaN counts as the largest.
    """

    workspace = 4.0
    axes: tuple[Axis, ...]
    differentiable = False
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """A number for each window."""
        (x,) = types
        if x.dtype.kind == "c":
            raise DtypeMismatch(f"complex numbers have no largest, got {x}")
        counts = tuple([axis.number for axis in self.axes])
        return ArrayType(DTYPES["int64"], (*x.shape[: -len(counts)], *counts))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Axis by axis from the last, which keeps the first of equals in row-major order."""
        (best,) = operands
        n = len(self.axes)
        lengths = [axis.length for axis in self.axes]
        index = xp.arange(math.prod(lengths)).reshape(lengths)
        for i, axis in reversed(list(enumerate(self.axes))):
            pick = _by_window if axis.number < axis.extent else _by_element
            best, index = pick(xp, best, index, axis, i - n)
        return index

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One comparison for each element of a window."""
        assert isinstance(result, ArrayType)
        return result.size * math.prod([axis.extent for axis in self.axes])


def _by_element(xp: Any, best: Any, index: Any, axis: Axis, along: int) -> tuple[Any, Any]:
    """The largest of each window along an axis: the next element of all windows at once."""
    starts = xp.arange(axis.number) * axis.stride - axis.before
    first = starts + xp.clip(-(starts // axis.dilation), 0, axis.extent) * axis.dilation
    value = best.take(first, axis=along)
    number = xp.broadcast_to(index.take(first, axis=along), value.shape).copy()
    for step in range(1, axis.extent):
        place = starts + step * axis.dilation
        # An element repeated in place of one outside is never larger.
        column = xp.where((place >= 0) & (place < axis.length), place, first)
        other = best.take(column, axis=along)
        better = other > value
        if best.dtype.kind in FLOATING:
            better |= (other != other) & (value == value)
        # Unpredictable branches cost more than the arithmetic that does without them.
        number += (index.take(column, axis=along) - number) * better.astype("int64")
        value = xp.maximum(value, other)
    return value, number


def _by_window(xp: Any, best: Any, index: Any, axis: Axis, along: int) -> tuple[Any, Any]:
    """The largest of each window along an axis where windows are long and few."""
    values, numbers = [], []
    bounds = axis.starts, axis.steps_to(0), axis.steps_to(axis.length)
    for start, first, stop in zip(*bounds, strict=True):
        row = start + xp.arange(first, stop) * axis.dilation
        block = best.take(row, axis=along)
        at = xp.expand_dims(block.argmax(axis=along), along)
        values.append(xp.take_along_axis(block, at, along))
        numbered = xp.broadcast_to(index.take(row, axis=along), block.shape)
        numbers.append(xp.take_along_axis(numbered, at, along))
    return xp.concatenate(values, axis=along), xp.concatenate(numbers, axis=along)


def pooled_axes(
    x: Var, size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> tuple[Axis, ...]:
    """Windows of ``size`` over the last axes of ``x``, as many as it has lengths."""
    n = len(integers(size, "size"))
    sizes = per_axis(size, n, "size")
    if not 0 < n <= x.ndim:
        raise ShapeMismatch(f"windows over {n} axes of an array of {x.ndim}, got {x.type}")
    shape = x.shape[-n:]
    strides = sizes if stride is None else per_axis(stride, n, "stride")
    dilations = per_axis(dilation, n, "dilation")
    pairs = borders(padding, shape, sizes, strides, dilations)
    up = flag(ceil_mode, "ceil_mode")
    found = []
    for length, k, step, apart, pair in zip(shape, sizes, strides, dilations, pairs, strict=True):
        before, after = pair
        room = length + before + after - span(k, apart)
        # A window that would start after the elements holds none.
        count = min(-(-room // step), (length + before - 1) // step) if up else room // step
        found.append(Axis(length, count + 1, k, step, apart, before, after))
    for axis in found:
        if axis.number > 0:
            x.builder.afford(ArrayType(DTYPES["int64"], (axis.number,)))
        if axis.number < 1 or (axis.steps_to(0) == axis.steps_to(axis.length)).any():
            raise ShapeMismatch(
                f"windows of {sizes} over shape {shape} with padding {tuple(pairs)}: "
                "there is none, or one that holds no elements"
            )
    return tuple(found)
