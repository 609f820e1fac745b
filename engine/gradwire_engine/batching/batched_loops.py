"""A loop for many examples at once: all go on until the last one ends.

Where values of examples decide, each pass computes all paths for all examples and keeps of every
example the one that it takes; examples that have ended stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.loops.loop import COUNT, BlockArgument, Loop, Path
from gradwire_engine.loops.path_merging import Trace
from gradwire_engine.loops.regions import Region, item, loop, region
from gradwire_engine.loops.splicing import spliced
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.batching import reshaped
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.constants import Guard, Pack
from gradwire_engine.ops.pointwise.comparison import Less, LogicalNot
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.tape import ArrayType

#: From the stacks of examples, by one of them, to what gives variables of all examples, and
#: whether these differ between examples.
Mapped: TypeAlias = Callable[[Mapping[Var, Var]], "Callable[[Var], tuple[Var, bool]]"]

_ACTIVE = ArrayType(np.dtype(bool), ())


def loop_of_examples(
    mapped: Mapped, op: Loop, operands: Sequence[Var], own: Sequence[bool], size: int
) -> tuple[Var, list[bool]]:
    """The loop's results for ``size`` examples, and which of them differ between examples.

    ``own`` marks the operands that do.
    """
    batched = _Batched(mapped, op, operands, own, size)
    batched.settle()
    return batched.apart() if batched.parts else batched.together()


class _Outcome(NamedTuple):
    """The results of a path, the guards that decide that it is taken, and which of these differ."""

    given: list[tuple[Var, bool]]
    decided: list[tuple[Var, bool]]


class _Batched:
    """The loop for all examples, whose carries are batched once a pass makes them differ."""

    def __init__(
        self, mapped: Mapped, op: Loop, operands: Sequence[Var], own: Sequence[bool], size: int
    ) -> None:
        self.b = operands[0].builder
        self.mapped = mapped
        self.op = op
        self.size = size
        first, last = op.counted + op.carries, op.counted + op.carries + op.stacks
        self.count = operands[0] if op.counted else None
        self.starts = [*zip(operands[op.counted : first], own[op.counted : first], strict=True)]
        self.stacks = [*zip(operands[first:last], own[first:last], strict=True)]
        self.shared = [*zip(operands[last:], own[last:], strict=True)]
        #: Whether examples part: in the paths that they take, or in when they end.
        self.parts = bool(op.counted and own[0])
        #: The carries and written stacks that differ.
        self.own = [mark for _, mark in self.starts] + [False] * op.written

    def settle(self) -> None:
        """Find out what differs between examples in any pass."""
        before: object = None
        while not self.parts and before != (before := [*self.own]):
            for path in self.op.paths:
                if path.known:
                    with self._region() as opened:
                        outcome = self._outcome(opened.carries, opened, path)
                    self.parts |= any(own for _, own in outcome.decided)
                    for i, (_, own) in enumerate(outcome.given):
                        self.own[i] |= own
        if self.parts:
            self.own = [True] * len(self.own)

    def together(self) -> tuple[Var, list[bool]]:
        """All examples take the same paths."""
        op, traces = self.op, list[Trace | None]()
        for path in op.paths:
            if not path.known:
                traces.append(None)
                continue
            with self._region() as opened:
                given, decided = self._outcome(opened.carries, opened, path)
                for (var, _), (_, expected) in zip(decided, path.decisions, strict=True):
                    Guard(expected)(var)
                results = [self._marked(*pair) for pair in zip(given, self.own, strict=False)]
                traces.append(opened.trace(results, ends=path.ends, counted=path.counted))
        starts = [*map(self._marked, self.starts, self.own)]
        made = self._loop(traces, starts, self.count)
        return made, [*self.own, *self.own[: op.carries], False, False]

    def apart(self) -> tuple[Var, list[bool]]:
        """Examples take their own paths, and end in passes of their own."""
        op, b = self.op, self.b
        flags = [self._of_all(_ACTIVE), self._of_all(COUNT)]
        count = self.count
        if count is not None and count.ndim:
            count = FUNCTIONS["max"].record(b, count)
        ends = any(path.ends for path in op.paths)
        traces: list[Trace | None] = []
        with self._region(flags) as opened:
            if ends:
                Guard(True)(self._any(opened.carries[0]))
            traces.append(self._pass(opened))
        if not all(path.known for path in op.paths):
            traces.append(None)
        if ends:
            with self._region(flags) as opened:
                Guard(False)(self._any(opened.carries[0]))
                traces.append(opened.trace(opened.carries, ends=True, counted=False))
        begun = [b.full(1, flags[0]), b.full(0, flags[1])]
        starts = [*begun, *[self._marked(start, True) for start in self.starts]]
        made = self._loop(traces, starts, count)
        got: Loop = b.instructions[made.slot].op  # type: ignore[assignment]
        finals = [item(made, 2 + c) for c in range(op.carries)]
        written = [item(made, got.output(w)) for w in range(op.written)]
        saved = [item(made, got.saved(2 + c)) for c in range(op.carries)]
        results = [*finals, *written, *saved, item(made, got.output(op.written)), item(made, 1)]
        return Pack()(*results), [True] * len(results)

    def _pass(self, opened: Region) -> Trace:
        """A pass of examples that part, none on a path that could not be recorded."""
        op, b = self.op, self.b
        active, passes, *carries = opened.carries
        live = active
        if self.count is not None and self.count.ndim:
            live = live & Less()(b.cast(opened.number, COUNT.dtype), self.count)
        left, chosen = live, [*carries]
        written: list[Var] = []
        taken = b.full(-1, self._of_all(COUNT))
        for index, path in enumerate(op.paths):
            if not path.known:
                continue
            given, decided = self._outcome(carries, opened, path)
            mask = live
            for (var, _), (_, expected) in zip(decided, path.decisions, strict=True):
                holds = reshaped(var, (self.size,) if var.type.size == self.size else ())
                mask = mask & (holds if expected else LogicalNot()(holds))
            results = [self._marked(each, True) for each in given]
            made, wrote = results[: op.carries], results[op.carries :]
            chosen = [self._where(mask, *pair) for pair in zip(made, chosen, strict=True)]
            written = written or [b.full(0, x.type) for x in wrote]
            if path.counted:
                written = [self._where(mask, *pair) for pair in zip(wrote, written, strict=True)]
            left = left & LogicalNot()(mask)
            if path.counted:
                taken = Where()(mask, b.scalar(index, COUNT.dtype), taken)
                passes = passes + b.cast(mask, COUNT.dtype)
            if path.ends:
                active = active & LogicalNot()(mask)
        if not all(path.known for path in op.paths):
            Guard(False)(self._any(left))
        return opened.trace([active, passes, *chosen, *written, taken])

    def _outcome(self, carries: Sequence[Var], opened: Region, path: Path) -> _Outcome:
        """Record a path for all examples."""
        b, op = self.b, self.op
        inputs = [opened.number]
        stacks: dict[Var, Var] = {}
        marks = self.own[: op.carries] + [own for _, own in self.stacks + self.shared]
        values = [*carries, *opened.items, *[x for x, _ in self.shared]]
        kinds = op.body.inputs[1:]
        for var, own, kind in zip(values, marks, kinds, strict=True):
            if own:
                one = b.again(BlockArgument(opened, len(inputs)), (), kind)
                stacks[one] = var
            inputs.append(one if own else var)
        numbers = [*path.outputs, *[number for number, _ in path.decisions]]
        made = spliced(b, op.body.tape, inputs, numbers)
        of_all = self.mapped(stacks) if stacks else lambda var: (var, False)
        found = [of_all(var) for var in made]
        return _Outcome(found[: len(path.outputs)], found[len(path.outputs) :])

    def _region(self, flags: Sequence[ArrayType] = ()) -> Any:
        """A region for carries as they are marked, after ``flags``."""
        kinds = self.op.body.inputs[1:]
        pairs = zip(kinds, self.own[: self.op.carries], strict=False)
        carries = [self._of_all(kind) if own else kind for kind, own in pairs]
        items = [stack.type.item for stack, _ in self.stacks]  # type: ignore[attr-defined]
        return region(self.b, [*flags, *carries], items)

    def _loop(
        self, traces: Sequence[Trace | None], starts: Sequence[Var], count: Var | None
    ) -> Var:
        op, stacks = self.op, [stack for stack, _ in self.stacks]
        return loop(self.b, traces, starts, stacks, count, backward=op.backward, passes=op.passes)

    def _of_all(self, kind: ArrayType) -> ArrayType:
        return ArrayType(kind.dtype, (self.size, *kind.shape), kind.weak)

    def _marked(self, var: tuple[Var, bool], mark: bool) -> Var:
        """A variable, repeated for all examples if it is marked and does not differ yet."""
        x, own = var
        if own or not mark:
            return x
        return self.b.broadcast(x, (self.size, *x.type.shape))

    def _where(self, mask: Var, x: Var, y: Var) -> Var:
        return Where()(reshaped(mask, (self.size, *(1,) * (x.ndim - 1))), x, y)

    def _any(self, mask: Var) -> Var:
        found: Var = FUNCTIONS["any"].record(self.b, mask)
        return found
