"""Entries and exits of a tape's values: constants, inputs, items, guards, and stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.base import PRIMITIVES, Cotangents, Op, no_arithmetic, register
from gradwire_engine.ops.batching import over_stacks
from gradwire_engine.tape import ArrayType, TupleType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var

#: Constants up to this size are compared by content, larger ones by identity.
_COMPARED_BYTES = 4096


class Source(Op):
    """An instruction without operands: its type is given where it is emitted."""

    differentiable = False

    def infer(self, *types: ArrayType) -> Type:
        """Not asked: the builder knows the type."""
        return types[0]

    batch = over_stacks  # not asked: there are no operands

    flops = no_arithmetic


@register("constant", public=False)
class Constant(Source):
    """A value fixed when the tape was recorded."""

    key: Any
    value: Any = field(compare=False)

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> Constant:
        """The constant of ``array``; equal small arrays give equal constants."""
        small = array.nbytes <= _COMPARED_BYTES
        key = (array.dtype.str, array.shape, array.tobytes()) if small else id(array)
        return cls(key, array[()] if array.ndim == 0 else array)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the value."""
        return self.value

    def __str__(self) -> str:
        return f"constant {self.value}" if np.ndim(self.value) == 0 else "constant"


@register("input", public=False)
class Input(Source):
    """The request's value number ``index``."""

    index: int

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the value, already bound."""
        return operands[0]


@register("item", public=False)
class Item(Op):
    """Result number ``index`` of an instruction with several."""

    index: int
    rounds = False
    linear = True
    batch = over_stacks

    def infer(self, *types: Any) -> ArrayType:
        """The item's type."""
        kind: ArrayType = types[0].items[self.index]
        return kind

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Pick the item."""
        return operands[0][self.index]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Handled by the reverse walk, which gathers the items' cotangents."""
        return (None,)

    flops = no_arithmetic


@register("pack", public=False)
class Pack(Op):
    """The operands as the results of one instruction: what ``Item`` takes apart again."""

    rounds = False
    linear = forwards = True
    batch = over_stacks  # not asked: ``BatchTrace`` notes which of the operands differ

    def infer(self, *types: Any) -> TupleType:
        """The operands' types."""
        return TupleType(types)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the operands."""
        return operands

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """Each operand's cotangent is its item's."""
        bars: Cotangents = z_bar
        return bars

    flops = no_arithmetic


@register("guard", public=False)
class Guard(Op):
    """Stop the replay unless the operand still is ``expected``, as when the tape was recorded."""

    expected: bool | int
    rounds = False
    differentiable = False

    def infer(self, *types: ArrayType) -> Type:
        """Same type; nothing reads it."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Raise ``GuardFailed`` where the decision would now be another."""
        if operands[0] != self.expected:
            raise GuardFailed
        return operands[0]

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Stop unless the decision is the same for all examples."""
        return Guard(True)(PRIMITIVES["all"]((0,))(self.as_expected(*operands)))

    def as_expected(self, examples: Var) -> Var:
        """The examples of the operand, along its first axis, that are as expected."""
        same = examples.equals(self.expected)
        return PRIMITIVES["reshape"]((same.shape[0],))(same)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One comparison."""
        return 1


class GuardFailed(Exception):
    """A replayed tape does not hold for these values; not an error of anybody's."""


class UnrecordedPath(GuardFailed):
    """The query needs a loop's passes, each recorded by itself.

    Values take a path that could not be recorded otherwise, or a derivative is of what the last
    pass left.
    """


class Identity(Op):
    """Give the operand itself."""

    rounds = False
    views = True
    template = "{0}"
    batch = over_stacks

    @classmethod
    def record(cls, b: Builder, x: Any) -> Any:
        """Record for any array."""
        return cls()(b.array(x))

    def infer(self, *types: ArrayType) -> Type:
        """Same type."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the operand."""
        return operands[0]

    flops = no_arithmetic


@register("stop_gradient")
class StopGradient(Identity):
    """The value ``x``, through which no gradient flows; constant for every order."""

    differentiable = False


@register("copy")
class Copy(Identity):
    """A value of its own equal to ``x``, so that ``grad(y, copy(x))`` is not ``grad(y, x)``."""

    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``."""
        return (z_bar,)


@register("assigned", public=False)
class Assigned(Identity):
    """The value a variable was assigned: a fresh leaf, as on a tape; gradients stop there."""

    differentiable = False
