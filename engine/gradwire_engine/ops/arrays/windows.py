"""Windows that slide over the last axes of arrays, and their transpose, which adds them up again.

Everything that convolves and pools is one of the two with a product or a sum beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.shape import View
from gradwire_engine.ops.arrays.slicing import Pad, Slice
from gradwire_engine.ops.axes import few_axes, integers
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

Pairs = Sequence[tuple[int, int]]

#: No array is longer, and sums of a few such lengths are integers of 64 bits.
_LONGEST = 1 << 48


def span(size: int, dilation: int) -> int:
    """Elements from the first to the last of a window of ``size``, those between included.

    Raises: ``BadArgument`` for more than an array may have.
    """
    found = dilation * (size - 1) + 1
    if found > _LONGEST:
        raise BadArgument(f"a window of {size} elements, {dilation} apart, is too long")
    return found


def window_counts(shape: Shape, sizes: Shape, strides: Shape, dilations: Shape) -> Shape:
    """The number of windows that fit along each of the last axes of ``shape``."""
    n = len(sizes)
    reach = tuple(map(span, sizes, dilations))
    if not all(sizes):
        raise ShapeMismatch(f"windows need at least 1 element along an axis, not {sizes}")
    if len(shape) < n or any(a < b for a, b in zip(shape[-n:], reach, strict=True)):
        raise ShapeMismatch(f"windows that reach over {reach} do not fit shape {shape}")
    bounds = zip(shape[-n:], reach, strides, strict=True)
    return tuple([(length - over) // step + 1 for length, over, step in bounds])


@register("windows", public=False)
class Windows(View):
    """Elements of windows over the last axes: ``z[..., k, o] = x[..., strides o + dilations k]``.

    Shapes: ``sizes`` elements a window, whose axes come first, then as many windows as fit.
    """

    sizes: Shape
    strides: Shape
    dilations: Shape
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """The last axes replaced by twice as many."""
        (x,) = types
        counts = window_counts(x.shape, self.sizes, self.strides, self.dilations)
        lead = x.shape[: -len(self.sizes)]
        return ArrayType(x.dtype, few_axes((*lead, *self.sizes, *counts)), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """See the elements by strides, without a copy."""
        (x,) = operands
        n = len(self.sizes)
        reach = map(span, self.sizes, self.dilations)
        starts = [length - over + 1 for length, over in zip(x.shape[-n:], reach, strict=True)]
        every = xp.lib.stride_tricks.sliding_window_view(x, starts, tuple(range(-n, 0)))
        steps = [slice(None, None, step) for step in (*self.dilations, *self.strides)]
        return every[(..., *steps)]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Each element has the sum over the windows that hold it."""
        shape = operands[0].shape[-len(self.sizes) :]
        return (OverlapAdd(shape, self.strides, self.dilations)(z_bar),)


@register("overlap_add", public=False)
class OverlapAdd(Op):
    """Windows added up where they lie: ``z[..., i] = sum x[..., k, o]``.

    The sum is over the pairs with ``i = strides o + dilations k``: the transpose of ``Windows``.
    """

    shape: Shape
    strides: Shape
    dilations: Shape
    linear = True
    batch = over_stacks

    def infer(self, *types: ArrayType) -> ArrayType:
        """``shape`` instead of the axes of windows, which must fit."""
        (x,) = types
        n = len(self.shape)
        sizes, counts = x.shape[-2 * n : -n], x.shape[-n:]
        fitting = Windows(sizes, self.strides, self.dilations)
        if fitting.infer(ArrayType(x.dtype, self.shape)).shape[n:] != counts:
            raise ShapeMismatch(f"{counts} windows of {sizes} are not those of shape {self.shape}")
        return ArrayType(x.dtype, (*x.shape[: -2 * n], *self.shape), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Add all windows' elements of one place at once, or whole windows where those are few."""
        (x,) = operands
        n = len(self.shape)
        sizes, counts = x.shape[-2 * n : -n], x.shape[-n:]
        leaps, steps = self.dilations, self.strides
        if math.prod(counts) < math.prod(sizes):
            lead = x.ndim - 2 * n
            x = x.transpose((*range(lead), *range(lead + n, x.ndim), *range(lead, lead + n)))
            sizes, counts, leaps, steps = counts, sizes, steps, leaps
        z = xp.zeros((*x.shape[: -2 * n], *self.shape), x.dtype)
        whole = (slice(None),) * n
        for place in product(*map(range, sizes)):
            starts = [leap * i for leap, i in zip(leaps, place, strict=True)]
            bounds = zip(starts, counts, steps, strict=True)
            target = [slice(first, first + span(m, step), step) for first, m, step in bounds]
            z[(..., *target)] += x[(..., *place, *whole)]
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Each window has its elements' cotangents."""
        n = len(self.shape)
        sizes = operands[0].shape[-2 * n : -n]
        return (Windows(sizes, self.strides, self.dilations)(z_bar),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One addition for each element of a window."""
        return types[0].size


def per_axis(value: Any, count: int, name: str, least: int = 1) -> Shape:
    """``value`` as one integer for each of ``count`` axes; a single one is for all of them."""
    numbers = integers(value, name)
    numbers = numbers * count if len(numbers) == 1 else numbers
    if len(numbers) != count or any(number < least for number in numbers):
        raise BadArgument(f"{name} needs {count} integers of at least {least}, or one for all axes")
    return numbers


def borders(padding: Any, shape: Shape, sizes: Shape, strides: Shape, dilations: Shape) -> Pairs:
    """The widths of ``padding`` before and after each axis of ``shape``, negative to cut off.

    A number, one for each axis, or a pair for each; ``valid`` is nothing, and ``same`` what gives
    ``ceil(length / stride)`` windows, half of it before, the odd one after.
    """
    count = len(shape)
    name = padding.lower() if isinstance(padding, str) else None
    if name == "same":
        reach = map(span, sizes, dilations)
        axes = zip(shape, reach, strides, strict=True)
        totals = [max((n - 1) // s * s + over - n, 0) for n, over, s in axes]
        return [(total // 2, total - total // 2) for total in totals]
    if name is not None and name != "valid":
        raise BadArgument("padding is 'same', 'valid', a number, or numbers or pairs for each axis")
    given = 0 if name else padding
    if not isinstance(given, list | tuple) or not any(isinstance(i, list | tuple) for i in given):
        return [(width, width) for width in per_axis(given, count, "padding", 0)]
    pairs = [integers(pair, "padding") for pair in given]
    if len(pairs) != count or any(len(pair) != 2 for pair in pairs):
        raise BadArgument(f"padding needs {count} pairs, before and after each axis")
    return [(before, after) for before, after in pairs]


def bordered(x: Var, pairs: Pairs) -> Var:
    """``x`` with zeros before and after its last axes, cut off where their number is negative."""
    lead = x.ndim - len(pairs)
    widths = [(0, 0)] * lead + list(pairs)
    shape = x.shape
    if any(sum(pair) + n < 0 or -min(pair) > n for pair, n in zip(widths, shape, strict=True)):
        raise ShapeMismatch(f"padding by {tuple(pairs)} leaves nothing of shape {shape}")
    if any(min(pair) < 0 for pair in pairs):
        starts = tuple([max(-before, 0) for before, _ in widths])
        stops = tuple([n - max(-last, 0) for n, (_, last) in zip(shape, widths, strict=True)])
        x = Slice(starts, stops)(x)
    if any(max(pair) > 0 for pair in pairs):
        before = tuple([max(first, 0) for first, _ in widths])
        x = Pad(before, tuple([max(last, 0) for _, last in widths]))(x)
    return x
