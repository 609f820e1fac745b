"""Loop rerolling: a stretch of instructions that repeats itself becomes a loop.

Whatever wrote the same steps one after the other — a text, a comprehension, a short loop, a client
that traced its own — each step reads what the one before gave, what all share, or its own element
of something. The tape is searched for a period in its operations; then the operands must fit.
Source: Reroll, in LLVM's scalar transformations; here over a recorded trace.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Stack
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Constant, Guard, Item, Pack, Source
from gradwire_engine.ops.custom_vjp import CustomVjpTape
from gradwire_engine.ops.loops import Loop
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern
from gradwire_engine.ops.pointwise.arithmetic import Power
from gradwire_engine.ops.regions import planned, region
from gradwire_engine.polling import polled
from gradwire_engine.record.segments import whole
from gradwire_engine.tape import ArrayType
from gradwire_engine.traversal import ancestors

#: Fewer instructions, or steps, are as quickly compiled one by one.
_FEWEST_INSTRUCTIONS, _FEWEST_STEPS = 192, 8
#: A step reads what at most so many steps before it gave; so many are left in front of the loop.
_FARTHEST = 3
#: Of results that are read after the loop, those of all steps are kept: so many bytes.
_MOST_BYTES = 1 << 20
#: So many operations in a row are compared to find a period, among so many candidates.
_WINDOW, _CANDIDATES = 8, 4
#: Operations whose results are no plain function of operands, or decide what else is computed.
OPAQUE = (Source, Guard, Item, Pack, Loop, CustomVjp, CustomVjpTape)


class _Stretch(NamedTuple):
    """``times`` steps of ``length`` instructions each, from position ``start`` on."""

    start: int
    length: int
    times: int


class _Earlier(NamedTuple):
    """An operand: what the instruction ``offset`` gave, ``steps`` steps ago."""

    steps: int
    offset: int


class _Varying(NamedTuple):
    """An operand: another slot in each step."""

    slots: tuple[int, ...]


#: An operand of a step: one of those, or the slot that all steps share.
_Operand = _Earlier | _Varying | int


def rerolled(b: Builder, outputs: Sequence[Var]) -> dict[Var, Var]:
    """Replacements that make the longest stretch that repeats itself a loop."""
    if len(b.vars) < _FEWEST_INSTRUCTIONS:
        return {}
    slots = sorted(ancestors(b.instructions, [out.slot for out in outputs]))
    tokens = _tokens(b, slots)
    found = _period(tokens)
    if found is None:
        return {}
    start, length, times = _cut(b, slots, *found)
    for first in range(1, _FARTHEST + 1):
        for last in (times, times - 1):
            steps = last - first
            if steps < _FEWEST_STEPS or steps * length < _FEWEST_INSTRUCTIONS:
                continue
            stretch = _Stretch(start + first * length, length, steps)
            operands = _operands(b, slots, stretch)
            if operands is not None:
                return _Loop(b, slots, stretch, operands, outputs).emitted()
    return {}


def _tokens(b: Builder, slots: Sequence[int]) -> np.ndarray[Any, Any]:
    """A number for each instruction: equal for equal operations on equal types."""
    made = b.instructions
    numbers: dict[Hashable, int] = {}
    tokens = np.empty(len(slots), np.int64)
    kinds = {type(made[slot].op) for slot in slots}
    opaque = {kind for kind in kinds if issubclass(kind, OPAQUE)} - {Constant}
    for i, slot in enumerate(polled(slots, b.poll)):
        op, args, kind, _ = made[slot]
        key: Hashable
        if type(op) is Constant:
            key = (Constant, id(kind))
        elif type(op) is GetItem:
            key = (without_integers(op.pattern), len(args), id(kind))
        elif type(op) in opaque or type(kind) is not ArrayType:
            key = slot
        elif type(op) is Power:
            key = (op, id(kind), exponent(b, args[1]))
        else:
            key = (op, id(kind))
        tokens[i] = numbers.setdefault(key, len(numbers))
    return tokens


def exponent(b: Builder, slot: int) -> Op | None:
    """A constant exponent: by its value it is known which products a power is."""
    op = b.instructions[slot].op
    return op if type(op) is Constant else None


def without_integers(pattern: Pattern) -> Hashable:
    """A pattern but for the places that integers select."""
    return tuple([int if type(item) is int else item for item in pattern])


def _period(tokens: np.ndarray[Any, Any]) -> tuple[int, int, int] | None:
    """Start, period and length of the longest run of tokens with a period, if it is long enough."""
    count = len(tokens) - _WINDOW + 1
    if count < _FEWEST_INSTRUCTIONS:
        return None
    weights = np.random.default_rng(0).integers(1, 2**62, _WINDOW)
    hashes = np.zeros(count, np.int64)
    for i, weight in enumerate(weights):
        hashes += tokens[i : i + count] * weight
    order = np.argsort(hashes, kind="stable")
    distances = np.diff(order)[hashes[order[1:]] == hashes[order[:-1]]]
    frequent = np.bincount(distances, minlength=1)
    best: tuple[int, int, int] | None = None
    for length in np.argsort(-frequent, kind="stable")[:_CANDIDATES].tolist():
        if frequent[length] < _FEWEST_STEPS:
            break
        differ = np.flatnonzero(tokens[length:] != tokens[:-length])
        ends = np.concatenate([[-1], differ, [len(tokens) - length]])
        run = int(np.argmax(np.diff(ends)))
        start, covered = int(ends[run]) + 1, int(ends[run + 1] - ends[run]) - 1 + length
        if covered >= _FEWEST_STEPS * length and (best is None or covered > best[2]):
            best = start, length, covered
    return best


def _cut(b: Builder, slots: Sequence[int], start: int, length: int, covered: int) -> _Stretch:
    """The steps of a run with a period, cut where they hand on the fewest values."""
    crossing = np.zeros(length, np.int64)
    position = {slot: i for i, slot in enumerate(slots[start : start + 3 * length], start)}
    last: dict[int, int] = {}
    for at in range(start, min(start + 3 * length, len(slots))):
        for arg in b.instructions[slots[at]].args:
            if arg in position:
                last[position[arg]] = at
    for at in range(start + length, start + 2 * length):
        for boundary in range(at + 1, min(last.get(at, at), at + length) + 1):
            crossing[(boundary - start) % length] += 1
    phase = int(np.argmin(crossing))
    return _Stretch(start + phase, length, (covered - phase) // length)


def _operands(
    b: Builder, slots: Sequence[int], stretch: _Stretch
) -> list[tuple[_Operand, ...]] | None:
    """The operands of each instruction of a step; None if they do not fit in all steps."""
    start, length, times = stretch
    found: list[tuple[_Operand, ...]] = []
    positions = {slot: i for i, slot in enumerate(slots)}
    begin, farthest = slots[start], start - _FARTHEST * length
    for offset in range(length):
        made = [b.instructions[slots[start + k * length + offset]] for k in range(times)]
        count = len(made[0].args)
        if any(len(one.args) != count for one in made):
            return None
        operands: list[_Operand] = []
        for i in range(count):
            column = tuple([one.args[i] for one in made])
            if column.count(column[0]) == times:
                if column[0] >= begin:
                    return None
                operands.append(column[0])
                continue
            places = [positions[arg] - start - k * length for k, arg in enumerate(column)]
            if places.count(places[0]) == times:
                if start + places[0] < farthest:
                    return None
                steps, within = divmod(places[0], length)
                operands.append(_Earlier(-steps, within))
            elif max(column) < begin:
                operands.append(_Varying(column))
            else:
                return None
        found.append(tuple(operands))
    return found


class _Loop:
    """A stretch that becomes a loop, and the variables that are read after it."""

    def __init__(
        self,
        b: Builder,
        slots: Sequence[int],
        stretch: _Stretch,
        operands: Sequence[tuple[_Operand, ...]],
        outputs: Sequence[Var],
    ) -> None:
        self._b = b
        self._slots = slots
        self._stretch = stretch
        self._operands = operands
        self._outputs = [out.slot for out in outputs]
        #: A value that is handed on: an instruction's result and for how many steps it is kept.
        self._carried: dict[_Earlier, int] = {}
        for one in [operand for each in operands for operand in each]:
            if isinstance(one, _Earlier):
                for steps in range(1, one.steps + 1):
                    self._carried.setdefault(_Earlier(steps, one.offset), len(self._carried))
        #: Arrays of which each step reads a row, by the operand.
        self._arrays: list[Var] = []
        self._rows: dict[Hashable, int] = {}

    def emitted(self) -> dict[Var, Var]:
        """Emit the loop; gives what replaces the variables of the stretch that are read outside."""
        b, (_, length, times) = self._b, self._stretch
        read = self._read_outside()
        written = sorted({offset for _, offset in read or ()})
        nbytes = times * sum([b.vars[self._slot(0, offset)].type.nbytes for offset in written])
        if read is None or not self._carried or nbytes > _MOST_BYTES:
            return {}
        for offset in range(length):
            self._gather(offset)
        kinds = [b.vars[self._slot(0, one.offset)].type for one in self._carried]
        items = [ArrayType(x.dtype, x.shape[1:], x.type.weak) for x in self._arrays]
        with region(b, kinds, items) as opened:
            made = self._step(opened.carries, opened.items)
            handed = [
                made[one.offset]
                if one.steps == 1
                else opened.carries[self._carried[_Earlier(one.steps - 1, one.offset)]]
                for one in self._carried
            ]
            trace = opened.trace([*handed, *[made[offset] for offset in written]])
        counts = len(kinds), len(items)
        plan = planned(b, [trace], *counts, counted=True, passes=times)
        firsts = [b.vars[self._slot(-one.steps, one.offset)] for one in self._carried]
        finals, stacks = whole(b, plan, firsts, self._arrays, times)
        replaced: dict[Var, Var] = {}
        for step, offset in sorted(read):
            number = self._carried.get(_Earlier(times - step, offset))
            if number is not None:
                after = finals[number]
            else:
                stack = stacks[written.index(offset)]
                after = GetItem((step, *[FULL] * (stack.ndim - 1)))(stack)
            replaced[b.vars[self._slot(step, offset)]] = after
        return replaced

    def _slot(self, step: int, offset: int) -> int:
        start, length, _ = self._stretch
        return self._slots[start + step * length + offset]

    def _read_outside(self) -> set[tuple[int, int]] | None:
        """The steps and offsets whose results are read after the stretch; None if decisions do."""
        b, (start, length, times) = self._b, self._stretch
        stop = start + times * length
        inside = {slot: divmod(i, length) for i, slot in enumerate(self._slots[start:stop])}
        guards = [i.args[0] for i in b.instructions if isinstance(i.op, Guard)]
        if guards and not inside.keys().isdisjoint(ancestors(b.instructions, guards)):
            return None
        read = [arg for slot in self._slots[stop:] for arg in b.instructions[slot].args]
        return {inside[slot] for slot in [*read, *self._outputs] if slot in inside}

    def _gather(self, offset: int) -> None:
        """Gather what differs between steps: constants, elements, and operands from outside."""
        b, times = self._b, self._stretch.times
        ops: list[Any] = [b.instructions[self._slot(k, offset)].op for k in range(times)]
        b.origin = b.instructions[self._slot(0, offset)].origin
        for operand in self._operands[offset]:
            if isinstance(operand, _Varying) and operand not in self._rows:
                self._add(operand, Stack(0)(*[b.vars[slot] for slot in operand.slots]))
        if all(op == ops[0] for op in ops):
            return
        if type(ops[0]) is Constant:
            weak = b.vars[self._slot(0, offset)].type.weak
            self._add(offset, b.constant(np.stack([op.value for op in ops]), weak=weak))
        else:
            for i, item in enumerate(ops[0].pattern):
                if type(item) is int:
                    self._add((offset, i), b.constant(np.array([op.pattern[i] for op in ops])))

    def _add(self, key: Hashable, array: Var) -> None:
        self._rows[key] = len(self._arrays)
        self._arrays.append(array)

    def _step(self, carries: Sequence[Var], items: Sequence[Var]) -> list[Var]:
        """Record a step, of what stands for the values that it reads."""
        b, made = self._b, list[Var]()
        for offset, operands in enumerate(self._operands):
            op, _, _, b.origin = b.instructions[self._slot(0, offset)]
            values = [self._value(one, made, carries, items) for one in operands]
            made.append(self._applied(offset, op, values, items))
        return made

    def _value(
        self, operand: _Operand, made: Sequence[Var], carries: Sequence[Var], items: Sequence[Var]
    ) -> Var:
        if isinstance(operand, int):
            return self._b.vars[operand]
        if isinstance(operand, _Varying):
            return items[self._rows[operand]]
        return carries[self._carried[operand]] if operand.steps else made[operand.offset]

    def _applied(self, offset: int, op: Op, values: Sequence[Var], items: Sequence[Var]) -> Var:
        if type(op) is Constant:
            row = self._rows.get(offset)
            return self._b.vars[self._slot(0, offset)] if row is None else items[row]
        if type(op) is GetItem and (offset, _integer(op.pattern)) in self._rows:
            places = [i for i, item in enumerate(op.pattern) if type(item) is int]
            pattern = tuple([ARRAY if i in places else x for i, x in enumerate(op.pattern)])
            return GetItem(pattern)(values[0], *[items[self._rows[offset, i]] for i in places])
        return op(*values)


def _integer(pattern: Pattern) -> int:
    """The first place where a pattern has an integer."""
    return next((i for i, item in enumerate(pattern) if type(item) is int), -1)
