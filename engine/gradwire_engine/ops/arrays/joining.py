"""Joining arrays: end to end, or along a new axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument, ShapeMismatch
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.shape import Reshape
from gradwire_engine.ops.arrays.slicing import picked, sliced, unstack
from gradwire_engine.ops.axes import axis_of, few_axes
from gradwire_engine.ops.base import Cotangents, Op, Static, no_arithmetic, register
from gradwire_engine.ops.batching import along_axes
from gradwire_engine.ops.builder import describe
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.tape import ArrayType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Builder, Var


def listed(b: Builder, arrays: Any, op: str, dtype: Any = None) -> list[Var]:
    """The arrays to be joined, promoted: the items of a list, or of an array's first axis."""
    from gradwire_engine.ops.builder import Var

    if isinstance(arrays, Var) and arrays.ndim:
        arrays = unstack(b, arrays)
    if not isinstance(arrays, list | tuple) or not arrays:
        raise BadArgument(f"{op} needs a list of at least one array, got {describe(arrays)}")
    if dtype is not None:
        return [AsType.record(b, x, dtype) for x in arrays]
    return b.promote(*arrays)


@register("concatenate", "concat")
class Concatenate(Op):
    """Arrays end to end along ``axis``; with axis None, all their elements in a row."""

    axis: int
    rounds = False
    linear = True
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, arrays: Any, axis: Static = 0, dtype: Static = None) -> Any:
        """Record for a list of arrays, promoted."""
        parts = listed(b, arrays, "concatenate", dtype)
        if axis is None:
            parts, axis = [Reshape.record(b, part, part.type.size) for part in parts], 0
        if not parts[0].ndim:
            raise ShapeMismatch("concatenate cannot join scalars", hint="stack joins them")
        op = cls(axis_of(axis, parts[0].ndim, "concatenate"))
        return op(*parts) if len(parts) > 1 else parts[0]

    def infer(self, *types: ArrayType) -> ArrayType:
        """The lengths along the axis add up; the others are equal."""
        first, axis = types[0], self.axis
        around = first.shape[:axis], first.shape[axis + 1 :]
        for kind in types[1:]:
            if (kind.shape[:axis], kind.shape[axis + 1 :]) != around or kind.ndim != first.ndim:
                raise ShapeMismatch(
                    f"concatenate needs equal shapes but for axis {axis}, "
                    f"got {first.shape} and {kind.shape}"
                )
        length = sum([kind.shape[axis] for kind in types])
        weak = all(kind.weak for kind in types)
        return ArrayType(first.dtype, (*around[0], length, *around[1]), weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Join."""
        return xp.concatenate(operands, axis=self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Each operand's slice of ``z_bar``."""
        bars, start = [], 0
        for x in operands:
            stop = start + x.shape[self.axis]
            bars.append(sliced(z_bar, self.axis, start, stop))
            start = stop
        return bars

    flops = no_arithmetic


@register("stack")
class Stack(Op):
    """Arrays of one shape along a new axis of the result."""

    axis: int
    rounds = False
    linear = True
    batch = along_axes

    @classmethod
    def record(cls, b: Builder, arrays: Any, axis: Static = 0, dtype: Static = None) -> Any:
        """Record for a list of arrays, promoted."""
        parts = listed(b, arrays, "stack", dtype)
        along = axis_of(axis, parts[0].ndim + 1, "stack")
        whole = None if along else _whole(parts)
        return cls(along)(*parts) if whole is None else whole

    def infer(self, *types: ArrayType) -> ArrayType:
        """One more axis, as long as there are operands."""
        first = types[0]
        for kind in types[1:]:
            if kind.shape != first.shape:
                raise ShapeMismatch(f"stack needs equal shapes, got {first.shape}, {kind.shape}")
        shape = (*first.shape[: self.axis], len(types), *first.shape[self.axis :])
        return ArrayType(first.dtype, few_axes(shape), all(kind.weak for kind in types))

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Join."""
        return xp.stack(operands, axis=self.axis)

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Each operand's part of ``z_bar``."""
        return [picked(z_bar, self.axis, index) for index in range(len(operands))]

    flops = no_arithmetic


def _whole(parts: Sequence[Var]) -> Var | None:
    """The array of which a loop gave these rows, if they are all of them."""
    made = parts[0].builder.instructions
    slots = {made[x.slot].args[:1] for x in parts if type(made[x.slot].op) is GetItem}
    (slot,) = slots.pop() if len(slots) == 1 else (-1,)
    whole = parts[0].builder.vars[slot]
    if slot < 0 or made[slot].op.name != "stacked" or whole.shape[0] != len(parts):
        return None
    rows = [GetItem((i, *[FULL] * x.ndim)) for i, x in enumerate(parts)]
    same = all(made[x.slot].op == row for x, row in zip(parts, rows, strict=True))
    return whole if same else None
