"""Functions with a derivative of their own, whose rule speaks of all rows, in a shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gradwire_engine.errors import ShardingError
from gradwire_engine.loops.loop import BlockArgument, MustUnroll
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.boundaries import CustomVjp, Rule
from gradwire_engine.ops.builder import Var
from gradwire_engine.sharding.values import Part, Spread, Value, as_rows, decided_by_rows
from gradwire_engine.tape import ArrayType, Type
from gradwire_engine.traversal import ancestors

if TYPE_CHECKING:
    from gradwire_engine.sharding.walk import Walk


def divided_rule(walk: Walk, op: CustomVjp, operands: Sequence[Value], whole: Type) -> Value:
    """The same results and operands of a shard, the rule asked for all rows and then divided."""
    results, others = operands[: op.count], operands[op.count :]
    rule = partial(_cotangents, walk, op.rule, results, others)
    var = replace(op, rule=rule)(*[operand.var for operand in operands])
    return Value(var, whole, items=[result.spread for result in results])


def _cotangents(
    walk: Walk, rule: Rule, results: Sequence[Value], others: Sequence[Value], bars: Sequence[Var]
) -> Cotangents:
    """Record the rule for stand-ins of all rows' cotangents, and then what a shard has of it."""
    d, b = walk.d, walk.d.b
    seeds = []
    for number, (result, bar) in enumerate(zip(results, bars, strict=True)):
        kind = ArrayType(bar.dtype, result.shape)
        seeds.append(b.again(BlockArgument(walk, number), (), kind))
        walk[seeds[-1].slot] = Value(bar, kind, _of_cotangent(result.spread))
    place = d.place(b.origin)
    try:
        with d.of_all_rows():
            found = rule(seeds)
        given = [bar.slot for bar in found if bar is not None]
        walk.go(sorted(ancestors(b.instructions, given)))
        pairs = zip(found, others, strict=True)
        return [bar and _fitting(walk, walk[bar.slot], other) for bar, other in pairs]
    except MustUnroll:
        raise decided_by_rows(place) from None
    except ShardingError as error:
        error.at = error.at or place
        raise


def _of_cotangent(spread: Spread) -> Spread:
    """The spread of the cotangent of a value: that of a sum is the same for all its parts."""
    if isinstance(spread, Part):
        return None
    return Part.OF_SUM if spread is None else spread


def _fitting(walk: Walk, bar: Value, of: Value) -> Var:
    """The cotangent of an operand, spread as one has to be."""
    if of.rows is not None:
        return as_rows(bar, of.rows)
    wanted = _of_cotangent(of.spread)
    if bar.spread == wanted:
        return bar.var
    if bar.spread is None:
        return walk.d.counted(bar)
    raise ShardingError(
        "the cotangents that this rule gives do not add up over the rows",
        hint="let it give one for each row, or their sum",
    )
