"""Which sources a target depends on, where both branches of decisions were recorded.

A gradient is null where no path leads from the source to the target.  With branches on a tape, that
hangs on the values: they say which branches are taken, and paths lead through these alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import reduce
from itertools import chain
from operator import and_, or_
from typing import Any, NamedTuple

from gradwire_engine.answer import Unconnected
from gradwire_engine.compile.names import Source
from gradwire_engine.loops.loop import Loop
from gradwire_engine.loops.stacks import Stacked
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Guard, Item
from gradwire_engine.tape import Type

_NO_PATH = Unconnected("no_path", "the target does not depend on this source", None)


class _Step(NamedTuple):
    """A slot, and what it depends on: where a ``choice`` decides, one of the ``flows``."""

    slot: int
    args: Sequence[int]
    choice: int | None
    flows: Mapping[int, Sequence[int]]


class _Branching(NamedTuple):
    """An instruction with branches, of which each result is taken by an ``Item``."""

    slot: int
    #: For the number of each known path, and each result, the slots that it depends on.
    flows: Mapping[int, Sequence[Set[int]]]
    #: The slots that the decisions of each known path depend on.
    decides: Mapping[int, Set[int]]
    #: The results to which something leads that carries no gradient.
    cut: Set[int]


class Connections:
    """The sources that reach a target, as the bits of whole numbers.

    ``choices`` are the variables that say which branches values take.  There are none where all
    branches connect the same.
    """

    def __init__(
        self, b: Builder, targets: Sequence[Var], sources: Sequence[Sequence[Var]]
    ) -> None:
        self._targets = [target.slot for target in targets]
        self._made = b.instructions[: max(self._targets, default=-1) + 1]
        self._sources: dict[int, int] = {}
        for number, group in enumerate(sources):
            for var in group:
                if var.type.differentiable:
                    self._sources[var.slot] = self._sources.get(var.slot, 0) | 1 << number
        self._branching = {
            slot: _branching(slot, instruction.op, instruction.args)
            for slot, instruction in enumerate(self._made)
            if isinstance(instruction.op, Loop)
            and instruction.op.passes == 1
            and len(instruction.op.paths) > 1
        }
        some = self._masks(lambda masks: reduce(or_, masks.values()))
        every = self._masks(lambda masks: reduce(and_, masks.values()))
        #: Whether a path may end where nothing carries a gradient on: reasons would differ.
        self.ends = self._has_ends()
        self.choices: list[Var] = []
        self._steps: list[_Step] = []
        if self._targeted(every) != (1 << len(sources)) - 1:
            self.choices = [_choice(b, slot) for slot in self._branching]
            self._steps = self._reaching(some)

    def __call__(self, taken: Sequence[int]) -> int:
        """The sources that reach a target, where the choices have these values."""
        masks = dict.fromkeys(self._targets, 0) | self._sources
        for slot, args, choice, flows in self._steps:
            mask = masks.get(slot, 0)
            for arg in args if choice is None else flows[taken[choice]]:
                mask |= masks[arg]
            masks[slot] = mask
        return self._targeted(masks)

    def _has_ends(self) -> bool:
        """True if what targets are computed from, other than by deciding, carries no gradient."""
        needed = {*self._targets}
        for slot in range(len(self._made) - 1, -1, -1):
            op, args, kind, _ = self._made[slot]
            if slot not in needed:
                continue
            branching = self._branching.get(args[0]) if isinstance(op, Item) else None
            if branching is not None:
                needed.update(*[_of(flow, op) for flow in branching.flows.values()])
                if op.index in branching.cut:  # type: ignore[attr-defined]
                    return True
            elif args and not (op.differentiable and _is_differentiable(kind)):
                return True
            else:
                needed.update(args)
        return False

    def decisions(self) -> list[tuple[int, Mapping[int, int]]]:
        """The origin of each decision, and the sources that it depends on, by the path taken.

        A decision that is the same by all paths, as it has a guard, has one path, of number -1.
        """
        found: list[tuple[int, Mapping[int, int]]] = []
        masks: list[int] = []
        for slot, (op, args, _, origin) in enumerate(self._made):
            masks.append(reduce(or_, [masks[arg] for arg in args], self._sources.get(slot, 0)))
            if isinstance(op, Guard):
                found.append((origin, {-1: masks[-1]}))
            elif slot in self._branching:
                decides = self._branching[slot].decides.items()
                found.append(
                    (origin, {n: reduce(or_, [masks[at] for at in d], 0) for n, d in decides})
                )
        return found

    def _targeted(self, masks: Any) -> int:
        return reduce(or_, [masks[slot] for slot in self._targets], 0)

    def _reaching(self, some: Sequence[int]) -> list[_Step]:
        """The steps between sources and targets, in order."""
        needed, steps = {*self._targets}, list[_Step]()
        numbers = {slot: number for number, slot in enumerate(self._branching)}
        for slot in range(len(some) - 1, -1, -1):
            op, args, _, _ = self._made[slot]
            if slot not in needed or not some[slot]:
                continue
            step = _Step(slot, [arg for arg in args if some[arg]], None, {})
            if isinstance(op, Item) and (branching := self._branching.get(args[0])):
                flows = {
                    number: [at for at in _of(flow, op) if some[at]]
                    for number, flow in branching.flows.items()
                }
                step = _Step(slot, [*{*chain(*flows.values())}], numbers[args[0]], flows)
            needed.update(step.args)
            steps.append(step)
        return steps[::-1]

    def _masks(self, join: Callable[[Mapping[int, int]], int]) -> list[int]:
        """The sources that reach each slot; ``join`` says which of those by each path."""
        masks: list[int] = []
        for slot, (op, args, _, _) in enumerate(self._made):
            branching = self._branching.get(args[0]) if isinstance(op, Item) else None
            if branching is None:
                read = reduce(or_, [masks[arg] for arg in args], 0)
            else:
                flows = branching.flows.items()
                read = join(
                    {n: reduce(or_, [masks[at] for at in _of(flow, op)], 0) for n, flow in flows}
                )
            masks.append(self._sources.get(slot, 0) | read)
        return masks


def _of(flow: Sequence[Set[int]], item: Any) -> Set[int]:
    """The slots that a result depends on: none if it is none of the carries."""
    return flow[item.index] if item.index < len(flow) else frozenset()


def _branching(slot: int, op: Any, args: Sequence[int]) -> _Branching:
    tape = op.body.tape
    outside = {at: args[i - 1 + op.counted] for i, at in enumerate(tape.inputs) if i}
    reads: list[Set[int]] = []
    ends: list[bool] = []  # whether something on the way carries no gradient
    for at, (inner, inputs, kind, _) in enumerate(tape.instructions):
        own = frozenset([outside[at]] if at in outside else [])
        reads.append(own.union(*[reads[i] for i in inputs]))
        through = not inputs or (inner.differentiable and _is_differentiable(kind))
        ends.append(not through or any(ends[i] for i in inputs))
    decides = {
        number: frozenset().union(*[reads[tape.outputs[n]] for n, _ in path.decisions])
        for number, path in enumerate(op.paths)
        if path.known
    }
    flows = {
        number: [reads[tape.outputs[n]] for n in path.outputs[: op.carries]]
        for number, path in enumerate(op.paths)
        if path.known
    }
    cut = {
        n
        for path in op.paths
        for n, output in enumerate(path.outputs[: op.carries])
        if ends[tape.outputs[output]]
    }
    return _Branching(slot, flows, decides, cut)


def _is_differentiable(kind: Type) -> bool:
    return getattr(kind, "differentiable", True)


def _choice(b: Builder, slot: int) -> Var:
    """The number of the path that a pass takes."""
    op: Any = b.instructions[slot].op
    return Stacked(1, 0)(Item(op.branches)(b.vars[slot]))


class Unreached(NamedTuple):
    """Has gradients null where the branches that values take lead to no path."""

    connections: Connections
    #: The numbers of the outputs that say which branches are taken.
    outputs: Sequence[int]
    #: The structure of the gradients, with the numbers of the sources, and these.
    nested: Any
    sources: Sequence[Source]
    #: The reason that a decision is, and which sources it depends on by the path taken.
    decisions: Sequence[tuple[Unconnected, Mapping[int, int]]]
    zeros: bool

    def __call__(
        self, outputs: Sequence[Any], gradients: Any, unconnected: Mapping[str, Unconnected]
    ) -> tuple[Any, Mapping[str, Unconnected]]:
        """The gradients, and why some are null."""
        taken = [int(outputs[number][0]) for number in self.outputs]
        reached = self.connections(taken)
        cut = {
            number
            for number, known in enumerate([unconnected.get(s.path) for s in self.sources])
            if not reached >> number & 1 and (known is None or known.reason == "no_path")
        }
        if not cut:
            return gradients, unconnected
        choices = iter(taken)
        decided = [
            (why, by_path[-1] if -1 in by_path else by_path[next(choices)])
            for why, by_path in self.decisions
        ]

        def reason(number: int) -> Unconnected:
            return next((why for why, sources in decided if sources >> number & 1), _NO_PATH)

        reasons = {
            source.path: reason(number) if number in cut else unconnected[source.path]
            for number, source in enumerate(self.sources)
            if number in cut or source.path in unconnected
        }
        return gradients if self.zeros else _without(self.nested, gradients, cut), reasons


def _without(nested: Any, found: Any, cut: Set[int]) -> Any:
    """Nested gradients without those of some numbers."""
    if isinstance(nested, int):
        return None if nested in cut else found
    if isinstance(nested, Mapping):
        return {key: _without(item, found[key], cut) for key, item in nested.items()}
    if nested is None:
        return found
    return [_without(*pair, cut) for pair in zip(nested, found, strict=True)]
