"""The walk through a recording of all rows that records a shard's part of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from gradwire_engine.errors import EngineError, OverBudget, ShardingError
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.arrays.creation import Progression
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.boundaries import CustomVjp
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Constant, Identity, Item, Pack
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.polling import polled
from gradwire_engine.sharding.custom_vjp import divided_rule
from gradwire_engine.sharding.loops import DividedLoop
from gradwire_engine.sharding.rules import applied
from gradwire_engine.sharding.values import Along, Division, Value
from gradwire_engine.tape import ArrayType, Instruction, TupleType, Type

#: What may be done with the numbers of rows before they are an index.
_OF_NUMBERS = (Reshape, Transpose, BroadcastTo, Identity, AsType)


class Walk:
    """Values of a shard, by the slots of what was recorded of all rows.

    ``given`` has those that the instructions begin with. What depends on none of them stays where
    it is on the tape under construction, unless the instructions are ``inside`` a loop's body.
    """

    def __init__(
        self,
        d: Division,
        instructions: Sequence[Instruction],
        given: dict[int, Value],
        *,
        inside: bool = False,
    ) -> None:
        self.d = d
        self._instructions = instructions
        self._values = given
        self._inside = inside

    def __getitem__(self, slot: int) -> Value:
        """The value at a slot."""
        found = self._values.get(slot)
        if found is None:
            found = Value(self.d.b.vars[slot], self._instructions[slot].type)
        return found

    def __setitem__(self, slot: int, value: Value) -> None:
        """Take a value for what is at a slot."""
        self._values[slot] = value

    def go(self, slots: Sequence[int]) -> None:
        """Record again what is at these slots, which rise.

        Raises: ``ShardingError`` where an operation of rows gives neither rows nor what adds up.
        """
        b, before = self.d.b, self.d.b.origin
        for slot in polled(slots, b.poll):
            if slot in self._values:
                continue
            b.origin = self._instructions[slot].origin
            try:
                self._record(slot)
            except EngineError as error:
                error.at = error.at or self.d.place(b.origin)
                raise
        b.origin = before

    def _record(self, slot: int) -> None:
        op, args, whole, _ = self._instructions[slot]
        operands = [self[arg] for arg in args]
        own = any(x.spread is not None or x.items is not None for x in operands)
        if own or isinstance(op, CustomVjp):
            self._values[slot] = self._divided(op, operands, whole)
            return
        var = self._again(op, args, operands, whole)
        also = self._readings(op, args, operands, whole)
        if also or var is not None:
            self._values[slot] = Value(var or self.d.b.vars[slot], whole, also=also)

    def _again(
        self, op: Op, args: Sequence[int], operands: Sequence[Value], whole: Type
    ) -> Var | None:
        """A value that all shards share, recorded again; None where it stays where it is."""
        slots = tuple([x.var.slot for x in operands])
        if self._inside or slots != args:
            return self.d.b.again(op, slots, whole)
        return None

    def _divided(self, op: Op, operands: Sequence[Value], whole: Type) -> Value:
        if isinstance(op, Loop):
            return DividedLoop(Walk, self.d, op, operands).record(whole)
        if isinstance(op, Item):
            return self._item(op, operands[0])
        if isinstance(op, CustomVjp):
            return divided_rule(self, op, operands, whole)
        if isinstance(op, Pack):
            return Value(op(*[x.var for x in operands]), whole, items=[x.spread for x in operands])
        return applied(self.d, op, operands, whole)

    def _item(self, op: Item, of: Value) -> Value:
        assert isinstance(of.whole, TupleType)
        spread = of.spread if of.items is None else of.items[op.index]
        return Value(op(of.var), of.whole.items[op.index], spread)

    def _readings(
        self, op: Op, args: Sequence[int], operands: Sequence[Value], whole: Type
    ) -> Sequence[Value]:
        """A value that all shards share, read as rows: equal along an axis, or their numbers."""
        if not isinstance(whole, ArrayType):
            return ()
        d = self.d
        found: dict[Along, Value] = {}
        if isinstance(op, BroadcastTo):
            for axis, length in enumerate(whole.shape):
                place = axis - whole.ndim + operands[0].ndim
                each = d.each(length) if place < 0 or operands[0].shape[place] == 1 else None
                if each is not None:
                    along = Along(axis, each)
                    with suppress(OverBudget):
                        var = d.b.broadcast(operands[0].var, d.shape(whole.shape, along))
                        found[along] = Value(var, whole, along)
        elif isinstance(op, Progression) and op.length == d.rows and self._counts(args):
            var = Progression(d.own)(*[x.var for x in operands])
            found[Along(0)] = Value(var, whole, Along(0), counts=True)
        for number, operand in enumerate(operands):
            for reading in operand.also:
                if reading.counts and not isinstance(op, _OF_NUMBERS):
                    continue
                given = [*operands[:number], reading, *operands[number + 1 :]]
                try:
                    made = applied(d, op, given, whole)
                except (ShardingError, OverBudget):  # one reading less; nothing may need it
                    continue
                if made.rows is not None and made.rows not in found:
                    found[made.rows] = replace(made, counts=reading.counts)
        return [*found.values()]

    def _counts(self, args: Sequence[int]) -> bool:
        """True if the operands of a progression count from 0 in steps of 1."""
        ops = [self._instructions[arg].op for arg in args]
        return [op.value for op in ops if isinstance(op, Constant)] == [0, 1]
