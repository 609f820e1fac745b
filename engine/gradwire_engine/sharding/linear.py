"""Parts of sums: what is linear in them gives parts again, and nothing else does.

What is the same in all shards is a term that the first shard counts, and a factor in all.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.errors import ShardingError
from gradwire_engine.ops.arrays.creation import Progression
from gradwire_engine.ops.arrays.indexing import SetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Pack, StopGradient
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import Solution
from gradwire_engine.ops.pointwise.arithmetic import Divide, Multiply
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.stacks import AddStacks
from gradwire_engine.sharding.values import Division, Part, Value
from gradwire_engine.tape import INEXACT, Type

#: Operations that are linear in all operands together.
_TOGETHER = (Concatenate, Stack, Placed, Progression, AddStacks, Pack)
#: Operations that are linear in one operand at a time: in which ones.
_ONE_AT_A_TIME: dict[type[Op], tuple[int, ...]] = {
    Multiply: (0, 1),
    Divide: (0,),
    Contract: (0, 1),
    MatMul: (0, 1),
}


def of_parts(d: Division, op: Op, values: Sequence[Value], whole: Type) -> Value:
    """An operation on parts of sums, and on what is the same in all shards.

    Raises: ``ShardingError`` where it is not linear in the parts.
    """
    if any(value.rows for value in values):
        raise ShardingError(
            "this combines the rows with a sum over all rows",
            hint="compute that sum first, and send it as a variable",
        )
    parts = [i for i, value in enumerate(values) if value.spread is Part.OF_SUM]
    terms = _terms(op, len(values))
    if terms is not None and {*parts} <= {*terms}:
        pairs = enumerate(values)
        operands = [d.counted(value) if i in terms else value.var for i, value in pairs]
    elif len(parts) == 1 and parts[0] in _factors(op):
        operands = [value.var for value in values]
    else:
        what = f"a {op.name} of two sums" if len(parts) > 1 else f"{op.name} of a sum"
        hint = "only what is linear may follow a sum over all rows"
        if isinstance(op, Divide):
            hint += "; a divisor without parameters can be computed before, and sent"
        raise ShardingError(f"{what} over all rows is not a sum of what shards give", hint=hint)
    return Value(op(*operands), whole, Part.OF_SUM)


def _factors(op: Op) -> tuple[int, ...]:
    """The operands of which a product is linear in each."""
    return (1,) if isinstance(op, Solution) else _ONE_AT_A_TIME.get(type(op), ())


def _terms(op: Op, count: int) -> range | None:
    """The operands in which an operation is linear together; None of another one."""
    if isinstance(op, Where):
        return range(1, 3)
    if isinstance(op, AsType) and op.dtype.kind not in INEXACT:
        return None  # it rounds
    if not (op.linear or isinstance(op, StopGradient)):
        return None
    if isinstance(op, SetItem):
        return range(2)
    together = op.elementwise or isinstance(op, _TOGETHER)
    return range(count if together else 1)  # indices follow
