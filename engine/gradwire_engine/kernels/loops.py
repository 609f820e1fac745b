"""Loops whose passes all take one path, as nests that are computed again and again.

A carry has a buffer, and passes put the next one into another, from which it is copied at their
end; or at once into the first, where nothing of the pass reads that any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradwire_engine.kernels.form import (
    Affine,
    Counter,
    Load,
    Nest,
    Node,
    Repeat,
    Step,
    Store,
    Value,
    nests_of,
)
from gradwire_engine.kernels.groups import Group, Surroundings
from gradwire_engine.kernels.maps import Index, flat
from gradwire_engine.kernels.memory import Key
from gradwire_engine.kernels.nests import merged
from gradwire_engine.kernels.stacks import settled
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.constants import Constant, Copy, Input
from gradwire_engine.ops.loops import Loop
from gradwire_engine.tape import ArrayType, Instruction, Shape
from gradwire_engine.traversal import ancestors


def repeated(group: Group, loop: int, results: Mapping[int, int]) -> list[Step]:
    """The nests of a ``loop`` of a group, of which these slots are results, by their numbers."""
    return _Loop(group, loop, results).steps()


class LoopBody:
    """What the passes of a loop compute: ``copies`` are slots of new carries and of what is kept.

    They are numbered as the loop's results: a new carry as the carry.
    """

    def __init__(self, op: Loop) -> None:
        tape = op.body.tape
        (path,) = op.paths
        self.op = op
        self.instructions = settled(tape.instructions)
        self.numbers: dict[int, int] = {slot: number for number, slot in enumerate(tape.inputs)}
        self.copies: dict[int, int] = {}
        ends = [tape.outputs[output] for output in path.outputs]
        begins = tape.inputs[1 : 1 + op.carries]
        self.carries = _carried(op, begins, ends)
        for c in self.carries:
            self._copy(ends[c], c)
            self._copy(begins[c], op.saved(c))
        for w, end in enumerate(ends[op.carries :]):
            self._copy(end, op.output(w))
        self.views = Views(self.instructions)
        made, bases = self.instructions, self.views.bases
        given = {s for s, i in enumerate(made) if isinstance(i.op, Input | Constant)}
        needed = ancestors(made, self.copies.values(), given)
        #: The slots that are computed.
        self.slots = sorted([slot for slot in needed if bases[slot] == slot])

    def _copy(self, slot: int, number: int) -> None:
        if number < self.op.carries or self.op.wants(number):
            _, _, kind, origin = self.instructions[slot]
            self.copies[number] = len(self.instructions)
            self.instructions.append(Instruction(Copy(), (slot,), kind, origin))


def _carried(op: Loop, begins: Sequence[int], ends: Sequence[int]) -> list[int]:
    """The carries that something is computed from: results that are wanted, or others of these."""
    made = op.body.tape.instructions
    needed = {c for c in range(op.carries) if op.wants(c) or op.wants(op.saved(c))}
    written = [s for w, s in enumerate(ends[op.carries :]) if op.wants(op.output(w))]
    while True:
        read = ancestors(made, [*written, *[ends[c] for c in needed]])
        more = needed | {c for c in range(op.carries) if begins[c] in read}
        if more == needed:
            return sorted(needed)
        needed = more


@dataclass(frozen=True)
class _Kept:
    """Where a copy goes: into a buffer, of the items of all passes if it is ``stacked``."""

    key: Key
    stacked: bool


class _Loop(Surroundings):
    """Writes the nests of a loop in a ``group``."""

    def __init__(self, group: Group, loop: int, results: Mapping[int, int]) -> None:
        op, args, _, _ = group.instruction(loop)
        assert isinstance(op, Loop)
        assert op.passes is not None
        self._op, self._passes, self._group = op, op.passes, group
        #: What is given of outside: carries, stacks, what all passes share.
        self._given = args[1:]
        self._body = LoopBody(op)
        memory = group.memory
        #: Where carries are, and the next ones.
        self._now: dict[int, Key] = {}
        self._next: dict[int, Key] = {}
        self._targets: dict[int, _Kept] = {}
        for number, slot in self._body.copies.items():
            kind = self._kind(slot)
            if number < op.carries:
                own = number in results and bool(kind.shape)
                now = group.key(results[number]) if own else memory.own(kind.shape, kind.dtype.char)
                self._now[number] = now
                self._next[number] = memory.own(kind.shape, kind.dtype.char)
                self._targets[slot] = _Kept(self._next[number], stacked=False)
            elif number in results:
                self._targets[slot] = _Kept(group.key(results[number]), stacked=True)
        self._results = results

    def steps(self) -> list[Step]:
        """What is computed before the first pass, the passes, and what after the last."""
        body, group, op = self._body, self._group, self._op
        copies = [*self._targets]
        slots = [s for s in body.slots if s in self._targets or s not in {*body.copies.values()}]
        inner = Group(
            *(body.instructions, body.views, slots, copies, group.memory, self, group.outer + 1)
        )
        steps = self._in_place(inner.steps())
        before: list[Step] = []
        after: list[Step] = []
        for c in body.carries:
            kind = self._kind(body.copies[c])
            before.append(self._begun(c, kind))
            if c in self._results and not kind.shape:
                key = group.key(self._results[c])
                after.append(_copied(self._now[c], key, kind, group.outer))
        for number, value, shape in (
            (op.trip_count, self._passes, ()),
            (op.branches, 0, (self._passes,)),
        ):
            if number in self._results:
                after.append(_filled(group.key(self._results[number]), value, shape, group.outer))
        return [*before, Repeat(self._passes, op.backward, tuple(steps)), *after]

    def _begun(self, carry: int, kind: ArrayType) -> Nest:
        """What puts the first value of a carry where it is."""
        outer, shape = self._group.outer, kind.shape
        loops = outer + len(shape)
        index = _own(shape, outer)
        value = self._group.read(self._given[carry], index, loops)
        store = Store(self._now[carry], flat(index, shape, loops), 0)
        return merged(Nest(shape, len(shape), (value,), (store,), outer))

    def _in_place(self, steps: Sequence[Step]) -> list[Step]:
        """With new carries put where the old ones are: at once, or when the pass is over."""
        nests = [*nests_of(steps)]
        at_once: dict[Key, Key] = {}
        late: list[Step] = []
        for c in self._body.carries:
            now, following = self._now[c], self._next[c]
            if _is_last_use(nests, now, following):
                at_once[following] = now
            else:
                kind = self._kind(self._body.copies[c])
                late.append(_copied(following, now, kind, self._group.outer + 1))
        moved = [_renamed(s, at_once) if isinstance(s, Nest) else s for s in steps]
        return [*moved, *late]

    # What the body asks

    def target(self, slot: int, index: Index, loops: int) -> tuple[Key, Affine] | None:
        """Where carries and what is kept go."""
        kept = self._targets.get(slot)
        if kept is None:
            return None
        shape = self._kind(slot).shape
        if kept.stacked:
            index, shape = (self._counter(loops), *index), (self._passes, *shape)
        return kept.key, flat(index, shape, loops)

    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Node:
        """The number of the pass, a carry, an item of a stack, or what all passes share."""
        kind = self._kind(slot)
        number = self._body.numbers.get(slot)
        if number is None:
            at = flat(index, kind.shape, loops)
            return Load(self._constant(slot), at, guard, kind.dtype.char)
        if number == 0:
            return Counter(self._counter(loops))
        carry = number - 1
        if carry < self._op.carries:
            return Load(self._now[carry], flat(index, kind.shape, loops), guard, kind.dtype.char)
        if carry < self._op.carries + self._op.stacks:
            index = (self._counter(loops), *index)
        return self._group.read(self._given[carry], index, loops, guard)

    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Node:
        """The same, by its place in row-major order."""
        kind = self._kind(slot)
        number = self._body.numbers.get(slot)
        if number is None:
            return Load(self._constant(slot), at, guard, kind.dtype.char)
        carry = number - 1
        if carry < self._op.carries:
            return Load(self._now[carry], at, guard, kind.dtype.char)
        if carry < self._op.carries + self._op.stacks:
            coefficients = [*at.coefficients]
            coefficients[self._group.outer] += kind.size
            at = at._replace(coefficients=tuple(coefficients))
        return self._group.load_in_order(self._given[carry], at, guard)

    def repeated(self, group: Group, loop: int, results: Mapping[int, int]) -> Sequence[Step]:
        """A loop within."""
        return repeated(group, loop, results)

    def _constant(self, slot: int) -> Key:
        op = self._body.instructions[slot].op
        assert isinstance(op, Constant)
        return self._group.memory.constant(op.value)

    def _counter(self, loops: int) -> Affine:
        return Affine(tuple([int(k == self._group.outer) for k in range(loops)]), 0)

    def _kind(self, slot: int) -> ArrayType:
        kind = self._body.instructions[slot].type
        assert isinstance(kind, ArrayType)
        return kind


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
    """What copies a buffer."""
    shape = kind.shape
    at = flat(_own(shape, outer), shape, outer + len(shape))
    load = Load(source, at, None, kind.dtype.char)
    return merged(Nest(shape, len(shape), (load,), (Store(target, at, 0),), outer))


def _filled(target: Key, value: int, shape: Shape, outer: int) -> Nest:
    """What fills a buffer of integers."""
    at = flat(_own(shape, outer), shape, outer + len(shape))
    value_at = Counter(Affine((0,) * (outer + len(shape)), value))
    return merged(Nest(shape, len(shape), (value_at,), (Store(target, at, 0),), outer))


def _is_last_use(nests: Sequence[Nest], now: Key, following: Key) -> bool:
    """Whether what stores the next carry may do so where the carry is that it is computed from.

    Nothing may read that later, nor any other element of it in the same nest.
    """
    written = False
    for nest in nests:
        if written and now in _read(nest):
            return False
        for root in nest.roots:
            if root.buffer == following:
                written = True
                if not isinstance(root, Store) and now in _read(nest):
                    return False
                places = {n.at for n in nest.nodes if isinstance(n, Load) and n.buffer == now}
                if places - {root.at}:
                    return False
    return written


def _read(nest: Nest) -> set[Key]:
    return {node.buffer for node in nest.nodes if isinstance(node, Load)}


def _renamed(nest: Nest, keys: Mapping[Key, Key]) -> Nest:
    roots = [root._replace(buffer=keys.get(root.buffer, root.buffer)) for root in nest.roots]
    return nest._replace(roots=tuple(roots))
