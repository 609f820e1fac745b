"""Loops as steps that are computed again and again.

A carry has a buffer, and passes put the next one into another, from which it is copied at their
end; or at once into the first, where nothing of the pass reads that any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from gradwire_engine.kernels.bodies import LoopBody, Numbered
from gradwire_engine.kernels.enclosing_scope import EnclosingScope
from gradwire_engine.kernels.form import (
    Affine,
    Break,
    Count,
    For,
    If,
    Load,
    Nest,
    Node,
    Step,
    Store,
    Value,
    nests_of,
)
from gradwire_engine.kernels.groups import Group
from gradwire_engine.kernels.loop_coalescing import coalesced
from gradwire_engine.kernels.maps import Index, flat
from gradwire_engine.kernels.memory import Key
from gradwire_engine.kernels.stacks import passes_of
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import Constant
from gradwire_engine.tape import ArrayType, Shape


def repeated(group: Group, loop: int, results: Mapping[int, int]) -> list[Step]:
    """The steps of a ``loop`` of a group, of which these slots are results, by their numbers."""
    return _Loop(group, loop, results).steps()


class _Loop(EnclosingScope):
    """Writes the steps of a loop in a ``group``."""

    def __init__(self, group: Group, loop: int, results: Mapping[int, int]) -> None:
        op, args, _, _ = group.instruction(loop)
        assert isinstance(op, Loop)
        self._op, self._group, self._results = op, group, results
        self._passes = passes_of(group.instructions, loop)
        #: The inputs from outside: carries, stacks, values that all passes share.
        self._given = args[op.counted :]
        self._body = LoopBody(op, results)
        ways = len(op.paths) > 1 or bool(op.paths[0].decisions) or op.paths[0].ends
        self._status = group.memory.status() if ways or self._passes is None else None
        if self._passes is None and op.counted:
            group.read(args[0], (), group.outer)  # it is an operand
        #: The places of carries, and of the next ones.
        self._now: dict[int, Key] = {}
        self._next: dict[int, Key] = {}
        for c in self._body.carries:
            kind = self._body.carry(c)
            own = c in results and bool(kind.shape)
            now = group.key(results[c]) if own else self._memory(kind)
            self._now[c], self._next[c] = now, self._memory(kind)
        #: The places of decisions, by the slots that are stored there, and what later steps read.
        self._decided: dict[int, Key] = {}
        self._known: dict[int, Key] = {}

    def steps(self) -> list[Step]:
        """The steps before the first pass, the passes, and the steps after the last."""
        body, group, op, results = self._body, self._group, self._op, self._results
        before = [self._begun(c) for c in body.carries]
        paths = [(n, path) for n, path in enumerate(op.paths) if path.known]
        passes = tuple(self._ways(paths, 0, frozenset()))
        fault = group.memory.known_fault
        if fault is not None and self._passes is None:
            # What is read in place of an item that is not there may never end the passes.
            passes = (*passes, If(fault, (Break(counted=False, fails=True),), ()))
        after: list[Step] = []
        for c in body.carries:
            kind = body.carry(c)
            if c in results and not kind.shape:
                after.append(_copied(self._now[c], group.key(results[c]), kind, group.outer))
        if self._passes is not None and op.trip_count in results:
            at = Affine((0,) * group.outer, 0)
            after.append(_number(group.key(results[op.trip_count]), at, self._passes, group.outer))
        return [*before, For(self._passes, op.backward, passes, self._status), *after]

    def _ways(self, paths: Sequence[Numbered], level: int, known: AbstractSet[int]) -> list[Step]:
        """The steps of ``paths``, which have taken the same decisions up to a ``level``."""
        number, first = paths[0]
        if level == len(first.decisions):
            return self._end(number, known)
        decided = self._body.decisions[first.decisions[level][0]]
        if decided not in self._decided:
            self._decided[decided] = self._group.memory.own((), "?")
        steps, known = self._computed([decided], known)
        ways: list[tuple[Step, ...]] = []
        for outcome in (True, False):
            taken = [(n, path) for n, path in paths if path.decisions[level][1] is outcome]
            left: list[Step] = [Break(counted=False, fails=True)]
            ways.append(tuple(self._ways(taken, level + 1, known) if taken else left))
        return [*steps, If(self._decided[decided], *ways)]

    def _end(self, number: int, known: AbstractSet[int]) -> list[Step]:
        """The end of a pass on a path."""
        op, path, body = self._op, self._op.paths[number], self._body
        copies = body.copies[number]
        steps, _ = self._computed([*copies.values()], known)
        if path.counted:
            steps = self._moved(steps, only=len(op.paths) == 1)
            if op.branches in self._results:
                outer = self._group.outer + 1
                key = self._group.key(self._results[op.branches])
                steps.append(_number(key, self._counter(outer), number, outer))
        if path.ends:
            steps.append(Break(path.counted))
        return steps

    def _computed(
        self, copies: Sequence[int], known: AbstractSet[int]
    ) -> tuple[list[Step], AbstractSet[int]]:
        """The steps that compute ``copies`` beside what is ``known``, and what is known then."""
        body, group = self._body, self._group
        slots = body.needed(copies, known)
        results = body.shared(slots)
        inner = Group(
            *(body.instructions, body.views, slots, [*copies, *results]),
            *(group.memory, self, group.outer + 1),
        )
        self._known |= {slot: inner.key(slot) for slot in results}
        return inner.steps(), known | {*slots}

    def _begun(self, carry: int) -> Nest:
        """The step that puts the first value of a carry into its place."""
        outer, shape = self._group.outer, self._body.carry(carry).shape
        loops = outer + len(shape)
        index = _own(shape, outer)
        value = self._group.read(self._given[carry], index, loops)
        store = Store(self._now[carry], flat(index, shape, loops), 0)
        return coalesced(Nest(shape, len(shape), (value,), (store,), outer))

    def _moved(self, steps: Sequence[Step], *, only: bool) -> list[Step]:
        """With new carries put where the old ones are: at once, or when the pass ends."""
        nests = [*nests_of(steps)]
        at_once: dict[Key, Key] = {}
        late: list[Step] = []
        for c in self._body.carries:
            now, following = self._now[c], self._next[c]
            if only and _is_last_use(nests, now, following):
                at_once[following] = now
            else:
                late.append(_copied(following, now, self._body.carry(c), self._group.outer + 1))
        moved = [_renamed(s, at_once) if isinstance(s, Nest) else s for s in steps]
        return [*moved, *late]

    # What the body asks

    def target(self, slot: int, index: Index, loops: int) -> tuple[Key, Affine] | None:
        """The places of carries, of what is stacked and of what decides."""
        shape = self._body.kind(slot).shape
        if slot in self._decided:
            return self._decided[slot], flat(index, shape, loops)
        number = self._body.number_of.get(slot)
        if number is None:
            return None
        if number < self._op.carries:
            return self._next[number], flat(index, shape, loops)
        key = self._group.key(self._results[number])
        return key, flat((self._counter(loops), *index), (1, *shape), loops)

    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Node:
        """The number of the pass, a carry, an item of a stack, or what all passes share."""
        number = self._body.inputs.get(slot)
        if number == 0:
            return Count(self._counter(loops))
        if number is None or number <= self._op.carries:
            kind = self._body.kind(slot)
            return Load(self._key(slot), flat(index, kind.shape, loops), guard, kind.dtype.char)
        if number <= self._op.carries + self._op.stacks:
            index = (self._counter(loops), *index)
        return self._group.read(self._given[number - 1], index, loops, guard)

    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Node:
        """The same, by its place in row-major order."""
        kind = self._body.kind(slot)
        number = self._body.inputs.get(slot)
        if number is None or number <= self._op.carries:
            return Load(self._key(slot), at, guard, kind.dtype.char)
        if number <= self._op.carries + self._op.stacks:
            coefficients = [*at.coefficients]
            coefficients[self._group.outer] += kind.size
            at = at._replace(coefficients=tuple(coefficients))
        return self._group.load_in_order(self._given[number - 1], at, guard)

    def repeated(self, group: Group, loop: int, results: Mapping[int, int]) -> Sequence[Step]:
        """A loop within."""
        return repeated(group, loop, results)

    def _key(self, slot: int) -> Key:
        """The place of a carry, of a constant or of what was computed before."""
        op = self._body.instructions[slot].op
        if slot in self._known:
            return self._known[slot]
        if isinstance(op, Constant):
            return self._group.memory.constant(op.value)
        return self._now[self._body.inputs[slot] - 1]

    def _counter(self, loops: int) -> Affine:
        return Affine(tuple([int(k == self._group.outer) for k in range(loops)]), 0)

    def _memory(self, kind: ArrayType) -> Key:
        return self._group.memory.own(kind.shape, kind.dtype.char)


def _own(shape: Shape, outer: int) -> Index:
    """The index of each element in a nest along all axes; 0 along those of length 1."""
    loops = outer + len(shape)
    return tuple(
        [
            Affine(tuple([int(k == outer + axis and n > 1) for k in range(loops)]), 0)
            for axis, n in enumerate(shape)
        ]
    )


def _copied(source: Key, target: Key, kind: ArrayType, outer: int) -> Nest:
    """A step that copies a buffer."""
    shape = kind.shape
    at = flat(_own(shape, outer), shape, outer + len(shape))
    load = Load(source, at, None, kind.dtype.char)
    return coalesced(Nest(shape, len(shape), (load,), (Store(target, at, 0),), outer))


def _number(target: Key, at: Affine, value: int, outer: int) -> Nest:
    """A step that stores an integer."""
    known = Count(Affine((0,) * outer, value))
    return Nest((), 0, (known,), (Store(target, at, 0),), outer)


def _is_last_use(nests: Sequence[Nest], now: Key, following: Key) -> bool:
    """True if what stores the next carry may do so where the carry is that it is computed from.

    Nothing may read that later, nor any other element of it in the same nest.
    """
    written = False
    for nest in nests:
        places = {n.at for n in nest.nodes if isinstance(n, Load) and n.buffer == now}
        if written and places:
            return False
        for output in nest.outputs:
            if output.buffer == following:
                written = True
                if places and (places != {output.at} or not isinstance(output, Store)):
                    return False
    return written


def _renamed(nest: Nest, keys: Mapping[Key, Key]) -> Nest:
    outputs = [
        output._replace(buffer=keys.get(output.buffer, output.buffer)) for output in nest.outputs
    ]
    return nest._replace(outputs=tuple(outputs))
