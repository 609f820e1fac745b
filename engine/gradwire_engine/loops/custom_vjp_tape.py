"""Derivatives by a rule, in a loop's body: there the rule is a tape, for it is asked elsewhere.

The rule of a ``CustomVjp`` refers to variables of the tape under construction. A body leaves that
tape, so its rules are recorded before: for cotangents, results, and what they read besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import InternalError
from gradwire_engine.loops.loop import Body
from gradwire_engine.loops.splicing import spliced
from gradwire_engine.ops.base import Cotangents, Op, no_arithmetic, register
from gradwire_engine.ops.constants import Item
from gradwire_engine.tape import ArrayType, TupleType

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("taped", public=False)
class CustomVjpTape(Op):
    """The first ``count`` operands, whose cotangents go by ``rule`` to the ``given`` further ones.

    The rule's inputs are a number, the cotangents, the results, and the last operands.
    """

    forwards = True
    rounds = False
    count: int
    #: The operands that the rule gives cotangents, in the order of its outputs.
    given: tuple[int, ...]
    #: The number of the last operands that only the rule reads.
    read: int
    rule: Body

    def infer(self, *types: ArrayType) -> TupleType:
        """The results' types."""
        return TupleType(types[: self.count])

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the results."""
        return operands[: self.count]

    def vjp(self, z_bar: Any, z: Var, *operands: Var) -> Cotangents:
        """Record the rule, with zeros for what no cotangent reached."""
        b = z.builder
        bars = [
            b.full(0, ArrayType(x.dtype, x.shape)) if bar is None else bar
            for x, bar in zip(operands, z_bar, strict=False)
        ]
        results = [Item(i)(z) for i in range(self.count)]
        found: list[Var | None] = [None] * len(operands)
        made = self.recorded(bars, results, operands[len(operands) - self.read :])
        for number, bar in zip(self.given, made, strict=True):
            found[number] = bar
        return found

    def recorded(
        self, bars: Sequence[Var], results: Sequence[Var], read: Sequence[Var]
    ) -> list[Var]:
        """The cotangents that the rule gives."""
        b, (number, *_) = bars[0].builder, self.rule.inputs
        inputs = [b.scalar(0, number.dtype), *bars, *results, *read]
        return spliced(b, self.rule.tape, inputs, range(len(self.given)))

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Not asked: ``BatchTrace`` records the rule for all examples."""
        raise InternalError("a rule on a tape has no batching rule of its own")

    flops = no_arithmetic
