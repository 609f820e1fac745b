"""Tape → one generated straight-line Python function over NumPy.

The generated text holds only names made here; constants, functions and parameters are bound by
reference. Every line is one instruction, so a line number in a traceback finds its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.backends.numpy.plan import Plan
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.tape import Tape

#: From inputs to outputs.
Replay: TypeAlias = Callable[[Sequence[Any], Poll], tuple[Any, ...]]


class Lowered(NamedTuple):
    """The function, and the instruction of each of its lines (counted from 1)."""

    replay: Replay
    lines: list[int]


def lower(tape: Tape, plan: Plan) -> Lowered:
    """Generate and compile the function that replays ``tape``.

    A local variable is used again as soon as the value in it is dead, so that memory is too.
    """
    names: dict[str, Any] = {"__builtins__": {}}
    where: dict[int, str] = {}
    free: list[str] = []
    count = 0
    text = ["def replay(inputs, poll):"]
    lines = [-1, -1]
    for slot, (op, args, _, _) in enumerate(tape.instructions):
        if isinstance(op, Constant):
            names[f"c{slot}"] = op.value
            where[slot] = f"c{slot}"
            continue
        if isinstance(op, Input):
            value = f"inputs[{op.index}]"
        else:
            value = _expression(op, [where[a] for a in args], names)
        dead = plan.dead[slot]
        free += [where[s] for s in dead if s != slot and where[s][0] == "r"]
        if free:
            result = free.pop()
        else:
            result, count = f"r{count}", count + 1
        where[slot] = result
        if slot in dead:
            free.append(result)
        text.append(f" {result} = {value}")
        lines.append(slot)
        if slot in plan.polls:
            text.append(" poll()")
            lines.append(slot)
    outputs = "".join([f"{where[slot]}, " for slot in tape.outputs])
    text.append(f" return ({outputs})")
    exec(compile("\n".join(text), "<tape>", "exec"), names)
    return Lowered(names["replay"], lines)


def _expression(op: Op, operands: Sequence[str], names: dict[str, Any]) -> str:
    """The right-hand side that computes ``op``."""
    if op.template:
        return op.template.format(*operands)
    listed = ", ".join(operands)
    name = "u_" + op.ufunc.replace(".", "_") if op.is_ufunc else f"k{len(names)}"
    if name not in names:
        names[name] = op.bind(NUMPY)
    return f"{name}({listed})"
