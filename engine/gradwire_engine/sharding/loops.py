"""Loops over what each row has by itself, or that add up parts of sums, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from gradwire_engine.errors import ShardingError
from gradwire_engine.loops.loop import BlockArgument, Loop, Path
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.loops.regions import Region, loop, region
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Guard
from gradwire_engine.sharding.values import (
    Along,
    Division,
    Part,
    Spread,
    Value,
    as_rows,
    decided_by_rows,
)
from gradwire_engine.tape import ArrayType, Type
from gradwire_engine.traversal import ancestors

if TYPE_CHECKING:
    from gradwire_engine.sharding.walk import Walk


class DividedLoop:
    """A loop of all rows, whose carries get rows or become parts once a pass makes them such.

    A carry also gets rows where it begins with what may be read as rows, and a pass reads it so.
    """

    def __init__(self, walk: type[Walk], d: Division, op: Loop, operands: Sequence[Value]) -> None:
        self.walk = walk
        self.d = d
        self.op = op
        first, last = op.counted + op.carries, op.counted + op.carries + op.stacks
        self.count = operands[: op.counted]
        self.starts = operands[op.counted : first]
        self.stacks = operands[first:last]
        self.shared = operands[last:]
        if any(count.spread is not None for count in self.count):
            raise decided_by_rows()
        #: What the carries are, then what passes write.
        self.spreads: list[Spread] = [*[x.spread for x in self.starts], *[None] * op.written]

    def record(self, whole: Type) -> Value:
        """Record passes until these leave carries as they are, and then the loop of this shard."""
        d, op, before, traces = self.d, self.op, list[Spread](), list[Trace | None]()
        while before != self.spreads:
            before = [*self.spreads]
            traces = [self._trace(path) if path.known else None for path in op.paths]
        starts = [self._as(*pair) for pair in zip(self.spreads, self.starts, strict=False)]
        count = next((value.var for value in self.count), None)
        stacks = [stack.var for stack in self.stacks]
        made = loop(d.b, traces, starts, stacks, count, backward=op.backward, passes=op.passes)
        return Value(made, whole, items=[*self.spreads, *self.spreads[: op.carries], None, None])

    def _trace(self, path: Path) -> Trace | None:
        """Record a path; none if it has found out more of what the carries are, or is written."""
        before = [*self.spreads]
        with self._region() as opened:
            readings = [self._readings(opened, i) for i in range(self.op.carries)]
            given, decided = self._outcome(opened, path, readings)
            read = opened.ancestors([value.var for value in (*given, *decided)])
            for i, value in enumerate(given):
                self.spreads[i] = _joined(self.spreads[i], value.spread)
            for i, of_carry in enumerate(readings):
                for reading in of_carry:
                    if self.spreads[i] is None and reading.var.slot in read:
                        self.spreads[i] = reading.spread
            if self.spreads != before:
                return None
            for value, (_, expected) in zip(decided, path.decisions, strict=True):
                Guard(expected)(value.var)
            results = [self._as(*pair) for pair in zip(before, given, strict=False)]
            return opened.trace(results, ends=path.ends, counted=path.counted)

    def _readings(self, opened: Region, carry: int) -> Sequence[Value]:
        """Stand-ins for a carry that may be read as rows, by what it begins with."""
        if self.spreads[carry] is not None:
            return ()
        kind, made = self.op.body.inputs[1 + carry], list[Value]()
        for reading in self.starts[carry].also:
            if not reading.counts:
                block = BlockArgument(opened, 1 + carry)
                var = self.d.b.again(block, (), self._kind(kind, reading.spread))
                made.append(Value(var, kind, reading.spread))
        return made

    def _outcome(
        self, opened: Region, path: Path, readings: Sequence[Sequence[Value]]
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        """The carries that a path gives with what it writes, and what decides that it is taken."""
        d, tape = self.d, self.op.body.tape
        spreads = [None, *self.spreads[: self.op.carries], *[x.spread for x in self.stacks]]
        inside = [opened.number, *opened.carries, *opened.items]
        kinds = self.op.body.inputs
        also = [(), *readings, *[()] * len(kinds)]
        given = [Value(*each) for each in zip(inside, kinds, spreads, also, strict=False)]
        values = dict(zip(tape.inputs, [*given, *self.shared], strict=True))
        numbers = [*path.outputs, *[number for number, _ in path.decisions]]
        slots = [tape.outputs[number] for number in numbers]
        walk = self.walk(d, tape.instructions, values, inside=True)
        walk.go(sorted(ancestors(tape.instructions, slots, values)))
        found = [walk[slot] for slot in slots]
        results, decided = found[: len(path.outputs)], found[len(path.outputs) :]
        if any(value.spread is not None for value in decided):
            raise decided_by_rows()
        return results, decided

    def _region(self) -> AbstractContextManager[Region]:
        """A region for carries as they are in this shard."""
        pairs = zip(self.op.body.inputs[1:], self.spreads[: self.op.carries], strict=False)
        carries = [self._kind(*pair) for pair in pairs]
        items = [x.var.type.item for x in self.stacks]  # type: ignore[attr-defined]
        return region(self.d.b, carries, items)

    def _kind(self, kind: ArrayType, spread: Spread) -> ArrayType:
        if isinstance(spread, Along):
            return kind._replace(shape=self.d.shape(kind.shape, spread))
        return kind

    def _as(self, spread: Spread, value: Value) -> Var:
        """A value as one that is spread so, if it is the same in all shards."""
        if isinstance(spread, Along):
            return as_rows(value, spread)
        return self.d.counted(value) if spread is Part.OF_SUM else value.var


def _joined(one: Spread, other: Spread) -> Spread:
    """The spread of a value that may have either."""
    if one is None or other is None or one == other:
        return other if one is None else one
    raise ShardingError(
        "passes of this loop leave rows where others leave a sum over rows",
        hint="carry the rows and the sum as two values",
    )
