"""Boundaries of functions of functions: one example of many, held values, rules of results.

Derivatives, batching and recomputation look for these; of a tape that replays none is left but
``OptimizationBarrier``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import Cotangents, Op, no_arithmetic, register
from gradwire_engine.ops.constants import Identity
from gradwire_engine.tape import ArrayType, TupleType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: From the cotangents of results to those of operands.
Rule = Callable[[Sequence["Var"]], Cotangents]


@register("vmap_placeholder", public=False)
class VmapPlaceholder(Op):
    """Any one of the examples stacked in the operand: no value until all are recorded."""

    differentiable = False

    def infer(self, *types: ArrayType) -> ArrayType:
        """The stack's type, less its first axis."""
        return ArrayType(types[0].dtype, types[0].shape[1:], types[0].weak)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Fail: the value of one example left the function that was mapped."""
        raise ValueError("one example has no value")

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Refused for the same reason."""
        raise left_its_function()

    flops = no_arithmetic


def left_its_function() -> BadArgument:
    """The error of a program that keeps what a mapped function computed for one example."""
    return BadArgument(
        "a value of one example left the function that vmap maps",
        hint="return it from the function: then there is one for each example",
    )


@register("held", public=False)
class OptimizationBarrier(Identity):
    """The operand, never taken for what equal instructions compute from it elsewhere.

    ``number`` distinguishes barriers.
    """

    number: int
    linear = True

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``."""
        return (z_bar,)


@register("ruled", public=False)
class CustomVjp(Op):
    """The first ``count`` operands, whose cotangents go to the further ones by ``rule`` alone."""

    forwards = True
    rounds = False
    count: int
    rule: Rule = field(repr=False)

    def infer(self, *types: ArrayType) -> TupleType:
        """The results' types."""
        return TupleType(types[: self.count])

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the results."""
        return operands[: self.count]

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """Ask the rule, with zeros for what no cotangent reached."""
        results = operands[: self.count]
        bars = [
            x.builder.full(0, ArrayType(x.dtype, x.shape)) if bar is None else bar
            for x, bar in zip(results, z_bar, strict=True)
        ]
        return (*[None] * self.count, *self.rule(bars))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Not asked: ``BatchTrace`` batches the rule as well, which refers to what was recorded."""
        raise left_its_function()

    flops = no_arithmetic
