"""From instructions to nests: what is stored, in which nest, and what is computed where it is read.

A value is stored where it must be: it is read outside, it is a reduction, or it takes long and is
read at other indices than its own. All else is an expression in the nests that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradwire_engine.kernels.enclosing_scope import EnclosingScope
from gradwire_engine.kernels.form import COMPLEX, Affine, Literal, Load, Node, Number, Step, Value
from gradwire_engine.kernels.maps import MOST_PIECES, Element, Index, flat, pieces, reads
from gradwire_engine.kernels.matrices import is_small_matrix, matrix_steps
from gradwire_engine.kernels.memory import Key, Memory
from gradwire_engine.kernels.nests import NestBuilder
from gradwire_engine.kernels.outputs import REDUCTIONS, StoredOutput, is_like, stored_output
from gradwire_engine.kernels.scans import is_scan
from gradwire_engine.kernels.scatters import Check, Write, checks, is_written, writes
from gradwire_engine.kernels.views import Views
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Copy, Item
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.tape import ArrayType, Instruction, Shape, StackType

#: Arithmetic that computing a value again takes, from which on it is stored instead, and what a
#: function takes, of which operations say how much they do.
_STORED_WORK = 8
#: Scans of fewer rows are computed element by element, but not what they are of.
_FEW = 8
#: Most operations and views that a value may be from what is stored: beyond, it is stored itself.
_DEEPEST = 150
#: Numbers that are part of a kernel, all others are its arguments.
_LITERALS = frozenset(map(float.hex, (0.0, 1.0, 2.0, 0.5, -1.0)))


class Stage(NamedTuple):
    """One of several writes of a slot, or a check of it."""

    slot: int
    does: Write | Check


class Group:
    """Instructions, those at ``slots``, that become nests in so many ``outer`` loops.

    ``results`` are the slots that are read outside.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        views: Views,
        slots: Sequence[int],
        results: Sequence[int],
        memory: Memory,
        around: EnclosingScope,
        outer: int = 0,
    ) -> None:
        self._around = around
        self.memory = memory
        self.outer = outer
        self.instructions = instructions
        self._views = views
        self._slots = slots
        self._within = {*slots}
        self._results = results
        #: The buffers of what is stored.
        self._keys: dict[int, Key] = {}
        #: Slots that take several steps, loops and small matrices, with their levels.
        self._several: dict[int, int] = {}
        #: The loops that slots are results of.
        self._items: dict[int, int] = {}
        #: Slots that are stored by stages, and these by numbers of their own.
        self._written: set[int] = set()
        self._stages: dict[int, Stage] = {}
        self._checked: set[Check] = set()
        self._outputs = self._stored()

    def steps(self) -> list[Step]:
        """The nests, one after the other."""
        reducing: dict[tuple[int, Shape], StoredOutput] = {}
        for output in self._outputs.values():
            if output.kept < len(output.lengths) and output.axes and not output.scans:
                reducing.setdefault((output.level, output.whole), output)
        nests: dict[tuple[object, ...], list[int]] = {}
        for slot, output in self._outputs.items():
            if slot in self._written:
                continue
            nests.setdefault(self._nest_key(slot, output, reducing), []).append(slot)
        order = [(self._outputs[slots[0]].level, slots) for slots in nests.values()]
        order += [(level, [slot]) for slot, level in self._several.items()]
        levels: dict[int, list[Step]] = {}
        for level, slots in sorted(order, key=lambda each: each[0]):
            made = levels.setdefault(level, [])
            if slots[0] in self._several:
                made += self._steps_of(slots[0])
            else:
                made.append(NestBuilder(self, slots).nest())
        return [step for made in levels.values() for step in made]

    def _steps_of(self, slot: int) -> Sequence[Step]:
        """Those of a loop, with the slots of its results by their numbers, or of matrices."""
        if not isinstance(self.instructions[slot].op, Loop):
            return matrix_steps(self, slot)
        results = {
            self.instructions[item].op.index: item  # type: ignore[attr-defined]
            for item, of in self._items.items()
            if of == slot
        }
        return self._around.repeated(self, slot, results)

    # What is stored

    def _stored(self) -> dict[int, StoredOutput]:
        """The computation of each stored slot, in order."""
        made, within = self.instructions, self._within
        results = {*self._results}
        forced = self._read_elsewhere()
        outputs: dict[int, StoredOutput] = {}
        #: The levels from which a value can be read at its own index, and at any.
        same: dict[int, int] = {}
        ready: dict[int, int] = {}
        depth: dict[int, int] = {}

        def readable(arg: int, *, own: bool) -> int:
            """The level from which an operand can be read, at its ``own`` index or any."""
            base = self._views.bases[arg]
            return 0 if base not in within else same[base] if own and base == arg else ready[base]

        for slot in self._slots:
            op, args, kind, _ = made[slot]
            if isinstance(op, Item):
                self._items[slot] = args[0]
                same[slot] = ready[slot] = self._several[args[0]] + 1
                continue
            if self._is_several(slot):
                bases = [self._views.bases[arg] for arg in args]
                level = self._several[slot] = max([ready.get(base, 0) for base in bases], default=0)
                same[slot] = ready[slot] = level + 1
                continue
            assert isinstance(kind, ArrayType)
            shapes: list[Shape] = [made[a].type.shape for a in args]  # type: ignore[union-attr]
            for check in checks(op, args, shapes):
                if check not in self._checked:
                    self._checked.add(check)
                    self._stage(outputs, check.slot, check, readable(check.slot, own=True))
            pointwise = op.elementwise or isinstance(op, AsType | Copy)
            level, later, deepest = 0, 0, 0
            for arg in args:
                base = self._views.bases[arg]
                deepest = max(deepest, depth.get(base, 0) + self._views.passed[arg])
                if base not in within:
                    continue
                own = pointwise and made[arg].type.shape == kind.shape  # type: ignore[union-attr]
                own = (own or self._reduces_in_place(op)) and base == arg
                level = max(level, same[base] if own else ready[base])
                later = max(later, ready[base])
            depth[slot] = 1 + deepest
            if self._is_written(slot, results, forced):
                level = self._staged(outputs, slot, readable)
                outputs[slot] = self._output(slot, level)
                same[slot] = ready[slot] = level + 1
                depth[slot] = 0
                continue
            reduces = type(op) in REDUCTIONS or isinstance(op, Contract) or self._scans(slot)
            if reduces or slot in results or slot in forced or depth[slot] > _DEEPEST:
                outputs[slot] = self._output(slot, level)
                same[slot], ready[slot] = level + reduces, level + 1
                depth[slot] = 0
            else:
                same[slot], ready[slot] = level, max(level, later)
        return outputs

    def _staged(
        self, outputs: dict[int, StoredOutput], slot: int, readable: Callable[..., int]
    ) -> int:
        """The level of the last of the writes that store a slot, all of which become outputs."""
        op, args, _, _ = self.instructions[slot]
        shapes = [self.shape(arg) for arg in args]
        level = filled = -1
        for write in writes(op, self.shape(slot), shapes):
            read = args if write.selects else () if write.operand is None else [args[write.operand]]
            begin = max([readable(arg, own=not write.selects) for arg in read], default=0)
            if write.selects:
                begin = max(begin, (level if write.adds else filled) + 1)
            else:
                filled = max(filled, begin)
            self._stage(outputs, slot, write, begin)
            level = max(level, begin)
        self._written.add(slot)
        return level

    def _stage(
        self, outputs: dict[int, StoredOutput], slot: int, does: Write | Check, level: int
    ) -> None:
        """Add a stage, by a number of its own."""
        number = len(self.instructions) + len(self._stages)
        self._stages[number] = Stage(slot, does)
        shape = does.domain if isinstance(does, Write) else self.shape(slot)
        outputs[number] = StoredOutput(level, shape, len(shape), tuple(range(len(shape))))

    def _is_several(self, slot: int) -> bool:
        """True if a slot takes several steps."""
        op, args, kind, _ = self.instructions[slot]
        if isinstance(op, Loop):
            return True
        return is_small_matrix(op, kind, [self.instructions[arg].type for arg in args])

    def _scans(self, slot: int) -> bool:
        """True if a slot is computed by passes that carry values on."""
        op, args, kind, _ = self.instructions[slot]
        return is_scan(op, kind, [self.instructions[a].type for a in args])  # type: ignore[arg-type, misc]

    def _is_written(self, slot: int, results: Collection[int], forced: Collection[int]) -> bool:
        """True if a slot is stored by stages: joined arrays if they are stored at all."""
        op, args, kind, _ = self.instructions[slot]
        if isinstance(op, Concatenate | Stack):
            return slot in results or slot in forced or len(args) > MOST_PIECES
        return is_written(op, kind, [self.instructions[a].type for a in args])  # type: ignore[arg-type, misc]

    def _read_elsewhere(self) -> set[int]:
        """Values that take long to compute and are read at other indices, or more than once."""
        made, within, views = self.instructions, self._within, self._views
        uses: dict[int, int] = {}
        for slot in self._slots:
            for arg in made[slot].args:
                base = views.bases[arg]
                uses[base] = uses.get(base, 0) + 1
        work: dict[int, int] = {}
        forced: set[int] = set()
        for slot in self._slots:
            op, args, kind, _ = made[slot]
            if isinstance(op, Item):
                work[slot] = 0
                continue
            if self._is_several(slot):  # which read what is in memory
                work[slot] = 0
                forced.update([views.bases[arg] for arg in args])
                continue
            assert isinstance(kind, ArrayType)
            chosen = pieces(op, len(args))
            total = getattr(op, "flops_per_element", 0) + chosen
            for arg in args:
                base = views.bases[arg]
                if base not in within:
                    continue
                same = made[arg].type.shape == kind.shape  # type: ignore[union-attr]
                same = (same and not isinstance(op, Contract)) or self._reduces_in_place(op)
                again = base != arg or not same or uses[base] > 1
                again = again or bool(chosen) or isinstance(op, GetItem)
                again = again or (self._scans(slot) and kind.size // kind.shape[op.axis] < _FEW)  # type: ignore[attr-defined]
                joined = isinstance(op, Concatenate | Stack) and not views.ordered[arg]
                if joined and work[base] >= _STORED_WORK:
                    forced.add(slot)  # piece by piece
                    continue
                if views.ordered[arg] or (again and work[base] >= _STORED_WORK):
                    forced.add(base)
                total += 0 if base in forced else work[base]
            work[slot] = total
        return forced

    @staticmethod
    def _reduces_in_place(op: Op) -> bool:
        """True if what is reduced is read at the numbers of the loops, in a nest that may store it.

        Products of arrays are summed beside what else is done with these.
        """
        return type(op) in REDUCTIONS or is_like(op)

    def _output(self, slot: int, level: int) -> StoredOutput:
        op, args, kind, _ = self.instructions[slot]
        shapes = [self.instructions[arg].type.shape for arg in args]  # type: ignore[union-attr]
        return stored_output(op, kind.shape, shapes, level, scans=self._scans(slot))  # type: ignore[union-attr]

    def _nest_key(
        self, slot: int, output: StoredOutput, reducing: Mapping[tuple[int, Shape], StoredOutput]
    ) -> tuple[object, ...]:
        """The key of outputs that are computed in one nest."""
        if output.labels and not output.axes:
            return output.level, slot
        if output.scans:
            return output.level, "scan", output.whole, output.axes
        stage = self._stages.get(slot)
        if stage is not None and isinstance(stage.does, Write) and stage.does.selects:
            return output.level, "in order", output.whole
        # a value is stored in a nest that reduces others of its shape, if there is one
        alike = output.level, output.whole
        other = reducing.get(alike, output) if output.kept == len(output.lengths) else output
        return *alike, other.axes, other.kept

    # What nests ask

    def instruction(self, slot: int) -> Instruction:
        """The instruction of a slot."""
        return self.instructions[slot]

    def output(self, slot: int) -> StoredOutput | None:
        """The computation of a slot, if a nest stores it."""
        return self._outputs.get(slot)

    def stage(self, number: int) -> Stage | None:
        """The stage of this number, if it is one."""
        return self._stages.get(number)

    def is_inside(self, slot: int) -> bool:
        """True if the group computes a slot."""
        return slot in self._within

    def is_stored(self, slot: int) -> bool:
        """True if the group computes a slot and keeps it in memory."""
        return slot in self._outputs or slot in self._items or slot in self._several

    def is_stored_whole(self, slot: int) -> bool:
        """True if a nest stores a slot that is no reduction: it can check if that is finite."""
        if slot in self._several:
            return True
        output = self._outputs.get(slot)
        whole = output is not None and output.kept == len(output.lengths) and not output.labels
        return whole and slot not in self._written

    def base(self, slot: int) -> int:
        """The slot that a slot is a view of, itself if it is none."""
        found: int = self._views.bases[slot]
        return found

    def key(self, slot: int) -> Key:
        """The buffer of a slot that is stored."""
        if slot not in self._keys:
            kind = self.instructions[slot].type
            own = self.memory.growing if isinstance(kind, StackType) else self.memory.own
            self._keys[slot] = own(kind.shape, kind.dtype.char)  # type: ignore[union-attr]
        return self._keys[slot]

    def target(self, slot: int, index: Index, loops: int) -> tuple[Key, Affine]:
        """The place of an element of a slot."""
        elsewhere = self._around.target(slot, index, loops)
        return elsewhere or (self.key(slot), flat(index, self.shape(slot), loops))

    def flag(self, slot: int) -> Key | None:
        """The flag of a result that is checked to be finite."""
        return self._around.flag(slot)

    def shape(self, slot: int) -> Shape:
        """The lengths of a slot's axes."""
        kind = self.instructions[slot].type
        assert isinstance(kind, ArrayType)
        return kind.shape

    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Node:
        """An element of a slot that is stored, or known, or outside."""
        op, _, kind, _ = self.instructions[slot]
        if isinstance(kind, StackType):  # of which a loop reads items
            return self._around.load(slot, index, loops, guard)
        assert isinstance(kind, ArrayType)
        char = kind.dtype.char
        if type(op) is Constant and not kind.shape:
            number = op.value.item()
            if char in COMPLEX:
                key = self.memory.constant(np.asarray(op.value))
                return Load(key, flat(index, (), loops), None, char)
            if char not in "df" or float.hex(number) in _LITERALS:
                return Literal(number, char)
            return Number(self.memory.number(number), char)
        if slot in self._within:
            return Load(self.key(slot), flat(index, kind.shape, loops), guard, char)
        return self._around.load(slot, index, loops, guard)

    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Node:
        """An element of a slot that is stored or outside, by its place in row-major order."""
        if slot in self._within:
            kind = self.instructions[slot].type
            assert isinstance(kind, ArrayType)
            return Load(self.key(slot), at, guard, kind.dtype.char)
        return self._around.load_in_order(slot, at, guard)

    def read(self, slot: int, index: Index, loops: int, guard: Value | None = None) -> Node:
        """An element of a slot that is in memory, or a view of what is."""
        while self.base(slot) != slot:
            op, (x,), _, _ = self.instructions[slot]
            shape = self.shape(slot)
            split = reads(op, Element([self.shape(x)], shape, index, loops))
            if split is None:
                return self.load_in_order(self.base(slot), flat(index, shape, loops), guard)
            slot, index = x, split.pieces[0].place
        return self.load(slot, index, loops, guard)
