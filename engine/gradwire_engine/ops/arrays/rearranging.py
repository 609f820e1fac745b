"""Rearranging and repeating elements along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.shape import View, reshape
from gradwire_engine.ops.axes import axes_of, axis_of, counts, integers
from gradwire_engine.ops.base import Cotangents, Op, Static, no_arithmetic, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.tape import ArrayType

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
            return reshape(cls((sum(shifts),), (0,))(flat), x.shape)
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

    flops = no_arithmetic
