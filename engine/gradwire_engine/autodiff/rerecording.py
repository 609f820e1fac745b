"""Recording again: instructions that are on the tape already, of other operands or of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gradwire_engine.ops.base import Cotangents, Op
from gradwire_engine.ops.boundaries import Example, Rule, Ruled
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Constant, Copy


class Rerecording:
    """What was recorded from some variables, from others instead; each instruction once.

    ``others`` gives for each variable the other one.  What depends on none of them is shared.
    """

    def __init__(self, others: Mapping[Var, Var]) -> None:
        self._found = {one.slot: other for one, other in others.items()}
        self._first = min(self._found)
        self._seen = set(self._found)

    def __call__(self, var: Var) -> Var:
        """The other ``var``."""
        return self.find(var) or var

    def find(self, var: Var) -> Var | None:
        """The other ``var``, or None where it is shared."""
        b, found = var.builder, self._found
        before = b.origin
        for slot in self._unseen(var):
            op, args, _, b.origin = b.instructions[slot]
            own = [arg in found for arg in args]
            if any(own):
                operands = [found.get(arg) or b.vars[arg] for arg in args]
                if isinstance(op, Ruled):
                    op = replace(op, rule=partial(self._rule, op.rule))
                found[slot] = self.again(op, operands, own)
        b.origin = before
        return found.get(var.slot)

    def again(self, op: Op, operands: Sequence[Var], own: Sequence[bool]) -> Var:
        """Record one instruction of operands of which those marked are others."""
        return op(*operands)

    def stand_in(self, bar: Var) -> Var:
        """A variable for which ``bar`` is the other."""
        return Copy()(bar)

    def _unseen(self, var: Var) -> list[int]:
        """The slots that ``var`` is computed from and that were not looked at, rising."""
        instructions, seen = var.builder.instructions, self._seen
        needed, pending = [], [var.slot]
        while pending:
            slot = pending.pop()
            if slot >= self._first and slot not in seen:
                seen.add(slot)
                needed.append(slot)
                pending.extend(instructions[slot].args)
        return sorted(needed)

    def _rule(self, rule: Rule, bars: Sequence[Var]) -> Cotangents:
        """A rule refers to what was recorded first: ask it there, and record again what it does."""
        seeds = [self.stand_in(bar) for bar in bars]
        self._found |= {seed.slot: bar for seed, bar in zip(seeds, bars, strict=True)}
        self._seen.update(self._found)
        return [None if bar is None else self(bar) for bar in rule(seeds)]


class Examples(Rerecording):
    """``stacks`` gives for variables of one example those of all, stacked along a new first axis.

    So is what this gives.
    """

    def __init__(self, stacks: Mapping[Var, Var]) -> None:
        super().__init__(stacks)
        self.count = next(iter(stacks.values())).shape[0]

    def __call__(self, var: Var) -> Var:
        """``var`` of all examples."""
        return self.find(var) or self._repeated(var)

    def again(self, op: Op, operands: Sequence[Var], own: Sequence[bool]) -> Var:
        """Record one instruction for all examples."""
        if not isinstance(op, Ruled):
            return op.batch(operands, own)
        pairs = list(zip(operands, own, strict=True))
        results = [x if stacked else self._repeated(x) for x, stacked in pairs[: op.count]]
        # The cotangent of an operand that examples share is summed where it is broadcast.
        return op(*results, *operands[op.count :])

    def stand_in(self, bar: Var) -> Var:
        """One of the cotangents stacked in ``bar``."""
        return Example()(bar)

    def _repeated(self, var: Var) -> Var:
        return var.builder.broadcast(var, (self.count, *var.shape))


def reads(outputs: Sequence[Var], start: int) -> list[Var]:
    """What instructions from slot ``start`` on read of those before it, to compute ``outputs``."""
    b = outputs[0].builder
    found: set[int] = set()
    pending = [out.slot for out in outputs]
    while pending:
        slot = pending.pop()
        if slot not in found:
            found.add(slot)
            if slot >= start:
                pending.extend(b.instructions[slot].args)
    before = [slot for slot in sorted(found) if slot < start]
    return [b.vars[slot] for slot in before if not isinstance(b.instructions[slot].op, Constant)]
