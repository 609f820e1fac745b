"""Derivative rules met before: on operands of the same types a rule emits the same instructions.

A long program has few operations of few types, so most of its derivative repeats what was emitted
already: with other slots, and without the cotangents that nothing waits for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import itemgetter
from typing import NamedTuple

from gradwire_engine.ops.builder import Builder, Step, Var
from gradwire_engine.traversal import ancestors

#: As often a rule is asked before it is learned.
_OFTEN = 10


class Rule(NamedTuple):
    """The instructions that a rule emits, and which of their results is which operand's cotangent.

    Slots are numbered: those of ``z_bar``, ``z`` and the operands, the ``fixed`` ones, which all
    uses share, then those of the steps.
    """

    fixed: tuple[int, ...]
    steps: tuple[Step, ...]
    bars: tuple[tuple[int, int], ...]

    def again(self, b: Builder, z_bar: int, z: int, operands: tuple[int, ...]) -> list[int]:
        """Emit the instructions for these slots; gives all slots by their numbers."""
        slots = [z_bar, z, *operands, *self.fixed]
        b.follow(self.steps, slots)
        return slots


class RuleCache:
    """The instructions that rules emitted on one walk, by operation, types and pending operands.

    Learning pays after a few times: ``known`` has them from the tenth on.
    """

    def __init__(self, b: Builder) -> None:
        self._b = b
        self.known: dict[Hashable, Rule] = {}
        self._met: dict[Hashable, int] = {}

    def learn(
        self, key: Hashable, start: int, given: Sequence[int], bars: Sequence[Var | None]
    ) -> None:
        """Remember what has been emitted from slot ``start`` on for the slots ``given``."""
        times = self._met[key] = self._met.get(key, 0) + 1
        if times < _OFTEN:
            return
        b = self._b
        emitted = range(start, len(b.vars))
        results = [bar.slot for bar in bars if bar is not None]
        inside = ancestors(b.instructions, results, range(start))
        needed = inside.union(results, *[b.instructions[slot].args for slot in inside])
        made = [slot for slot in emitted if slot in needed and b.instructions[slot].args]
        fixed = sorted(needed.difference(given, made))
        numbers = {slot: i for i, slot in reversed([*enumerate([*given, *fixed, *made])])}
        steps = []
        for slot in made:
            op, args, kind, _ = b.instructions[slot]
            pick = itemgetter(*[numbers[arg] for arg in args])
            steps.append(Step(op, pick, len(args) == 1, kind))
        found = [(i, numbers[bar.slot]) for i, bar in enumerate(bars) if bar is not None]
        self.known[key] = Rule(tuple(fixed), tuple(steps), tuple(found))
