"""Recording again: instructions that are on the tape already, of other operands or of many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from gradwire_engine.batching.batched_loops import loop_of_examples
from gradwire_engine.loops.custom_vjp_tape import CustomVjpTape
from gradwire_engine.loops.loop import BlockArgument, Loop
from gradwire_engine.loops.regions import Region, region, taped_rule
from gradwire_engine.ops.base import Cotangents, Op
from gradwire_engine.ops.boundaries import CustomVjp, Rule, VmapPlaceholder
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Constant, Copy, Item, Pack
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors


class Retrace:
    """Record again what was recorded from some variables, from others; each instruction once.

    ``others`` gives for each variable the other one.  What depends on none of them is shared.
    """

    def __init__(self, others: Mapping[Var, Var]) -> None:
        self._found = {one.slot: other for one, other in others.items()}
        self._instructions = next(iter(others)).builder.instructions
        self.first = min(self._found)
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
            if self.differs(slot):
                operands = [found.get(arg) or b.vars[arg] for arg in args]
                if isinstance(op, CustomVjp):
                    op = replace(op, rule=partial(self._rule, op.rule))
                found[slot] = self.again(slot, op, operands)
        b.origin = before
        return found.get(var.slot)

    def differs(self, slot: int) -> bool:
        """True if the instruction at ``slot`` is to be recorded again."""
        return any(arg in self._found for arg in self._instructions[slot].args)

    def again(self, slot: int, op: Op, operands: Sequence[Var]) -> Var:
        """Record ``op``, the instruction at ``slot``, of operands some of which are others."""
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
            if slot >= self.first and slot not in seen:
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


class BatchTrace(Retrace):
    """``stacks`` gives for variables of one example those of all, stacked along a new first axis.

    So is what this gives.
    """

    def __init__(self, stacks: Mapping[Var, Var]) -> None:
        super().__init__(stacks)
        self.count = next(iter(stacks.values())).shape[0]

        #: Slots of which there is another variable that all examples share.
        self._shared: set[int] = set()
        #: The results of a loop that differ between examples, by its slot or that of their pack.
        self._differ: dict[int, Sequence[bool]] = {}

    def __call__(self, var: Var) -> Var:
        """``var`` of all examples."""
        found, own = self.part(var)
        return found if own else self._repeated(found)

    def find(self, var: Var) -> Var | None:
        """``var`` of all examples, or None where they share it."""
        found = super().find(var)
        return found and (self._repeated(found) if var.slot in self._shared else found)

    def part(self, var: Var) -> tuple[Var, bool]:
        """``var`` of all examples, or what they share; and whether they differ."""
        found = super().find(var)
        return found or var, found is not None and var.slot not in self._shared

    def again(self, slot: int, op: Op, operands: Sequence[Var]) -> Var:
        """Record one instruction for all examples."""
        args = operands[0].builder.instructions[slot].args
        own = [arg in self._found and arg not in self._shared for arg in args]
        differs = self._differ.get(args[0])
        if not any(own) or (isinstance(op, Item) and differs and not differs[op.index]):
            self._shared.add(slot)
            return op(*operands)
        if isinstance(op, Loop):
            made, self._differ[slot] = loop_of_examples(_parts, op, operands, own, self.count)
            return made
        if isinstance(op, Pack):
            self._differ[slot] = own
            return op(*operands)
        if isinstance(op, CustomVjpTape):
            return self._taped(op, operands, own)
        if not isinstance(op, CustomVjp):
            return op.batch(operands, own)
        pairs = list(zip(operands, own, strict=True))
        results = [x if stacked else self._repeated(x) for x, stacked in pairs[: op.count]]
        # The cotangent of an operand that examples share is summed where it is broadcast.
        return op(*results, *operands[op.count :])

    def stand_in(self, bar: Var) -> Var:
        """One of the cotangents stacked in ``bar``."""
        return VmapPlaceholder()(bar)

    def _taped(self, op: CustomVjpTape, operands: Sequence[Var], own: Sequence[bool]) -> Var:
        """Record a rule that is a tape for all examples, too."""
        b, first = operands[0].builder, len(operands) - op.read
        kinds = op.rule.inputs[1 : 1 + 2 * op.count]
        every = [ArrayType(kind.dtype, (self.count, *kind.shape)) for kind in kinds]
        with region(b, every) as opened:
            stacks = dict(zip(self._ones(opened, kinds), opened.carries, strict=True))
            ones = [*stacks]
            read = [*operands[first:]]
            for i, mark in enumerate(own[first:]):
                if mark:
                    (one,) = self._ones(opened, [op.rule.inputs[1 + 2 * op.count + i]])
                    stacks[one], read[i] = read[i], one
            given = op.recorded(ones[: op.count], ones[op.count :], read)
            examples = BatchTrace(stacks)
            trace = opened.trace([examples(bar) for bar in given])
        taped, shared = taped_rule(b, trace, op.count, op.given)
        pairs = list(zip(operands, own, strict=True))
        results = [x if stacked else self._repeated(x) for x, stacked in pairs[: op.count]]
        made: Var = taped(*results, *operands[op.count : first], *shared)
        return made

    def _ones(self, opened: Region, kinds: Sequence[ArrayType]) -> list[Var]:
        """Placeholders for one example of values of these types."""
        return [opened.b.again(BlockArgument(opened, i), (), kind) for i, kind in enumerate(kinds)]

    def _repeated(self, var: Var) -> Var:
        return var.builder.broadcast(var, (self.count, *var.shape))


def _parts(stacks: Mapping[Var, Var]) -> Callable[[Var], tuple[Var, bool]]:
    return BatchTrace(stacks).part


def reads(outputs: Sequence[Var], start: int) -> list[Var]:
    """The earlier values that instructions from slot ``start`` on read to compute ``outputs``."""
    b = outputs[0].builder
    made, slots = b.instructions, [out.slot for out in outputs]
    inside = ancestors(made, slots, range(start))
    read = [*slots, *[arg for slot in inside for arg in made[slot].args]]
    before = sorted({slot for slot in read if slot < start})
    return [b.vars[slot] for slot in before if not isinstance(made[slot].op, Constant)]
