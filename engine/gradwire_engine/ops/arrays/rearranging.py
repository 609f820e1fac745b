"""Rearranging and repeating elements along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.shape import Reshape, View, reshape, transpose, unsqueeze
from gradwire_engine.ops.axes import axes_of, axis_of, counts, integer, integers
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


@register("flip")
class Flip(View):
    """Elements in the opposite order along ``axis`` (all axes by default)."""

    axes: tuple[int, ...]
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, m: Any, axis: Static = None) -> Any:
        """Record on one array."""
        x = b.array(m)
        return cls(tuple(sorted(axes_of(axis, x.ndim, "flip"))))(x)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Reverse strides."""
        return xp.flip(operands[0], self.axes)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` flipped back."""
        return (self(z_bar),)


@macro("rot90")
def rot90(b: Builder, m: Any, k: Static = 1, axes: Static = (0, 1)) -> Any:
    """Rotation by ``k`` quarter turns, from the first of ``axes`` towards the second."""
    x, turns = b.array(m), integer(k, "k") % 4
    plane = axes_of(axes, x.ndim, "rot90")
    if len(plane) != 2:
        raise BadArgument("rot90 needs two axes")
    if turns == 0:
        return x
    if turns == 2:
        return Flip(tuple(sorted(plane)))(x)
    order = list(range(x.ndim))
    order[plane[0]], order[plane[1]] = plane[1], plane[0]
    if turns == 1:
        return transpose(Flip((plane[1],))(x), tuple(order))
    return Flip((plane[1],))(transpose(x, tuple(order)))


@register("roll")
class Roll(Op):
    """Elements moved on by ``shift`` along ``axis``, those beyond the end to the start."""

    shift: tuple[int, ...]
    axes: tuple[int, ...]
    rounds = False
    linear = True
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, a: Any, shift: Static, axis: Static = None) -> Any:
        """Record along axes, or over all elements in row-major order."""
        x, shifts = b.array(a), counts(shift, "shift")
        if axis is None:
            flat = reshape(x, (x.type.size,))
            return reshape(cls((sum(shifts),), (0,))(flat), x.type.shape)
        places = tuple([axis_of(place, x.ndim, "roll") for place in integers(axis, "axis")])
        count = max(len(shifts), len(places))
        if {len(shifts), len(places)} - {1, count}:
            raise BadArgument(f"roll got {len(shifts)} shifts for {len(places)} axes")
        if not (shifts and places):
            return x
        return cls(shifts * (count // len(shifts)), places * (count // len(places)))(x)

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Move; along one axis two parts change places, in a fifth of the time of ``roll``."""
        (x,) = operands
        if len(self.axes) != 1:
            return xp.roll(x, self.shift, self.axes)
        (shift,), (axis,) = self.shift, self.axes
        at = -shift % max(x.shape[axis], 1)
        ahead = (slice(None),) * axis
        return xp.concatenate((x[(*ahead, slice(at, None))], x[(*ahead, slice(at))]), axis=axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` moved back."""
        return (Roll(tuple([-shift for shift in self.shift]), self.axes)(z_bar),)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """No arithmetic."""
        return 0


@macro("tile")
def tile(b: Builder, A: Any, reps: Static) -> Any:
    """Copies of the whole array side by side, ``reps`` of them along each axis."""
    x, copied = b.array(A), counts(reps, "reps")
    if any(count < 0 for count in copied):
        raise BadArgument(f"reps must not be negative, got {copied}")
    copied = (1,) * (x.ndim - len(copied)) + copied
    x = unsqueeze(x, tuple(range(len(copied) - x.ndim)))
    shape = x.type.shape
    apart = tuple([n for pair in zip((1,) * len(shape), shape, strict=True) for n in pair])
    wide = tuple([n for pair in zip(copied, shape, strict=True) for n in pair])
    copies = b.broadcast(reshape(x, apart), wide)
    return reshape(copies, tuple([c * n for c, n in zip(copied, shape, strict=True)]))


@macro("repeat")
def repeat(b: Builder, a: Any, repeats: Static, axis: Static = None) -> Any:
    """Each element ``repeats`` times in a row along ``axis``; by default all in row-major order.

    ``repeats`` is one number, or one for each element of the axis.
    """
    from gradwire_engine.ops.arrays.joining import Concatenate
    from gradwire_engine.ops.arrays.slicing import sliced

    x = b.array(a)
    if axis is None:
        x, axis = Reshape.record(b, x, x.type.size), 0
    place, times = axis_of(axis, x.ndim, "repeat"), counts(repeats, "repeats")
    if any(count < 0 for count in times):
        raise BadArgument(f"repeats must not be negative, got {times}")
    length = x.type.shape[place]
    if len(times) == 1:
        return _repeated(x, place, times[0])
    if len(times) != length:
        raise BadArgument(f"repeat got {len(times)} repeats for an axis of length {length}")
    parts = [_repeated(sliced(x, place, i, i + 1), place, n) for i, n in enumerate(times) if n]
    return Concatenate.record(b, parts or [sliced(x, place, 0, 0)], place)


def _repeated(x: Var, axis: int, count: int) -> Var:
    shape = x.type.shape
    apart = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    wide = (*shape[: axis + 1], count, *shape[axis + 1 :])
    copies = x.builder.broadcast(reshape(x, apart), wide)
    return reshape(copies, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))
