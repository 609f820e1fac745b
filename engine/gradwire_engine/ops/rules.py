"""Functions of ordinary operations that are differentiated by a rule: the tables of rules.

Operations whose own derivatives are marked for limits come before all that rules are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.base import PRIMITIVES, Cotangents, Op, no_arithmetic, register
from gradwire_engine.ops.batching import examples, over_stacks
from gradwire_engine.ops.constants import StopGradient
from gradwire_engine.ops.elementwise import broadcast_shapes
from gradwire_engine.tape import ArrayType, Type

if TYPE_CHECKING:
    from gradwire_engine.ops.builder import Var

#: Cotangents of the operands, from that of the result, the result and the operands.
FormulaRule = Callable[..., Cotangents]
#: The rules by name.
RULES: dict[str, FormulaRule] = {}
#: What only names an operand for reverse walks, which find limits at singular points.
MARKERS = frozenset(("radial", "even", "flat", "limit"))


def _over_stacks(op: Op, operands: Sequence[Var], batched: Sequence[bool]) -> Var:
    """As ``over_stacks``, but the result is the first operand: that has every example's own."""
    first, *others = operands
    if not batched[0]:
        first = first.builder.broadcast(first, (examples(operands, batched), *first.type.shape))
    return over_stacks(op, [first, *others], [True, *batched[1:]])


@register("by_formula", public=False)
class ByFormula(Op):
    """The first operand, elementwise a function of the others that ``rule`` differentiates."""

    rounds = False
    elementwise = True
    rule: str
    batch = _over_stacks

    def infer(self, *types: ArrayType) -> Type:
        """The first operand's type, which others may repeat."""
        shape = broadcast_shapes(*[kind.shape for kind in types])
        return types[0] if shape == types[0].shape else types[0]._replace(shape=shape)

    def kernel(self, xp: Any, *operands: Any) -> Any:
        """Give the first operand."""
        return operands[0]

    def vjp(self, z_bar: Var, z: Var, *operands: Var) -> Cotangents:
        """The cotangents that the rule gives for the other operands."""
        if self.rule in MARKERS:
            return None, z_bar, *[None] * (len(operands) - 2)
        return None, *RULES[self.rule](z_bar, z, *operands[1:])

    flops = no_arithmetic


def by_formula(rule: str, compute: Callable[..., Var], *operands: Var) -> Var:
    """``compute(*operands)``, which ``rule`` differentiates."""
    value = compute(*[StopGradient()(x) for x in operands])
    return ByFormula(rule)(value, *operands)


def radial(x_bar: Var, z_bar: Var, z: Var, x: Var) -> Var:
    """``x_bar = z_bar x / z`` of a norm ``z``, whose derivative has a limit where ``z`` is 0."""
    return ByFormula("radial")(x_bar, x_bar, z_bar, z, x)


def kinked(z_bar: Var, places: Var, moving: Var) -> Var:
    """``z_bar``, without which nothing is smooth at these places where ``moving`` moves."""
    length = PRIMITIVES["where"]()(places, z_bar.constant(0), z_bar.constant(1))
    return ByFormula("even")(z_bar, z_bar, z_bar, length, moving)


def even(z_bar: Var, z: Var) -> Var:
    """``z_bar``, without which nothing is smooth where the length ``z`` is 0, unless it is 0."""
    return ByFormula("even")(z_bar, z_bar, z_bar, z, z)


def _of_length(z_bar: Var, z: Var, length: Var) -> Cotangents:
    return (ByFormula("flat")(z_bar, z_bar, z_bar, z, z),)


#: Of a length whose square is not smooth at 0: the slope of its cotangent has to be 0 there, too.
RULES["length"] = _of_length


def limit(x: Var, y: Var) -> Var:
    """``x``, a limit for this ``y``, which no rule differentiates in it."""
    return ByFormula("limit")(x, x, y)
