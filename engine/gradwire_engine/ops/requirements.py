"""Requirements of a program on values that are known only when it is executed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DomainError
from gradwire_engine.ops.base import Cotangents, Op, register
from gradwire_engine.ops.batching import everywhere
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var


@register("required", public=False)
class Required(Op):
    """The first operand, if the flags that are the second all hold; else an error."""

    rounds = False
    views = True
    message: str
    hint: str

    def infer(self, *types: ArrayType) -> Type:
        """The first operand's type."""
        return types[0]

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Look at the flags."""
        x, holds = operands
        xp.require(holds.all(), DomainError(self.message, hint=self.hint))
        return x

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """``x_bar = z_bar``, if the flags hold: a derivative may be asked for without the value."""
        return self(z_bar, operands[1]), None

    def batch(self, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
        """Of all examples, one of which is enough for the error."""
        made: Var = self(*everywhere(operands, batched))
        return made

    def flops(self, result: Type, *types: ArrayType) -> int:
        """A comparison for each flag."""
        return types[1].size
