"""Tape → one generated straight-line Python function over NumPy.

Every line is one instruction, so a line number in a traceback finds its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.finite import unsure
from gradwire_engine.backends.numpy.inplace import overwriting, reused
from gradwire_engine.backends.numpy.loops import expression
from gradwire_engine.backends.numpy.nesting import nesting
from gradwire_engine.backends.numpy.plan import Plan
from gradwire_engine.backends.numpy.scalars import Scalars
from gradwire_engine.backends.numpy.sweeps import Sweep
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.tape import Tape

#: From inputs to outputs, and those of these that are not known to be finite.
Replay: TypeAlias = Callable[[Sequence[Any], Poll], tuple[tuple[Any, ...], tuple[Any, ...]]]


def lower(tape: Tape, plan: Plan, *, quick: bool) -> Replay:
    """Generate and compile the function that replays ``tape``."""
    return written(tape, plan, quick=quick).function("replay")


def written(tape: Tape, plan: Plan, *, quick: bool = True) -> Text:
    """The text of the function that replays ``tape``, of the ``quick`` one if so.

    A local variable is used again as soon as the value in it is dead, so that memory is too. In
    quick functions numbers that are read once are computed where they are read, and arithmetic
    leaves its results in operands that are dead.
    """
    text = Text("def replay(inputs, poll):")
    if any(isinstance(instruction.op, Sweep) for instruction in tape.instructions):
        text.write("squares = []")
    scalars = Scalars(tape, text, quick=quick)
    nested, dead = nesting(tape, scalars.codes) if scalars.codes else ((), plan.dead)
    places = reused(tape, dead) if quick else {}
    where: dict[int, str] = {}
    free: list[str] = []
    count, due = 0, False
    for slot, instruction in enumerate(tape.instructions):
        op = instruction.op
        due = due or slot in plan.polls  # in a line of its own, once there is one
        if isinstance(op, Constant):
            where[slot] = text.bind(scalars.constant(slot, op.value), f"c{slot}")
            continue
        if slot in nested:
            where[slot] = f"({scalars.code(slot, where)})"
            continue
        over = [where[s] for s in dead[slot] if s != slot and where[s][0] == "r"]
        in_steps = scalars.in_steps(slot)
        if slot in places:
            operands, place = scalars.operands(slot, where), places[slot]
            over.remove(operands[place])
        if not in_steps:  # else the result must not take the place of an operand
            free += over
        if slot in places:
            result = operands[place]
        elif free:
            result = free.pop()
        else:
            result, count = f"r{count}", count + 1
        if slot in places:
            line = overwriting(op, operands, place, text)
        elif in_steps:
            free += over
            line = scalars.steps(slot, where, result)
        elif isinstance(op, Input):
            line = f"{result} = {scalars.sent(slot, f'inputs[{op.index}]')}"
        else:
            line = f"{result} = {expression(slot, op, where, scalars, text)}"
        where[slot] = result
        if slot in dead[slot]:
            free.append(result)
        text.write(line, instruction)
        if due:
            text.write("poll()", instruction)
            due = False
    text.write(f"z = ({''.join(f'{scalars.leaving(s, where[s])}, ' for s in tape.outputs)})")
    squared = {s for s in tape.outputs if _squared(tape, s)}
    results = [
        (number, where[slot], tape.instructions[slot].type)
        for number, slot in enumerate(tape.outputs)
        if slot not in squared
    ]
    squares = f"{text.bind(sum, 'sum')}(squares)" if squared else ""
    text.write(f"return z, {unsure(results, text.bind, squares)}")
    return text


def _squared(tape: Tape, slot: int) -> bool:
    """Whether the squares of a result have been added up where it was made."""
    op, args, _, _ = tape.instructions[slot]
    sweep = tape.instructions[args[0]].op if isinstance(op, Item) else None
    return isinstance(sweep, Sweep) and op.index in sweep.squared  # type: ignore[attr-defined]
