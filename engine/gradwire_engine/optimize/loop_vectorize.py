"""A distributed loop: a loop for each recurrence, and arrays of what lies between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradwire_engine.loops.loop import COUNT, Body, Path
from gradwire_engine.loops.stacks import Rows, Stacked
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.slicing import picked, sliced
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Input, Item
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.optimize.recurrences import Recurrences
from gradwire_engine.tape import Instruction, Tape


class VectorizedLoop:
    """Records what a loop's passes give, of ``operands``: of stacks, the arrays of their items."""

    def __init__(
        self, b: Builder, found: Recurrences, operands: Sequence[Var], length: int
    ) -> None:
        self.b = b
        self.found = found
        self.op = op = found.op
        self.length = length
        self.made = found.tape.instructions
        self.count = operands[0]
        self.firsts = operands[1 : 1 + op.carries]
        self.rest = operands[1 + op.carries :]
        #: The slots of the loops that were recorded.
        self.loops: list[int] = []
        #: Of slots, their values in all passes as an array, or the one that all passes share.
        self._values: dict[int, Var] = {}
        self._shared: set[int] = set()
        #: Of slots, their values in all passes as a stack.
        self._stacks: dict[int, Var] = {}
        self._lasts: dict[int, Var] = {}

    def results(self) -> dict[int, Var]:
        """The results that are wanted, by their numbers."""
        op, found = self.op, self.found
        for followers, recurring in found.levels:
            for carry in followers:
                self._follow(carry)
            if recurring:
                self._loop(recurring)
        results: dict[int, Var] = {op.trip_count: self.count}
        for carry in range(op.carries):
            if op.wants(carry):
                results[carry] = self._last(carry)
            if op.wants(op.saved(carry)):
                results[op.saved(carry)] = self._stack(found.begins[carry])
        for number, slot in enumerate(found.writes):
            if op.wants(op.output(number)):
                results[op.output(number)] = self._stack(slot)
        if op.wants(op.branches):
            none = self.b.full(0, COUNT._replace(shape=(self.length,)))
            results[op.branches] = Rows(0)(none)
        return results

    def _last(self, carry: int) -> Var:
        """A carry after the last pass."""
        if carry in self._lasts:
            return self._lasts[carry]
        last = self.firsts[carry]
        for slot, negative in reversed(self.found.sums.get(carry, [])):
            term = self._value(slot)
            if slot in self._shared:
                term = self.b.broadcast(term, (self.length, *term.shape))
            total = Sum((0,))(term)
            last = last - total if negative else last + total
        return last

    def _follow(self, carry: int) -> None:
        """A carry that is what the pass before gave: the rows of that, and the first in front."""
        begin, end, first = self.found.begins[carry], self.found.ends[carry], self.firsts[carry]
        rows, length = self._row(end), self.length
        parts = [reshaped(first, (1, *first.shape)), rows]
        every = Concatenate(0)(*parts[::-1] if self.op.backward else parts)
        start = int(self.op.backward)
        self._values[begin] = sliced(every, 0, start, start + length)
        self._lasts[carry] = picked(every, 0, 0 if self.op.backward else length)

    def _row(self, slot: int) -> Var:
        """A slot's values in all passes, as an array."""
        value = self._value(slot)
        if slot in self._shared:
            return self.b.broadcast(value, (self.length, *value.shape))
        return value

    def _stack(self, slot: int) -> Var:
        """A slot's values in all passes, as a stack."""
        if slot not in self._stacks:
            self._stacks[slot] = Rows(0)(self._row(slot))
        return self._stacks[slot]

    # Values

    def _value(self, slot: int) -> Var:
        """A slot's values in all passes as an array, or the one that all share."""
        needed, pending = [], [slot]
        seen: set[int] = set()
        while pending:
            at = pending.pop()
            if at not in self._values and at not in seen:
                seen.add(at)
                needed.append(at)
                if at not in self._stacks:
                    pending += self.made[at].args
        origin = self.b.origin
        for at in sorted(needed):
            self._values[at] = self._computed(at)
        self.b.origin = origin
        return self._values[slot]

    def _computed(self, slot: int) -> Var:
        op, args, kind, self.b.origin = self.made[slot]
        if slot in self._stacks:
            return Stacked(self.length, 0)(self._stacks[slot])
        if isinstance(op, Input):
            return self._entering(op.index, slot)
        operands = [self._values[arg] for arg in args]
        own = [arg not in self._shared for arg in args]
        if any(own):
            return op.batch(operands, own)
        self._shared.add(slot)
        return self.b.again(op, tuple([x.slot for x in operands]), kind)

    def _entering(self, index: int, slot: int) -> Var:
        """An input of a pass from outside; of carries only those that never change are left."""
        carries = self.op.carries
        if index == 0:
            return self.b.numbers(self.length)
        if not carries < index <= carries + self.op.stacks:
            self._shared.add(slot)
        return self.firsts[index - 1] if index <= carries else self.rest[index - 1 - carries]

    # Loops

    def _loop(self, carries: Sequence[int]) -> None:
        """Record a loop for the components of ``carries``."""
        op, found = self.op, self.found
        inside = found.inside(carries)
        written = [slot for slot in inside if slot in found.read]
        items, shared = self._read_by(inside, [found.begins[carry] for carry in carries])
        ends = [found.ends[carry] for carry in carries]
        begins = [found.tape.inputs[0], *[found.begins[carry] for carry in carries]]
        body = _body(self.made, [*begins, *items, *shared], inside, [*ends, *written])
        path = Path(tuple(range(len(ends) + len(written))))
        loop = replace(
            op,
            body=Body(body),
            paths=(path,),
            carries=len(carries),
            stacks=len(items),
            written=len(written),
            passes=self.length,
        )
        kept = {
            loop.saved(i): slot
            for i, slot in enumerate(begins[1:])
            if slot in found.read or op.wants(op.saved(carries[i]))
        }
        kept |= {loop.output(i): slot for i, slot in enumerate(written)}
        lasts = {i: carry for i, carry in enumerate(carries) if op.wants(carry)}
        loop = replace(loop, wanted=frozenset([*lasts, *kept]))
        firsts = [self.firsts[carry] for carry in carries]
        stacks = [self._stack(slot) for slot in items]
        given = [self.count, *firsts, *stacks, *[self._values[slot] for slot in shared]]
        made = self.b.again(loop, tuple([x.slot for x in given]), loop.infer())
        self.loops.append(made.slot)
        self._stacks |= {slot: Item(number)(made) for number, slot in kept.items()}
        self._lasts |= {carry: Item(i)(made) for i, carry in lasts.items()}

    def _read_by(self, inside: Sequence[int], begins: Sequence[int]) -> tuple[list[int], list[int]]:
        """The outer values that ``inside`` reads: those that differ between passes, and others."""
        own = {self.found.tape.inputs[0], *begins, *inside}
        read = dict.fromkeys([arg for slot in inside for arg in self.made[slot].args])
        outside = [a for a in read if a not in own and type(self.made[a].op) is not Constant]
        for slot in outside:
            self._value(slot)
        items = [slot for slot in outside if slot not in self._shared]
        return items, [slot for slot in outside if slot in self._shared]


def _body(
    made: Sequence[Instruction], inputs: Sequence[int], inside: Sequence[int], given: Sequence[int]
) -> Tape:
    """The tape that computes the slots ``inside`` of the slots ``inputs``, and gives some."""
    kept = [made[slot]._replace(op=Input(i), args=()) for i, slot in enumerate(inputs)]
    moved = {slot: i for i, slot in enumerate(inputs)}
    for slot in inside:
        op, args, kind, origin = made[slot]
        for arg in args:
            if arg not in moved:  # a constant
                moved[arg] = len(kept)
                kept.append(made[arg])
        moved[slot] = len(kept)
        kept.append(Instruction(op, tuple([moved[arg] for arg in args]), kind, origin))
    return Tape(tuple(kept), tuple(range(len(inputs))), tuple([moved[slot] for slot in given]))
