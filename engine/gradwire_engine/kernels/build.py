"""From instructions to a kernel: what is stored, in which nest, and what is computed where read.

A value is stored where it must be: it is read outside, it is a reduction, or it takes long and is
read at other indices than its own. All else is an expression in the nests that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine.kernels.form import Affine, Buffer, Kernel, Load, Nest, Place, Value
from gradwire_engine.kernels.maps import MOST_PIECES, Index, flat, pieces
from gradwire_engine.kernels.nests import REDUCTIONS, NestBuilder, StoredRoot
from gradwire_engine.kernels.scans import is_scan
from gradwire_engine.kernels.views import Views
from gradwire_engine.kernels.writes import Check, Write, checks, is_written, writes
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Reduction
from gradwire_engine.tape import ArrayType, Instruction, Shape

#: Arithmetic that computing a value again takes, from which on it is stored instead, and what a
#: function takes, of which operations say how much they do.
_STORED_WORK = 8
#: Scans of fewer rows are computed element by element, but not what they are of.
_FEW = 8
#: Most operations and views that a value may be from what is stored: beyond, it is stored itself.
_DEEPEST = 150


class Operand(NamedTuple):
    """A slot that is read, in memory as its axes are in this ``order``; None for row-major."""

    slot: int
    order: tuple[int, ...] | None = None


class Step(NamedTuple):
    """One of several writes of a slot, or a check of it."""

    slot: int
    does: Write | Check


class Group:
    """Instructions of a tape that become one kernel.

    ``results`` are the slots that are read outside, ``checked`` those of them of which it is told
    whether all their elements are finite. ``order_of`` a slot outside is that of its axes in
    memory.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        views: Views,
        slots: Sequence[int],
        results: Sequence[int],
        checked: Iterable[int] = (),
        order_of: Callable[[int], tuple[int, ...] | None] = lambda _: None,
    ) -> None:
        self._made = instructions
        self._order_of = order_of
        self._views = views
        self._slots = slots
        self._within = {*slots}
        self._results = results
        #: The slots that the last results tell of whether they are finite.
        self.checked: list[int] = []
        #: What is read of outside.
        self.operands: list[Operand] = []
        self._buffers: dict[Operand, int] = {}
        self._numbers: dict[str, int] = {}
        #: What is stored by steps, and these by numbers of their own.
        self._written: set[int] = set()
        self._steps: dict[int, Step] = {}
        self._checked: dict[Check, int] = {}
        self._roots = self._stored()
        self.checked = [slot for slot in checked if self._is_stored_whole(slot)]

    def kernel(self) -> Kernel:
        """The kernel."""
        reducing: dict[tuple[int, Shape], StoredRoot] = {}
        for root in self._roots.values():
            if root.kept < len(root.lengths) and not (root.labels or root.scans):
                reducing.setdefault((root.level, root.whole), root)
        nests: dict[tuple[object, ...], list[int]] = {}
        for slot, root in self._roots.items():
            if slot not in self._written:
                nests.setdefault(self._nest_key(slot, root, reducing), []).append(slot)
        other = [s for s in self._roots if s not in {*self._results} and s not in self._steps]
        stored = [*self._results, *other]
        order = sorted(nests.values(), key=lambda slots: self._roots[slots[0]].level)
        # operands are numbered as they are read: buffers get their numbers at the end
        made = [NestBuilder(self, slots).nest() for slots in order]
        read = {
            node.buffer
            for nest in made
            for node in nest.nodes
            if isinstance(node, Load) and node.buffer >= 0
        }
        buffers = [self._buffer(*operand) for operand in self.operands]
        places = {~k: Place(k) for k in range(len(self.operands))}
        numbers: dict[str, list[int]] = {}
        for slot in stored:
            if slot not in self._results and slot not in read:
                continue
            buffer = self._buffer(slot)
            if buffer.shape:
                places[slot] = Place(len(buffers))
                buffers.append(buffer)
            else:
                numbers.setdefault(buffer.char, []).append(slot)
        for char, slots in numbers.items():  # numbers are stored together
            places.update({slot: Place(len(buffers), k) for k, slot in enumerate(slots)})
            buffers.append(Buffer((len(slots),), char))
        for flag in self.checked:
            places[self._flag(flag)] = Place(len(buffers))
            buffers.append(Buffer((), "d"))
        if self._checked:
            places[self.fault] = Place(len(buffers))
            buffers.append(Buffer((), "?"))
        return Kernel(
            tuple(buffers),
            len(self.operands),
            tuple([places[slot] for slot in self._results]),
            tuple([places[self._flag(flag)].buffer for flag in self.checked]),
            tuple([_placed(nest, places) for nest in made]),
            tuple(map(float.fromhex, self._numbers)),
            (places[self.fault].buffer,) if self._checked else (),
        )

    # What is stored

    def _stored(self) -> dict[int, StoredRoot]:
        """How each stored slot is computed, in order."""
        made, within = self._made, self._within
        results = {*self._results}
        forced = self._read_elsewhere()
        roots: dict[int, StoredRoot] = {}
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
            assert isinstance(kind, ArrayType)
            shapes: list[Shape] = [made[a].type.shape for a in args]  # type: ignore[union-attr]
            for check in checks(op, args, shapes):
                if check not in self._checked:
                    level = readable(check.slot, own=True)
                    self._checked[check] = self._step(roots, check.slot, check, level)
            pointwise = op.elementwise or isinstance(op, AsType)
            level, later, deepest = 0, 0, 0
            for arg in args:
                base = self._views.bases[arg]
                deepest = max(deepest, depth.get(base, 0) + self._views.passed[arg])
                if base not in within:
                    continue
                own = pointwise and made[arg].type.shape == kind.shape  # type: ignore[union-attr]
                own = (own or type(op) in REDUCTIONS) and base == arg
                level = max(level, same[base] if own else ready[base])
                later = max(later, ready[base])
            depth[slot] = 1 + deepest
            if self._is_written(slot, results, forced):
                level = -1
                for write in writes(op, kind.shape, shapes):
                    first = len(args) if write.operand is None else write.operand
                    read = args if write.selects else args[first : first + 1]
                    own = not write.selects
                    begin = max([readable(arg, own=own) for arg in read], default=0)
                    begin = max(begin, level + 1) if write.selects else begin
                    self._step(roots, slot, write, begin)
                    level = max(level, begin)
                self._written.add(slot)
                roots[slot] = self._root(slot, level)
                same[slot] = ready[slot] = level + 1
                depth[slot] = 0
                continue
            scans = self._scans(slot)
            reduces = type(op) in REDUCTIONS or isinstance(op, Contract) or scans
            if reduces or slot in results or slot in forced or depth[slot] > _DEEPEST:
                roots[slot] = self._root(slot, level)
                same[slot], ready[slot] = level + reduces, level + 1
                depth[slot] = 0
            else:
                same[slot], ready[slot] = level, max(level, later)
        return roots

    def _step(
        self, roots: dict[int, StoredRoot], slot: int, does: Write | Check, level: int
    ) -> int:
        """The number of a new step."""
        number = 3 * len(self._made) + len(self._steps)
        self._steps[number] = Step(slot, does)
        shape = does.domain if isinstance(does, Write) else self._made[slot].type.shape  # type: ignore[union-attr]
        roots[number] = StoredRoot(level, shape, len(shape), tuple(range(len(shape))))
        return number

    def _scans(self, slot: int) -> bool:
        """Whether a slot is computed by passes that carry values on."""
        op, args, kind, _ = self._made[slot]
        return is_scan(op, kind, [self._made[a].type for a in args])  # type: ignore[arg-type, misc]

    def _is_written(self, slot: int, results: Collection[int], forced: Collection[int]) -> bool:
        """Whether a slot is stored by steps: joined arrays if they are stored at all."""
        op, args, kind, _ = self._made[slot]
        if isinstance(op, Concatenate | Stack):
            return slot in results or slot in forced or len(args) > MOST_PIECES
        return is_written(op, kind, [self._made[a].type for a in args])  # type: ignore[arg-type, misc]

    def _read_elsewhere(self) -> set[int]:
        """What takes long to compute and is read at other indices, or more than once."""
        made, within, views = self._made, self._within, self._views
        uses: dict[int, int] = {}
        for slot in self._slots:
            for arg in made[slot].args:
                base = views.bases[arg]
                uses[base] = uses.get(base, 0) + 1
        work: dict[int, int] = {}
        forced: set[int] = set()
        for slot in self._slots:
            op, args, kind, _ = made[slot]
            assert isinstance(kind, ArrayType)
            chosen = pieces(op, len(args))
            total = getattr(op, "flops_per_element", 0) + chosen
            for arg in args:
                base = views.bases[arg]
                if base not in within:
                    continue
                same = made[arg].type.shape == kind.shape or isinstance(op, Reduction)  # type: ignore[union-attr]
                again = base != arg or not same or uses[base] > 1 or isinstance(op, Contract)
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

    def _root(self, slot: int, level: int) -> StoredRoot:
        op, args, kind, _ = self._made[slot]
        assert isinstance(kind, ArrayType)
        if isinstance(op, Contract):
            lengths = op.lengths(*[self._made[a].type.shape for a in args])  # type: ignore[union-attr]
            result = op.labels.result
            labels = result + "".join([label for label in lengths if label not in result])
            shape = tuple([lengths[label] for label in labels])
            return StoredRoot(level, shape, len(result), tuple(range(len(labels))), labels)
        if isinstance(op, Reduction):
            shape = self._made[args[0]].type.shape  # type: ignore[union-attr]
            kept = [axis for axis in range(len(shape)) if axis not in op.axes]
            axes = (*kept, *op.axes)
            return StoredRoot(level, tuple([shape[a] for a in axes]), len(kept), axes)
        n = len(kind.shape)
        if self._scans(slot):
            last: int = op.axis  # type: ignore[attr-defined]
            order = (*[axis for axis in range(n) if axis != last], last)
            shape = tuple([kind.shape[axis] for axis in order])
            return StoredRoot(level, shape, n - 1, order, scans=True)
        return StoredRoot(level, kind.shape, n, tuple(range(n)))

    def _nest_key(
        self, slot: int, root: StoredRoot, reducing: Mapping[tuple[int, Shape], StoredRoot]
    ) -> tuple[object, ...]:
        """What roots have in common that are computed in one nest."""
        if root.labels:
            return root.level, slot
        if root.scans:
            return root.level, "scan", root.whole, root.axes
        step = self._steps.get(slot)
        if step is not None and isinstance(step.does, Write) and step.does.selects:
            return root.level, "in order", root.whole
        # a value is stored in a nest that reduces others of its shape, if there is one
        alike = root.level, root.whole
        other = reducing.get(alike, root) if root.kept == len(root.lengths) else root
        return *alike, other.axes, other.kept

    # What nests ask

    def instruction(self, slot: int) -> Instruction:
        """That of a slot."""
        return self._made[slot]

    def root(self, slot: int) -> StoredRoot | None:
        """How a slot is computed, if it is stored."""
        return self._roots.get(slot)

    def step(self, number: int) -> Step | None:
        """The step of this number, if it is one."""
        return self._steps.get(number)

    @property
    def fault(self) -> int:
        """The buffer that tells whether an index is out of range."""
        return 2 * len(self._made)

    def is_inside(self, slot: int) -> bool:
        """Whether the group computes a slot."""
        return slot in self._within

    def base(self, slot: int) -> int:
        """What a slot is a view of, itself if it is none."""
        found: int = self._views.bases[slot]
        return found

    def load(self, slot: int, index: Index, loops: int, guard: Value | None) -> Load:
        """An element of a slot that is stored."""
        kind = self._made[slot].type
        assert isinstance(kind, ArrayType)
        order = None if slot in self._within else self._order_of(slot)
        shape = kind.shape
        if order is not None:
            shape = tuple([shape[axis] for axis in order])
            index = tuple([index[axis] for axis in order])
        at = flat(index, shape, loops)
        return Load(self._number(slot, order), at, guard, kind.dtype.char)

    def load_in_order(self, slot: int, at: Affine, guard: Value | None) -> Load:
        """An element of a slot that is stored, by its place in row-major order."""
        kind = self._made[slot].type
        assert isinstance(kind, ArrayType)
        return Load(self._number(slot, None), at, guard, kind.dtype.char)

    def _number(self, slot: int, order: tuple[int, ...] | None) -> int:
        """The number of a slot's buffer: below 0 of those outside."""
        if slot in self._within:
            return slot
        operand = Operand(slot, order)
        if operand not in self._buffers:
            self._buffers[operand] = ~len(self.operands)
            self.operands.append(operand)
        return self._buffers[operand]

    def number(self, value: float) -> int:
        """The argument that a number is."""
        return self._numbers.setdefault(float.hex(value), len(self._numbers))

    def _is_stored_whole(self, slot: int) -> bool:
        """Whether a result is no reduction, of which its nest does not tell if it is finite."""
        root = self._roots[slot]
        return root.kept == len(root.lengths) and not root.labels and slot not in self._written

    def _buffer(self, slot: int, order: tuple[int, ...] | None = None) -> Buffer:
        kind = self._made[slot].type
        assert isinstance(kind, ArrayType)
        axes = range(len(kind.shape)) if order is None else order
        return Buffer(tuple([kind.shape[axis] for axis in axes]), kind.dtype.char)

    def flag(self, slot: int) -> int | None:
        """The buffer that tells whether a result is finite, if that is to be told."""
        return self._flag(slot) if slot in self.checked else None

    def _flag(self, slot: int) -> int:
        return slot + len(self._made)


def _placed(nest: Nest, places: Mapping[int, Place]) -> Nest:
    """With the places of slots in buffers; what nothing reads is not stored."""

    def moved(each: Any) -> Any:
        buffer, element = places[each.buffer]
        return each._replace(buffer=buffer, at=each.at._replace(offset=each.at.offset + element))

    nodes = [moved(node) if isinstance(node, Load) else node for node in nest.nodes]
    roots = [moved(root) for root in nest.roots if root.buffer in places]
    return nest._replace(nodes=tuple(nodes), roots=tuple(roots))
