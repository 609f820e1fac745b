"""One nest of a kernel: the expressions of what it stores, and its loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gradwire_engine.kernels.form import (
    HALVES,
    Add,
    Affine,
    Carried,
    Carry,
    Count,
    Literal,
    Nest,
    Output,
    Reduce,
    Store,
    Value,
    Within,
)
from gradwire_engine.kernels.loop_coalescing import coalesced
from gradwire_engine.kernels.maps import (
    Bound,
    Element,
    Index,
    Selected,
    Split,
    aligned,
    flat,
    reads,
)
from gradwire_engine.kernels.nodes import Nodes
from gradwire_engine.kernels.outputs import REDUCTIONS
from gradwire_engine.kernels.scalar import expression, has_expression
from gradwire_engine.kernels.scans import scanned
from gradwire_engine.kernels.scatters import Check, Write, index_slots, target
from gradwire_engine.ops.conversion import AsType, Rounded
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Sum
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.kernels.groups import Group


class NestBuilder(Nodes):
    """Writes the nodes of one nest."""

    def __init__(self, group: Group, slots: Sequence[int]) -> None:
        super().__init__()
        self._group = group
        self._slots = {*slots}
        outputs = [group.output(slot) for slot in slots]
        shape = next((r for r in outputs if r is not None and r.kept < len(r.lengths)), outputs[0])
        assert shape is not None
        self._of = shape
        #: All loops, those outside the nest included.
        self._loops = group.outer + len(shape.lengths)
        self._carries: list[Carry] = []
        self._known: dict[tuple[int, Index, Value | None], Value] = {}

    def nest(self) -> Nest:
        """The nest of all its outputs."""
        group, of = self._group, self._of
        loops = [self._loop(k) for k in range(len(of.lengths))]
        # axes of length 1 have the index 0 wherever they are read
        loops = [
            self._nowhere() if n == 1 else loop for loop, n in zip(loops, of.lengths, strict=True)
        ]
        outputs: list[Output] = []
        reduces = any(n != 1 for n in of.lengths[of.kept :])
        for slot in sorted(self._slots):
            stage = group.stage(slot)
            if stage is not None:
                index, does = self._along_axes(loops), stage.does
                one = self._checked if isinstance(does, Check) else self._written
                outputs.append(one(stage.slot, does, index))  # type: ignore[arg-type]
                continue
            output = group.output(slot)
            assert output is not None
            op, args, kind, _ = group.instruction(slot)
            assert isinstance(kind, ArrayType)
            if output.scans:
                index = self._along_axes(loops)
                operands = [self.element(arg, index, None) for arg in args]
                value = scanned(op, operands, _Pass(self, loops[-1]))
                outputs.append(Store(*group.target(slot, index, self._loops), value))
                continue
            if output.kept == len(output.lengths) and not isinstance(op, Contract):
                index = self._along_axes(loops)  # stored at its own index
                value = self._defined(slot, index, None)
                outputs.append(Store(*group.target(slot, index, self._loops), value))
                if (flag := group.flag(slot)) is not None:
                    if self.nodes[value].char in HALVES:
                        value = self.convert(value, "f")
                    outputs.append(Reduce("finite", flag, self._nowhere(), value))
                continue
            index = tuple(loops[: output.kept])
            key, at = group.target(slot, index, self._loops)
            if isinstance(op, Contract):
                value = self._product(op, args, dict(zip(output.labels, loops, strict=True)))
            else:
                value = self.element(args[0], self._along_axes(loops), None)
            reduced = "sum" if isinstance(op, Contract) else REDUCTIONS[type(op)]
            if isinstance(op, Sum) and not reduces:  # sums begin with 0: that of -0 is 0
                value = self.apply("add", self.literal(0.0, value), value)
            made = Reduce(reduced, key, at, value) if reduces else Store(key, at, value)
            outputs.append(made)
        nest = Nest(
            *(of.lengths, of.kept, tuple(self.nodes), tuple(outputs)),
            group.outer,
            tuple(self._carries),
        )
        return coalesced(nest)

    def _along_axes(self, loops: Sequence[Affine]) -> Index:
        """The index whose axes the loops go along."""
        whole = [self._nowhere()] * len(loops)
        for loop, axis in zip(loops, self._of.axes, strict=True):
            whole[axis] = loop
        return tuple(whole)

    def _checked(self, slot: int, check: Check, index: Index) -> Output:
        """True if all indices are in range."""
        place = self._counted(self.element(slot, index, None), check.length)
        within = self.node(Within(self._term(place), 0, check.length))
        return Reduce("all", self._group.memory.fault, self._nowhere(), within)

    def _written(self, slot: int, write: Write, index: Index) -> Output:
        """An element that goes to its place."""
        group = self._group
        op, args, kind, _ = group.instruction(slot)
        assert isinstance(kind, ArrayType)
        shapes = [group.instruction(a).type.shape for a in args]  # type: ignore[union-attr]
        if write.operand is None:
            value = self.node(Literal(0.0, kind.dtype.char))
        else:
            own = aligned(index, shapes[write.operand], self._loops)
            value = self.element(args[write.operand], own, None)
        chosen = index_slots(op, args) if write.selects else args
        if write.selects:
            shapes = [kind.shape, *[group.instruction(a).type.shape for a in chosen]]  # type: ignore[union-attr]
        at = Element(shapes, kind.shape, index, self._loops, self._selecting([slot, *chosen], None))
        key, place = group.target(slot, target(op, write, at), self._loops)
        return (Add if write.adds else Store)(key, place, value)

    def _selecting(self, args: Sequence[int], guard: Value | None) -> Selected:
        """The elements that operands select: never a place beyond the end."""

        def selected(number: int, index: Index, length: int) -> Affine:
            place = self._counted(self.element(args[number], index, guard), length)
            within = self.node(Within(self._term(place), 0, length))
            return self._term(self.apply("where", within, place, self.literal(0.0, place)))

        return selected

    def _counted(self, index: Value, length: int) -> Value:
        """An index from the beginning, where negative ones count from the end."""
        behind = self.node(Count(self._term(index)._replace(offset=length)))
        negative = self.apply("less", index, self.literal(0.0, index))
        return self.apply("where", negative, behind, index)

    def _term(self, value: Value) -> Affine:
        return self._nowhere()._replace(terms=((value, 1),))

    def _loop(self, number: int) -> Affine:
        own = self._group.outer + number
        return Affine(tuple([int(k == own) for k in range(self._loops)]), 0)

    def _nowhere(self) -> Affine:
        return Affine((0,) * self._loops, 0)

    def _product(self, op: Contract, args: Sequence[int], of: Mapping[str, Affine]) -> Value:
        left, right, _ = op.labels
        sides = [
            self.element(arg, tuple([of[label] for label in labels]), None)
            for arg, labels in zip(args, (left, right), strict=True)
        ]
        return self.apply("multiply", *sides)

    def element(self, slot: int, index: Index, guard: Value | None) -> Value:
        """The value of an element of a slot."""
        key = slot, index, guard
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._element(slot, index, guard)
        return found

    def _element(self, slot: int, index: Index, guard: Value | None) -> Value:
        group = self._group
        if group.base(slot) != slot or (group.is_inside(slot) and not group.is_stored(slot)):
            return self._defined(slot, index, guard)
        if slot in self._slots and self._is_own(slot, index):
            return self._defined(slot, index, guard)
        return self.node(group.load(slot, index, self._loops, guard))

    def _is_own(self, slot: int, index: Index) -> bool:
        """True if a output of this nest is read where it is computed."""
        output = self._group.output(slot)
        assert output is not None
        if output.kept < len(output.lengths) or output.labels:
            return False
        lengths = self._of.lengths
        own = {
            axis: self._nowhere() if lengths[loop] == 1 else self._loop(loop)
            for loop, axis in enumerate(self._of.axes)
        }
        return all(own.get(axis) == each for axis, each in enumerate(index))

    def _defined(self, slot: int, index: Index, guard: Value | None) -> Value:
        """The value that the instruction gives of elements of its operands."""
        op, args, kind, _ = self._group.instruction(slot)
        assert isinstance(kind, ArrayType)
        types = [self._group.instruction(a).type for a in args]
        shapes = [t.shape for t in types]  # type: ignore[union-attr]
        if isinstance(op, AsType):
            x = self.element(args[0], index, guard)
            return x if types[0].dtype == kind.dtype else self.convert(x, kind.dtype.char)  # type: ignore[union-attr]
        if isinstance(op, Rounded):
            half = self.convert(self.element(args[0], index, guard), op.dtype.char)
            return self.convert(half, kind.dtype.char)
        if has_expression(op, kind, types):
            operands = [
                self.element(a, aligned(index, shape, self._loops), guard)
                for a, shape in zip(args, shapes, strict=True)
            ]
            char = types[-1].dtype.char  # type: ignore[union-attr]
            return expression(op, char, operands, self.apply, self.literal)
        selecting = self._selecting(args, guard)
        split = reads(op, Element(shapes, kind.shape, index, self._loops, selecting))
        if split is None:
            return self._in_order(args[0], index, kind.shape, guard)
        return self._split(split, args, guard)

    def _in_order(self, slot: int, index: Index, shape: Shape, guard: Value | None) -> Value:
        """An element of a stored array by its place in row-major order."""
        at = flat(index, shape, self._loops)
        return self.node(self._group.load_in_order(self._group.base(slot), at, guard))

    def _split(self, split: Split, args: Sequence[int], guard: Value | None) -> Value:
        values: list[tuple[Value | None, Value]] = []
        for number, index, bounds in split.pieces:
            holds = self._holds(bounds)
            both = guard if holds is None else holds
            if holds is not None and guard is not None:
                both = self.apply("and", guard, holds)
            values.append((holds, self.element(args[number], index, both)))
        if split.added:
            return self._added(values)
        *others, (_, last) = values
        for holds, value in reversed(others):
            assert holds is not None
            last = self.apply("where", holds, value, last)
        return last

    def _added(self, values: Sequence[tuple[Value | None, Value]]) -> Value:
        """The sum of what holds, 0 where nothing does: what is alone keeps the sign of its zero."""
        total = self.literal(0.0, values[0][1])
        held: Value | None = None
        anywhere = False
        for holds, value in values:
            add = "or" if self.nodes[value].char == "?" else "add"
            both = self.apply(add, total, value) if anywhere or held is not None else value
            if not anywhere and held is not None:
                both = self.apply("where", held, both, value)
            if holds is None:
                total, anywhere = both, True
            else:
                total = self.apply("where", holds, both, total)
                held = holds if held is None else self.apply("or", held, holds)
        return total

    def _holds(self, bounds: Sequence[Bound]) -> Value | None:
        held: Value | None = None
        for index, low, high in bounds:
            each = self.node(Within(index, low, high))
            held = each if held is None else self.apply("and", held, each)
        return held


class _Pass:
    """A pass of the scans of a nest, along ``loop``."""

    def __init__(self, nest: NestBuilder, loop: Affine) -> None:
        self._nest, self._loop = nest, loop

    def apply(self, function: str, *args: Value) -> Value:
        return self._nest.apply(function, *args)

    def literal(self, value: float, like: Value) -> Value:
        return self._nest.literal(value, like)

    def carried(self, first: float, like: Value) -> Value:
        nest = self._nest
        char = nest.nodes[like].char
        nest._carries.append(Carry(-1, first, char))
        return nest.node(Carried(len(nest._carries) - 1, char))

    def give(self, carried: Value, value: Value) -> Value:
        nest = self._nest
        node = nest.nodes[carried]
        assert isinstance(node, Carried)
        nest._carries[node.carry] = nest._carries[node.carry]._replace(value=value)
        return value

    @property
    def place(self) -> Value:
        return self._nest.node(Count(self._loop))

    @property
    def is_first(self) -> Value:
        return self._nest.node(Within(self._loop, 0, 1))
