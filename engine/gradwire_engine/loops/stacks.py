"""Stacks: what the passes of a loop read and write one after the other.

How many items there are is known at replay. Values are lists of them, or arrays of which they are
the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import Cotangents, Op, no_arithmetic, register
from gradwire_engine.tape import ArrayType, StackType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("rows", public=False)
class Rows(Op):
    """The stack of the parts of an array along ``axis``."""

    axis: int
    rounds = False
    linear = True
    views = True

    def infer(self, *types: ArrayType) -> StackType:
        """A part has the other axes."""
        (kind,) = types
        shape = (*kind.shape[: self.axis], *kind.shape[self.axis + 1 :])
        return StackType(ArrayType(kind.dtype, shape, kind.weak))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """A view whose first axis counts the parts."""
        return xp.moveaxis(operands[0], self.axis, 0) if self.axis else operands[0]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar`` has the parts ``z_bar``."""
        return (Stacked(operands[0].type.shape[self.axis], self.axis)(z_bar),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """The same axis, one on; so the examples are first in every part."""
        return Rows(self.axis + 1)(*operands)

    flops = no_arithmetic


@register("stacked", public=False)
class Stacked(Op):
    """The array whose ``length`` parts along ``axis`` are the items of a stack, then zeros.

    A loop that ends early leaves rows unread: these have no cotangents.
    """

    length: int
    axis: int
    rounds = False
    linear = True

    def infer(self, *types: Any) -> ArrayType:
        """An item's axes, and the new one."""
        item = types[0].item
        shape = (*item.shape[: self.axis], self.length, *item.shape[self.axis :])
        return ArrayType(item.dtype, shape, item.weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Join what the passes wrote."""
        (items,) = operands
        parts = xp.asarray(items)
        if len(parts) < self.length:
            missing = xp.zeros((self.length - len(parts), *parts.shape[1:]), parts.dtype)
            parts = xp.concatenate([parts, missing])
        return xp.moveaxis(parts, 0, self.axis) if self.axis else parts

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """The items' cotangents are the parts of ``z_bar``."""
        return (Rows(self.axis)(z_bar),)

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """The examples are first in every item, and stay so."""
        return Stacked(self.length, self.axis + 1)(*operands)

    flops = no_arithmetic


@register("add_stacks", public=False)
class AddStacks(Op):
    """Item by item the sum of two stacks, of which one may end early: how cotangents add up."""

    linear = True

    def infer(self, *types: Any) -> Type:
        """The type with more axes: examples may share a stack."""
        longest: Type = max(types, key=lambda kind: len(kind.shape))
        return longest

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Add the items, as far as both go."""
        x, y = operands
        if not isinstance(x, list) and not isinstance(y, list) and x.shape == y.shape:
            return x + y
        both = [a + b for a, b in zip(x, y, strict=False)]
        return [*both, *x[len(both) :], *y[len(both) :]]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = y_bar = z_bar``."""
        return z_bar, z_bar

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Items broadcast: the examples are first."""
        return self(*operands)

    def flops(self, result: Type, *types: Type) -> int:
        """An addition for each element of an item."""
        return result.nbytes // 8
