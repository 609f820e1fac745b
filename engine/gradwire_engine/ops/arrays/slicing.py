"""Parts of arrays and their opposite: slices, zeros around, splits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, OverBudget, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import View
from gradwire_engine.ops.axes import axis_of, integer, integers
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, no_arithmetic, register
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("slice", public=False)
class Slice(View):
    """The block from ``starts`` to before ``stops``, one each per axis."""

    starts: tuple[int, ...]
    stops: tuple[int, ...]

    def infer(self, *types: ArrayType) -> ArrayType:
        """Lengths between the bounds."""
        (x,) = types
        bounds = zip(self.starts, self.stops, strict=True)
        return ArrayType(x.dtype, tuple([stop - start for start, stop in bounds]), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Slice."""
        return operands[0][tuple(map(slice, self.starts, self.stops))]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` with zeros around."""
        shape = operands[0].shape
        after = tuple([length - stop for length, stop in zip(shape, self.stops, strict=True)])
        return (Pad(self.starts, after)(z_bar),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Take the batch axis whole."""
        (x,) = operands
        return Slice((0, *self.starts), (x.shape[0], *self.stops))(x)


@register("zero_pad", public=False)
class Pad(Op):
    """The operand with ``before`` and ``after`` zeros around it, one number each per axis."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    rounds = False
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """Lengths grown."""
        (x,) = types
        grown = zip(x.shape, self.before, self.after, strict=True)
        return ArrayType(x.dtype, tuple([sum(parts) for parts in grown]), x.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Copy into zeros."""
        (x,) = operands
        shape = [sum(parts) for parts in zip(x.shape, self.before, self.after, strict=True)]
        z = xp.zeros(shape, x.dtype)
        stops = [first + length for first, length in zip(self.before, x.shape, strict=True)]
        z[tuple(map(slice, self.before, stops))] = x
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is the inner block of ``z_bar``."""
        shape = operands[0].shape
        stops = tuple([first + n for first, n in zip(self.before, shape, strict=True)])
        return (Slice(self.before, stops)(z_bar),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Leave the batch axis as it is."""
        return Pad((0, *self.before), (0, *self.after))(*operands)

    flops = no_arithmetic


def sliced(x: Var, axis: int, start: int, stop: int) -> Var:
    """``x`` from ``start`` to before ``stop`` along ``axis``."""
    shape = x.shape
    if start == 0 and stop == shape[axis]:
        return x
    starts, stops = [0] * len(shape), list(shape)
    starts[axis], stops[axis] = start, stop
    return Slice(tuple(starts), tuple(stops))(x)


def picked(x: Var, axis: int, index: int) -> Var:
    """The part of ``x`` at ``index`` along ``axis``, which goes."""
    pattern = tuple([index if place == axis else FULL for place in range(x.ndim)])
    return GetItem(pattern)(x)


@macro("split")
def split(b: Builder, ary: Any, indices_or_sections: Static, axis: Static = 0) -> Any:
    """A list of parts along ``axis``: so many of equal length, or cut before the given indices."""
    x = b.array(ary)
    place = axis_of(axis, x.ndim, "split")
    sections, length = indices_or_sections, x.shape[place]
    if not isinstance(sections, list | tuple) and length % (_sections(sections)):
        raise ShapeMismatch(
            f"split cannot cut length {length} into {sections} equal parts",
            hint="array_split allows parts of different lengths",
        )
    return _parts(x, sections, place)


@macro("array_split")
def array_split(b: Builder, ary: Any, indices_or_sections: Static, axis: Static = 0) -> Any:
    """A list of parts along ``axis`` whose lengths differ by at most 1, the longer ones first."""
    x = b.array(ary)
    return _parts(x, indices_or_sections, axis_of(axis, x.ndim, "array_split"))


@macro("unstack", "unbind")
def unstack(b: Builder, x: Any, axis: Static = 0) -> Any:
    """A list of the array's parts along ``axis``, which goes."""
    var = b.array(x)
    place = axis_of(axis, var.ndim, "unstack")
    count = few_parts(b, var.shape[place])
    return [picked(var, place, index) for index in range(count)]


def of_lengths(x: Var, sizes: Sequence[int], axis: int) -> list[Var]:
    """Parts of ``x`` of the given lengths along ``axis``, which together make up its own."""
    length = x.shape[axis]
    if min(sizes, default=0) < 0 or sum(sizes) != length:
        raise BadArgument(f"these parts do not make up a length of {length}")
    return _parts(x, [*accumulate(sizes)][:-1], axis)


def few_parts(b: Builder, count: int) -> int:
    """``count``, if a list may have so many parts."""
    if count > b.limits.instructions:
        raise OverBudget(f"{count} parts are more than a tape may have instructions")
    return count


def _sections(value: Any) -> int:
    count = integer(value, "indices_or_sections")
    if count < 1:
        raise BadArgument(f"an array cannot be split into {count} parts")
    return count


def _parts(x: Var, cuts: Any, axis: int) -> list[Var]:
    length = x.shape[axis]
    if isinstance(cuts, list | tuple):
        wanted = [slice(cut).indices(length)[1] for cut in integers(cuts, "indices_or_sections")]
        ends = [*wanted, length]
    else:
        count = few_parts(x.builder, _sections(cuts))
        short, longer = divmod(length, count)
        ends = [short * i + min(i, longer) for i in range(1, count + 1)]
    starts = [0, *ends[:-1]]
    return [
        sliced(x, axis, start, max(start, end)) for start, end in zip(starts, ends, strict=True)
    ]
