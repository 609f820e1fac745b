"""Functions of which one is taken: the one that the decision says, or of each example its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire_engine.errors import BadArgument
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.record.recorder import Recorder


def cond(r: Recorder, predicate: Any, true: Any, false: Any, *operands: Any) -> Any:
    """``true(*operands)`` where the predicate holds, else ``false(*operands)``.

    One is recorded, and both only where mapped examples decide differently: the derivative of the
    one that an example does not take is 0, as ``where`` has it.
    """
    if _differs(r, predicate):
        taken, other = (r.apply(function, operands, {}) for function in (true, false))
        return _chosen(r, r.operation("not_equal", predicate, 0), taken, other)
    return r.apply(true if r.truth(predicate) else false, operands, {})


def switch(r: Recorder, index: Any, branches: Any, *operands: Any) -> Any:
    """The result of branch number ``index``, the nearest there is; only that one is recorded."""
    functions = r.items(branches)
    if not functions:
        raise BadArgument("switch needs branches")
    if _differs(r, index):
        made = [r.apply(function, operands, {}) for function in functions]
        found = made[-1]
        for number in range(len(made) - 2, -1, -1):
            found = _chosen(r, r.operation("less_equal", index, number), made[number], found)
        return found
    number = min(max(r.integer(index), 0), len(functions) - 1)
    return r.apply(functions[number], operands, {})


def _differs(r: Recorder, decision: Any) -> bool:
    return isinstance(decision, Var) and decision.type.size == 1 and r.concrete.differs(decision)


def _chosen(r: Recorder, holds: Any, taken: Any, other: Any) -> Any:
    """Nested results of which each example has those of one function."""
    if _nesting(taken) != _nesting(other):
        raise BadArgument("the functions of which each example takes one are nested differently")
    holds = r.operation("reshape", holds, ())
    pairs: Sequence[tuple[Var, Var]] = [
        (r.b.array(one), r.b.array(two))
        for one, two in zip(leaves(taken), leaves(other), strict=True)
    ]
    for one, two in pairs:
        if one.shape != two.shape:
            raise BadArgument(
                f"the functions of which each example takes one give {one.type} and {two.type}",
                hint="give both the same shape",
            )
    following = iter(pairs)
    return rebuild(taken, lambda _: r.operation("where", holds, *next(following)))


def _nesting(nested: Any) -> Any:
    return rebuild(nested, lambda _: None)
