"""The derivative of a loop: a loop backward over what its passes began with.

A pass backward records the body again and pulls the cotangents of its results back. So nothing but
the carries is kept, and the new loop may be differentiated and batched like any other.
Source: Griewank and Walther, Evaluating Derivatives, section 12.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradwire_engine.loops.loop import Loop, Path
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.loops.regions import Region, item, loop, region
from gradwire_engine.loops.splicing import spliced
from gradwire_engine.ops.base import Cotangents
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Copy, Guard
from gradwire_engine.tape import ArrayType

Pullback: TypeAlias = "Callable[[Builder, list[Var], list[Var], list[Var]], list[Var | None]]"


def cotangents(
    pullback: Pullback, op: Loop, bars: Sequence[Var | None], z: Var, operands: Sequence[Var]
) -> Cotangents:
    """Cotangents of the loop's operands for those of its results, None where none flows."""
    backward = _Backward(pullback, op, bars, z, operands)
    while not backward.settled():
        pass
    return backward.record()


class _Backward:
    """The loop backward, grown until all that a cotangent reaches in some pass is carried."""

    def __init__(
        self,
        pullback: Pullback,
        op: Loop,
        bars: Sequence[Var | None],
        z: Var,
        operands: Sequence[Var],
    ) -> None:
        self.b = z.builder
        self.pullback = pullback
        self.op = op
        self.z = z
        count = int(op.counted)
        self.starts = operands[count : count + op.carries]
        self.stacks = operands[count + op.carries : count + op.carries + op.stacks]
        self.shared = operands[count + op.carries + op.stacks :]
        self.ends = bars[: op.carries]
        self.written = {
            w: bar for w in range(op.written) if (bar := bars[op.output(w)]) is not None
        }
        self.held = {c: bar for c in range(op.carries) if (bar := bars[op.saved(c)]) is not None}
        #: The inputs that cotangents reach: carries, items of stacks, shared values, by number.
        reached = [c for c in range(op.carries) if self.ends[c] is not None or c in self.held]
        self.carries = {c for c in reached if self.starts[c].type.differentiable}
        self.items: set[int] = set()
        self.sums: set[int] = set()
        self.paths = [(i, path) for i, path in enumerate(op.paths) if path.counted and path.known]
        self.traces: list[Trace] = []

    def settled(self) -> bool:
        """Record all paths; whether nothing was reached that had not been before."""
        before = len(self.carries) + len(self.items) + len(self.sums)
        self.traces = []
        for number, (index, path) in enumerate(self.paths):
            with region(self.b, self._carried(), self._rows()) as opened:
                for other, _ in self.paths[:number]:
                    Guard(False)(opened.items[-1].equals(other))
                if number < len(self.paths) - 1:
                    Guard(True)(opened.items[-1].equals(index))
                self.traces.append(opened.trace(self._pass(opened, path)))
        return before == len(self.carries) + len(self.items) + len(self.sums)

    def record(self) -> Cotangents:
        """Emit the loop backward, and find the operands' cotangents among its results."""
        op, b = self.op, self.b
        found: list[Var | None] = [None] * (op.counted + op.carries + op.stacks + len(self.shared))
        if (not self.carries and not self.written) or not self.traces:
            return found
        saved = [item(self.z, op.saved(c)) for c in range(op.carries)]
        stacks = [*saved, *self.stacks, *self.written.values(), *self.held.values()]
        if len(self.paths) > 1:
            stacks.append(item(self.z, op.branches))
        ends = [self.ends[c] for c in sorted(self.carries)]
        kinds = self._carried()
        first = [b.full(0, kinds[i]) if bar is None else bar for i, bar in enumerate(ends)]
        first += [b.full(0, kind) for kind in kinds[len(ends) :]]
        count = item(self.z, op.trip_count)
        made = loop(
            b, self.traces, first, stacks, count, backward=not op.backward, passes=op.passes
        )
        ahead = int(op.counted)
        for i, c in enumerate(sorted(self.carries)):
            found[ahead + c] = item(made, i)
        for i, s in enumerate(sorted(self.sums)):
            found[ahead + op.carries + op.stacks + s] = item(made, len(ends) + i)
        for i, s in enumerate(sorted(self.items)):
            found[ahead + op.carries + s] = item(made, len(first) + i)
        return found

    def _carried(self) -> list[ArrayType]:
        """Types of what the loop backward carries: cotangents of carries, and sums."""
        carries = [self.starts[c] for c in sorted(self.carries)]
        sums = [self.shared[s] for s in sorted(self.sums)]
        return [_plain(x) for x in (*carries, *sums)]

    def _rows(self) -> list[ArrayType]:
        """Types of the items that a pass backward reads."""
        kinds: Any = self.z.type
        saved = [kinds.items[self.op.saved(c)] for c in range(self.op.carries)]
        stacks: list[Any] = [
            x.type for x in (*self.stacks, *self.written.values(), *self.held.values())
        ]
        taken = [kinds.items[self.op.branches]] if len(self.paths) > 1 else []
        return [kind.item for kind in (*saved, *stacks, *taken)]

    def _pass(self, opened: Region, path: Path) -> list[Var]:
        """One pass backward on one path: the carries' cotangents, the sums, items' cotangents."""
        op, b = self.op, self.b
        carries, sums = sorted(self.carries), sorted(self.sums)
        rows = iter(opened.items)
        began = [next(rows) for _ in range(op.carries)]
        items = [next(rows) for _ in self.stacks]
        wrote = {w: next(rows) for w in self.written}
        held = {c: next(rows) for c in self.held}
        shared = [Copy()(x) for x in self.shared]
        inputs = [opened.number, *began, *items, *shared]
        results = spliced(b, op.body.tape, inputs, path.outputs)
        bars = opened.carries[: len(carries)]
        targets = [results[c] for c in carries] + [results[op.carries + w] for w in wrote]
        found = self.pullback(b, targets, [*bars, *wrote.values()], [*began, *items, *shared])
        of_carries = {c: bar for c in range(op.carries) if (bar := found[c]) is not None}
        for c, bar in held.items():
            of_carries[c] = of_carries[c] + bar if c in of_carries else bar
        of_items = dict(enumerate(found[op.carries : op.carries + op.stacks]))
        of_shared = dict(enumerate(found[op.carries + op.stacks :]))
        totals = []
        for total, s in zip(opened.carries[len(carries) :], sums, strict=True):
            bar = of_shared[s]
            totals.append(total if bar is None else total + bar)
        given = [of_carries.get(c) or b.full(0, _plain(began[c])) for c in carries]
        written = [of_items[s] or b.full(0, _plain(items[s])) for s in sorted(self.items)]
        self.carries |= of_carries.keys()
        self.items |= {s for s, bar in of_items.items() if bar is not None}
        self.sums |= {s for s, bar in of_shared.items() if bar is not None}
        return [*given, *totals, *written]


def _plain(x: Var) -> ArrayType:
    """The type of a cotangent of ``x``: an item's, if it is a stack."""
    return ArrayType(x.type.dtype, x.type.shape)
