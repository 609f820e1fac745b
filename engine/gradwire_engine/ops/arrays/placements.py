"""Sums of arrays that are zero but for a part, made in one array."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.ops.patterns import FULL, Pattern, index_of
from gradwire_engine.tape import ArrayType, Shape, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: In arrays up to this size it is found which elements are placed upon others.
_MARKED = 1 << 16


@register("placed", public=False)
class Placed(Op):
    """Zeros of ``shape`` to whose part ``patterns[i]`` operand i is added, one after the other.

    Patterns are of integers, slices and new axes, so that each selects an element at most once.
    """

    patterns: tuple[Pattern, ...]
    shape: Shape
    rounds = False
    linear = True

    def infer(self, *types: ArrayType) -> ArrayType:
        """An array of ``shape``."""
        return ArrayType(types[0].dtype, self.shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Assign what comes first to a part, add the rest."""
        return self.placing(xp)(*operands)

    def placing(self, xp: Any) -> Callable[..., Any]:
        """Indices are made once, and so is what is known of how parts overlap."""
        fresh, whole = self.overlaps()
        indices = [index_of(pattern, ()) for pattern in self.patterns]
        steps, shape = list(zip(indices, fresh, strict=True)), self.shape
        start = xp.empty if whole else xp.zeros

        def place(*operands: Any) -> Any:
            out = start(shape, operands[0].dtype)
            for (index, first), operand in zip(steps, operands, strict=True):
                if first:
                    out[index] = operand
                else:
                    out[index] += operand
            return out

        return place

    def overlaps(self) -> tuple[list[bool], bool]:
        """The parts that come before all others there, and whether these are everything."""
        if math.prod(self.shape) > _MARKED:
            fresh = [True, *[False] * (len(self.patterns) - 1)]
            return fresh, self.patterns[0] == (FULL,) * len(self.shape)
        taken, fresh, count = np.zeros(self.shape, bool), [], 0
        for index in [index_of(pattern, ()) for pattern in self.patterns]:
            fresh.append(not taken[index].any())
            count += fresh[-1] * taken[index].size
            taken[index] = True
        return fresh, count == taken.size

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """Each operand's part of ``z_bar``."""
        return [GetItem(pattern)(z_bar) for pattern in self.patterns]

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Place in the zeros of each example."""
        rows = everywhere(operands, batched)
        patterns = tuple([(FULL, *pattern) for pattern in self.patterns])
        return Placed(patterns, (rows[0].type.shape[0], *self.shape))(*rows)

    def flops(self, result: Type, *types: ArrayType) -> int:
        """One move or sum for each element of the operands."""
        return sum([kind.size for kind in types])
