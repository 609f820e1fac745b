"""Sorting along an axis: stable, ties in the order they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.axes import axis_of, flag
from gradwire_engine.ops.base import Cotangents, Op, Static, no_arithmetic, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Ordering(Op):
    """An operation that orders the elements along ``axis``."""

    axis: int
    batch = along_axes

    @classmethod
    def record(
        cls, b: Builder, a: Any, axis: Static = -1, descending: Any = False, stable: Any = True
    ) -> Any:
        """Record along one axis, or for axis None over all elements in row-major order."""
        x, place = b.array(a), 0
        if axis is None:
            x = reshape(x, (x.type.size,))
        else:
            place = axis_of(axis, x.ndim, cls.name)
        flag(stable, "stable")
        if not flag(descending, "descending"):
            return cls(place)(x)
        flip = Flip((place,))
        return cls.unflipped(flip(cls(place)(flip(x))), x.shape[place])

    @classmethod
    def unflipped(cls, z: Var, length: int) -> Var:
        """The falling order from ``z``, the flipped result for flipped elements."""
        return z

    def flops(self, result: Type, *types: ArrayType) -> int:
        """``n log n`` comparisons along the axis."""
        (x,) = types
        return x.size * max(1, x.shape[self.axis].bit_length())


@register("sort")
class Sort(Ordering):
    """Elements in rising order along ``axis``, falling if ``descending``; NaNs are largest.

    Convention: equal elements keep their order, so that each has the derivative of its place.
    """

    axis: int
    rounds = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """Same type."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sort; which of equal numbers comes first cannot be seen in the result."""
        return xp.sort(operands[0], axis=self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` moved back to where its elements came from."""
        order = ArgSort(self.axis)(operands[0])
        return (Permute(self.axis, inverse=True)(z_bar, order),)


@register("argsort")
class ArgSort(Ordering):
    """Indices along ``axis`` that put the elements in rising order, equal ones as they came."""

    axis: int
    differentiable = False

    @classmethod
    def unflipped(cls, z: Var, length: int) -> Var:
        """The indices, counted from the other end."""
        return length - 1 - z

    def infer(self, *types: ArrayType) -> ArrayType:
        """Integers of the same shape."""
        return ArrayType(DTYPES["int64"], types[0].shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Sort stably."""
        return xp.argsort(operands[0], axis=self.axis, kind="stable")


@register("permute", public=False)
class Permute(Op):
    """Elements of ``x`` in the order that ``order`` gives for each row along ``axis``.

    Each row of ``order`` is a permutation; the ``inverse`` puts each element where it is from.
    """

    axis: int
    inverse: bool = False
    rounds = False
    linear = True
    batch = along_axes

    def infer(self, *types: ArrayType) -> ArrayType:
        """The type of ``x``."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Gather, or scatter."""
        x, order = operands
        if not self.inverse:
            return x[order] if x.ndim == 1 else xp.take_along_axis(x, order, self.axis)
        z = xp.empty_like(x)
        if x.ndim == 1:
            z[order] = x
        else:
            xp.put_along_axis(z, order, x, self.axis)
        return z

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` is ``z_bar`` in the inverse order."""
        return Permute(self.axis, not self.inverse)(z_bar, operands[1]), None

    flops = no_arithmetic
