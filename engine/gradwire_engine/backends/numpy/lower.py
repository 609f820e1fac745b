"""Tape → generated straight-line Python functions over NumPy: one, or of a long tape a row of them.

Every line is one instruction, so a line number in a traceback finds its instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup
from gradwire_engine.backends.numpy.finite import unsure
from gradwire_engine.backends.numpy.inplace import overwriting, reused
from gradwire_engine.backends.numpy.loops import Functions, expression
from gradwire_engine.backends.numpy.registers import Registers, outlasting
from gradwire_engine.backends.numpy.scalars import Scalars
from gradwire_engine.backends.numpy.text import PART, Text
from gradwire_engine.backends.plan import Plan
from gradwire_engine.backends.tiers import Outputs, Replay
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Tape


def lower(
    tape: Tape,
    plan: Plan,
    poll: Poll = unhurried,
    loops: Functions | None = None,
    *,
    quick: bool,
    part: int = PART,
) -> Replay:
    """Generate and compile the function that replays ``tape``; it looks at its own ``poll``."""
    text = written(tape, plan, poll, loops, quick=quick, part=part)
    if len(tape.instructions) <= part:
        return text.function("replay")
    return _in_turn(text.functions("replay"), len(tape.instructions))


def _in_turn(parts: Sequence[Callable[..., Any]], length: int) -> Replay:
    """The function that calls ``parts`` one after the other; the last one returns."""
    *first, last = parts

    def replay(inputs: Sequence[Any], poll: Poll) -> Outputs:
        lists = [None] * length, list[Any](), list[Any]()
        for part in first:
            part(inputs, poll, *lists)
        found: Outputs = last(inputs, poll, *lists)
        return found

    return replay


def written(
    tape: Tape,
    plan: Plan,
    poll: Poll = unhurried,
    loops: Functions | None = None,
    *,
    quick: bool = True,
    part: int = PART,
) -> Text:
    """The text of the function that replays ``tape``, of the ``quick`` one if so.

    Of more instructions than are in a ``part`` it is divided in several.

    A local variable is used again as soon as the value in it is dead, so that memory is too. In
    quick functions arithmetic leaves its results in operands that are dead.
    """
    instructions = tape.instructions
    whole = len(instructions) <= part
    text = Text(f"def replay(inputs, poll{'' if whole else ', v, z, flags'}):", poll, loops)
    #: Numbers that are finite if the results of groups are.
    flags: list[str] = []
    scalars = Scalars(tape, text, quick=quick)
    dead = plan.dead
    places = reused(tape, dead, poll) if quick else {}
    registers = Registers(outlasting(dead, tape.outputs, part, poll))
    where: dict[int, str] = {}
    due = False
    for slot, instruction in enumerate(polled(instructions, poll)):
        op = instruction.op
        due = due or slot in plan.polls  # in a line of its own, once there is one
        if slot and not slot % part:
            text.divide()
        if isinstance(op, Constant):
            where[slot] = text.bind(scalars.constant(slot, op.value), f"c{slot}")
            continue
        over = [where[s] for s in dead[slot] if s != slot and where[s][0] in "rv"]
        operands = scalars.operands(slot, where) if slot in places else []
        if operands and registers.suits(slot, operands[places[slot]]):
            result = operands[places[slot]]
            over.remove(result)
            line = overwriting(op, operands, places[slot], text)
            registers.release(over)
        else:
            registers.release(over)
            result = registers.take(slot)
            if isinstance(op, Input):
                line = f"{result} = {scalars.sent(slot, f'inputs[{op.index}]')}"
            else:
                line = f"{result} = {expression(slot, op, where, scalars, text)}"
        where[slot] = result
        if slot in dead[slot]:
            registers.release([result])
        text.write(line, instruction)
        if isinstance(op, FusedGroup) and op.checked:
            flags.append(f"flags{slot}" if whole else f"flags[{len(flags)}]")
            keep = f"{flags[-1]} = {{}}" if whole else "flags.append({})"
            text.write(keep.format(f"{result}[-1]"), instruction)
        if due:
            text.write("poll()", instruction)
            due = False
    _return(tape, scalars, where, text, flags, None if whole else part)
    return text


def _return(
    tape: Tape,
    scalars: Scalars,
    where: Mapping[int, str],
    text: Text,
    flags: Sequence[str],
    part: int | None,
) -> None:
    """Write what is returned, so many items in a ``part``; ``flags`` is of checked ones."""
    given = [f"{scalars.leaving(slot, where[slot])}, " for slot in polled(tape.outputs, text.poll)]
    if part is None:
        text.write(f"z = ({''.join(given)})")
    else:
        for start in range(0, len(given), part):
            text.write(f"z += ({''.join(given[start : start + part])})")
            text.divide()
        text.write(f"z = {text.bind(tuple, 'tuple')}(z)")
    checked = {s for s in tape.outputs if _is_checked(tape, s)}
    results = [
        (number, where[slot], tape.instructions[slot].type)
        for number, slot in enumerate(polled(tape.outputs, text.poll))
        if slot not in checked
    ]
    text.write(f"return z, {unsure(results, text.bind, flags)}")


def _is_checked(tape: Tape, slot: int) -> bool:
    """True if a result was checked to be finite where it was made."""
    op, args, _, _ = tape.instructions[slot]
    kernel = tape.instructions[args[0]].op if isinstance(op, Item) else None
    return isinstance(kernel, FusedGroup) and op.index in kernel.checked  # type: ignore[attr-defined]
