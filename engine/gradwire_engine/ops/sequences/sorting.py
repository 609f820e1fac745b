"""Sorting along an axis: stable, ties in the order they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import reshape
from gradwire_engine.ops.arrays.slicing import sliced, unstack
from gradwire_engine.ops.axes import axis_of, flag, integer, integers
from gradwire_engine.ops.base import Cotangents, Op, Static, macro, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.promotion import DTYPES
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


class Ordering(Op):
    """An operation that orders the elements along ``axis``."""

    axis: int
    batch = along_axes

    def flops(self, result: Type, *types: ArrayType) -> int:
        """``n log n`` comparisons along the axis."""
        (x,) = types
        return x.size * max(1, x.shape[self.axis].bit_length())


def _operand(b: Builder, a: Any, axis: Any, op: str) -> tuple[Var, int]:
    x = b.array(a)
    if axis is None:
        return reshape(x, (x.type.size,)), 0
    return x, axis_of(axis, x.ndim, op)


@register("sort")
class Sort(Ordering):
    """Elements in rising order along ``axis``, falling if ``descending``; NaNs are largest.

    Convention: equal elements keep their order, so that each has the derivative of its place.
    """

    axis: int
    rounds = False

    @classmethod
    def record(
        cls, b: Builder, a: Any, axis: Static = -1, descending: Any = False, stable: Any = True
    ) -> Any:
        """Record along one axis, or for axis None over all elements in row-major order."""
        x, place = _operand(b, a, axis, "sort")
        flag(stable, "stable")
        if not flag(descending, "descending"):
            return cls(place)(x)
        flip = Flip((place,))
        return flip(cls(place)(flip(x)))

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
    def record(
        cls, b: Builder, a: Any, axis: Static = -1, descending: Any = False, stable: Any = True
    ) -> Any:
        """Record along one axis, or for axis None over all elements in row-major order."""
        x, place = _operand(b, a, axis, "argsort")
        flag(stable, "stable")
        if not flag(descending, "descending"):
            return cls(place)(x)
        flip = Flip((place,))
        return x.type.shape[place] - 1 - flip(cls(place)(flip(x)))

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

    def flops(self, result: Type, *types: ArrayType) -> int:
        """No arithmetic."""
        return 0


@macro("top_k")
def top_k(b: Builder, x: Any, k: Static = 1) -> Any:
    """A list of the ``k`` largest elements along the last axis, falling, and their indices.

    Convention: of equal elements the first come first.
    """
    var, place = _operand(b, x, -1, "top_k")
    length = var.type.shape[place]
    if not 0 <= integer(k, "k") <= length:
        raise BadArgument(f"top_k cannot take {k} of {length} elements")
    falling = (found.record(b, var, descending=True) for found in (Sort, ArgSort))
    return [sliced(ordered, place, 0, k) for ordered in falling]


@macro("partition")
def partition(b: Builder, a: Any, kth: Static, axis: Static = -1) -> Any:
    """Elements along ``axis`` with smaller ones before place ``kth`` and larger ones after: sorted.

    Convention: that of ``sort``.
    """
    x, place = _partitioned(b, a, kth, axis, "partition")
    return Sort(place)(x)


@macro("argpartition", differentiable=False)
def argpartition(b: Builder, a: Any, kth: Static, axis: Static = -1) -> Any:
    """Indices along ``axis`` that partition the elements at place ``kth``: those that sort."""
    x, place = _partitioned(b, a, kth, axis, "argpartition")
    return ArgSort(place)(x)


def _partitioned(b: Builder, a: Any, kth: Any, axis: Any, op: str) -> tuple[Var, int]:
    x, place = _operand(b, a, axis, op)
    length = x.type.shape[place]
    for index in integers(kth, "kth"):
        if not -length <= index < length:
            raise BadArgument(f"{op} has no place {index} among {length} elements")
    return x, place


@macro("lexsort", differentiable=False)
def lexsort(b: Builder, keys: Any, axis: Static = -1) -> Any:
    """Indices that put the last of ``keys`` in rising order, equal ones by the key before it.

    Shapes: ``keys`` is a list of arrays of one shape, or an array of them along its first axis.
    """
    parts = [b.array(key) for key in keys] if isinstance(keys, list | tuple) else unstack(b, keys)
    if not parts or any(key.shape != parts[0].shape for key in parts):
        raise ShapeMismatch("lexsort needs at least one key, all of one shape")
    place = axis_of(axis, parts[0].ndim, "lexsort")
    order = ArgSort(place)(parts[0])
    for key in parts[1:]:
        again = ArgSort(place)(Permute(place)(key, order))
        order = Permute(place)(order, again)
    return order
