"""Which numbers of a generated function are computed within the expression that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Set

from gradwire_engine.answer import Poll
from gradwire_engine.polling import polled
from gradwire_engine.tape import Tape

#: How deep expressions are nested; deeper ones gain no more, and Python parses no more than 200.
_DEEPEST = 10
#: So many instructions are computed by one generated function, and no expression has some of two:
#: Python compiles a function in one go, during which nothing else runs; 5 to 15 ms for so many.
PART = 1024


def nesting(
    tape: Tape, codes: Mapping[int, str], part: int, poll: Poll
) -> tuple[Set[int], list[list[int]]]:
    """The slots with ``codes`` that are nested in others, and which slots are dead after each.

    Nested is what is read once, by code that evaluates it once and is in the same part, of so many
    instructions. What it reads then lives until the end of the expression.
    """
    instructions = tape.instructions
    reader = [-1] * len(instructions)
    reads = [0] * len(instructions)
    for slot, (op, args, _, _) in enumerate(polled(instructions, poll)):
        code = codes.get(slot) or op.template
        for place, arg in enumerate(args):
            reader[arg] = slot
            reads[arg] += code.count(f"{{{place}}}") if code else 1
    for slot in tape.outputs:
        reads[slot] += 2
    nested: set[int] = set()
    depth = [0] * len(instructions)
    for slot in polled([*codes], poll):
        if reads[slot] == 1 and reader[slot] // part == slot // part:
            deepest = max([depth[a] for a in instructions[slot].args])
            if deepest < _DEEPEST:
                nested.add(slot)
                depth[slot] = deepest + 1
    at = list(range(len(instructions)))
    for slot in polled(sorted(nested, reverse=True), poll):
        at[slot] = at[reader[slot]]
    return nested, _dead(tape, nested, at, poll)


def _dead(tape: Tape, nested: Set[int], at: list[int], poll: Poll) -> list[list[int]]:
    """What nothing reads after each slot, where each is computed ``at`` another, or itself."""
    last = list(range(len(at)))
    for slot, (_, args, _, _) in enumerate(polled(tape.instructions, poll)):
        for arg in args:
            last[arg] = max(last[arg], at[slot])
    for slot in tape.outputs:
        last[slot] = -1
    dead: list[list[int]] = [[] for _ in polled(at, poll)]
    for slot, reader in enumerate(polled(last, poll)):
        if reader >= 0 and slot not in nested:
            dead[reader].append(slot)
    return dead
