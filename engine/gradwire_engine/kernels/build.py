"""From instructions to a kernel: what is stored, in which nest, and what is computed where read.

A value is stored where it must be: it is read outside, it is a reduction, or it takes long and is
read at other indices than its own. All else is an expression in the nests that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gradwire_engine.kernels.form import (
    Affine,
    Apply,
    Buffer,
    Kernel,
    Literal,
    Load,
    Nest,
    Node,
    Number,
    Place,
    Reduce,
    Root,
    Store,
    Value,
    Within,
)
from gradwire_engine.kernels.maps import Bound, Element, Index, Split, aligned, flat, pieces, reads
from gradwire_engine.kernels.scalar import expression, has_expression
from gradwire_engine.kernels.views import Views
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Max, Min, Reduction, Sum
from gradwire_engine.tape import ArrayType, Instruction, Shape

#: Arithmetic that computing a value again takes, from which on it is stored instead, and what a
#: function takes, of which operations say how much they do.
_STORED_WORK = 8
#: Most operations and views that a value may be from what is stored: beyond, it is stored itself.
_DEEPEST = 150
_REDUCTIONS: Mapping[type[Op], str] = {Sum: "sum", Max: "max", Min: "min"}
#: Numbers that are part of a kernel, all others are its arguments.
_LITERALS = frozenset(map(float.hex, (0.0, 1.0, 2.0, 0.5, -1.0)))


def is_reduction(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """Whether an operation is a reduction that nests know: of floating numbers, of some."""
    if not isinstance(op, Contract) and type(op) not in _REDUCTIONS:
        return False
    if isinstance(op, Reduction) and not op.axes:
        return False
    return kind.dtype.char in "df" and all(t.dtype == kind.dtype and t.size for t in types)


class _Root(NamedTuple):
    """How a stored value is computed: in a nest of these loops, the first ``kept`` outside.

    Loop k goes along axis ``axes[k]`` of the value, of a reduction along one of its operand.
    """

    level: int
    lengths: Shape
    kept: int
    axes: tuple[int, ...]
    labels: str = ""


class Operand(NamedTuple):
    """A slot that is read, in memory as its axes are in this ``order``; None for row-major."""

    slot: int
    order: tuple[int, ...] | None = None


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
        self._roots = self._stored()
        self.checked = [slot for slot in checked if self._is_stored_whole(slot)]

    def kernel(self) -> Kernel:
        """The kernel."""
        nests: dict[tuple[object, ...], list[int]] = {}
        for slot, root in self._roots.items():
            nests.setdefault(self._nest_key(slot, root), []).append(slot)
        stored = [*self._results, *[s for s in self._roots if s not in {*self._results}]]
        order = sorted(nests.values(), key=lambda slots: self._roots[slots[0]].level)
        # operands are numbered as they are read: buffers get their numbers at the end
        made = [_NestBuilder(self, slots).nest() for slots in order]
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
        return Kernel(
            tuple(buffers),
            len(self.operands),
            tuple([places[slot] for slot in self._results]),
            tuple([places[self._flag(flag)].buffer for flag in self.checked]),
            tuple([_placed(nest, places) for nest in made]),
            tuple(map(float.fromhex, self._numbers)),
        )

    # What is stored

    def _stored(self) -> dict[int, _Root]:
        """How each stored slot is computed, in order."""
        made, within = self._made, self._within
        results = {*self._results}
        forced = self._read_elsewhere()
        roots: dict[int, _Root] = {}
        #: The levels from which a value can be read at its own index, and at any.
        same: dict[int, int] = {}
        ready: dict[int, int] = {}
        depth: dict[int, int] = {}
        for slot in self._slots:
            op, args, kind, _ = made[slot]
            assert isinstance(kind, ArrayType)
            pointwise = op.elementwise or isinstance(op, AsType)
            level, later, deepest = 0, 0, 0
            for arg in args:
                base = self._views.bases[arg]
                deepest = max(deepest, depth.get(base, 0) + self._views.passed[arg])
                if base not in within:
                    continue
                own = pointwise and made[arg].type.shape == kind.shape  # type: ignore[union-attr]
                own = (own or type(op) in _REDUCTIONS) and base == arg
                level = max(level, same[base] if own else ready[base])
                later = max(later, ready[base])
            depth[slot] = 1 + deepest
            reduces = type(op) in _REDUCTIONS or isinstance(op, Contract)
            if reduces or slot in results or slot in forced or depth[slot] > _DEEPEST:
                roots[slot] = self._root(slot, level)
                same[slot], ready[slot] = level + reduces, level + 1
                depth[slot] = 0
            else:
                same[slot], ready[slot] = level, max(level, later)
        return roots

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
                again = again or bool(chosen)
                if views.ordered[arg] or (again and work[base] >= _STORED_WORK):
                    forced.add(base)
                total += 0 if base in forced else work[base]
            work[slot] = total
        return forced

    def _root(self, slot: int, level: int) -> _Root:
        op, args, kind, _ = self._made[slot]
        assert isinstance(kind, ArrayType)
        if isinstance(op, Contract):
            lengths = op.lengths(*[self._made[a].type.shape for a in args])  # type: ignore[union-attr]
            result = op.labels.result
            labels = result + "".join([label for label in lengths if label not in result])
            shape = tuple([lengths[label] for label in labels])
            return _Root(level, shape, len(result), tuple(range(len(labels))), labels)
        if isinstance(op, Reduction):
            shape = self._made[args[0]].type.shape  # type: ignore[union-attr]
            kept = [axis for axis in range(len(shape)) if axis not in op.axes]
            axes = (*kept, *op.axes)
            return _Root(level, tuple([shape[a] for a in axes]), len(kept), axes)
        return _Root(level, kind.shape, len(kind.shape), tuple(range(len(kind.shape))))

    def _nest_key(self, slot: int, root: _Root) -> tuple[object, ...]:
        """What roots have in common that are computed in one nest."""
        if root.labels:
            return root.level, slot
        # a value is stored in a nest that reduces others of its shape, if there is one
        whole = [0] * len(root.axes)
        for axis, length in zip(root.axes, root.lengths, strict=True):
            whole[axis] = length
        if root.kept == len(root.lengths):
            for other in self._roots.values():
                reduces = other.kept < len(other.lengths) and not other.labels
                alike = other.level == root.level and len(other.axes) == len(whole)
                if reduces and alike and [whole[axis] for axis in other.axes] == [*other.lengths]:
                    return root.level, tuple(whole), other.axes, other.kept
        return root.level, tuple(whole), root.axes, root.kept

    # What nests ask

    def instruction(self, slot: int) -> Instruction:
        """That of a slot."""
        return self._made[slot]

    def root(self, slot: int) -> _Root | None:
        """How a slot is computed, if it is stored."""
        return self._roots.get(slot)

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
        return root.kept == len(root.lengths) and not root.labels

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


class _NestBuilder:
    """Writes the nodes of one nest."""

    def __init__(self, group: Group, slots: Sequence[int]) -> None:
        self._group = group
        self._slots = {*slots}
        roots = [group.root(slot) for slot in slots]
        shape = next((r for r in roots if r is not None and r.kept < len(r.lengths)), roots[0])
        assert shape is not None
        self._of = shape
        self._loops = len(shape.lengths)
        self._nodes: list[Node] = []
        self._values: dict[tuple[type[Node], Node], Value] = {}
        self._known: dict[tuple[int, Index, Value | None], Value] = {}

    def nest(self) -> Nest:
        """The nest of all its roots."""
        group, of = self._group, self._of
        loops = [self._loop(k) for k in range(self._loops)]
        # axes of length 1 have the index 0 wherever they are read
        loops = [
            self._nowhere() if n == 1 else loop for loop, n in zip(loops, of.lengths, strict=True)
        ]
        roots: list[Root] = []
        for slot in sorted(self._slots):
            root = group.root(slot)
            assert root is not None
            op, args, kind, _ = group.instruction(slot)
            assert isinstance(kind, ArrayType)
            if isinstance(op, Contract):
                at = flat(tuple(loops[: root.kept]), kind.shape, self._loops)
                value = self._product(op, args, dict(zip(root.labels, loops, strict=True)))
                roots.append(Reduce("sum", slot, at, value))
                continue
            if root.kept == len(root.lengths):  # stored at its own index
                own = [self._nowhere()] * len(kind.shape)
                for loop, axis in enumerate(of.axes):
                    own[axis] = loops[loop]
                index = tuple(own)
                value = self._defined(slot, index, None)
                roots.append(Store(slot, flat(index, kind.shape, self._loops), value))
                if (flag := group.flag(slot)) is not None:
                    roots.append(Reduce("finite", flag, self._nowhere(), value))
                continue
            index = tuple(loops[: root.kept])
            at = flat(index, kind.shape, self._loops)
            if isinstance(op, Contract):
                value = self._product(op, args, dict(zip(root.labels, loops, strict=True)))
                roots.append(Reduce("sum", slot, at, value))
            else:
                whole = [self._nowhere()] * self._loops
                for loop, axis in enumerate(of.axes):
                    whole[axis] = loops[loop]
                value = self.element(args[0], tuple(whole), None)
                roots.append(Reduce(_REDUCTIONS[type(op)], slot, at, value))
        return merged(Nest(of.lengths, of.kept, tuple(self._nodes), tuple(roots)))

    def _loop(self, number: int) -> Affine:
        return Affine(tuple([int(k == number) for k in range(self._loops)]), 0)

    def _nowhere(self) -> Affine:
        return Affine((0,) * self._loops, 0)

    def _product(self, op: Contract, args: Sequence[int], of: Mapping[str, Affine]) -> Value:
        left, right, _ = op.labels
        sides = [
            self.element(arg, tuple([of[label] for label in labels]), None)
            for arg, labels in zip(args, (left, right), strict=True)
        ]
        return self._apply("multiply", *sides)

    def element(self, slot: int, index: Index, guard: Value | None) -> Value:
        """The value of an element of a slot."""
        key = slot, index, guard
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._element(slot, index, guard)
        return found

    def _element(self, slot: int, index: Index, guard: Value | None) -> Value:
        group = self._group
        op, _, kind, _ = group.instruction(slot)
        assert isinstance(kind, ArrayType)
        if type(op) is Constant and not kind.shape:
            return self._number(op.value.item(), kind.dtype.char)
        inside = group.is_inside(slot)
        if inside and group.root(slot) is None:
            return self._defined(slot, index, guard)
        if inside and slot in self._slots and self._is_own(slot, index):
            return self._defined(slot, index, guard)
        if group.base(slot) != slot:
            return self._defined(slot, index, guard)
        return self._node(group.load(slot, index, self._loops, guard))

    def _is_own(self, slot: int, index: Index) -> bool:
        """Whether a root of this nest is read where it is computed."""
        root = self._group.root(slot)
        assert root is not None
        if root.kept < len(root.lengths) or root.labels:
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
            return x if types[0].dtype == kind.dtype else self._convert(x, kind.dtype.char)  # type: ignore[union-attr]
        if has_expression(op, kind, types):
            operands = [
                self.element(a, aligned(index, shape, self._loops), guard)
                for a, shape in zip(args, shapes, strict=True)
            ]
            return expression(op, operands, self._apply, self._literal)
        split = reads(op, Element(shapes, kind.shape, index, self._loops))
        if split is None:
            return self._in_order(args[0], index, kind.shape, guard)
        return self._split(split, args, guard)

    def _in_order(self, slot: int, index: Index, shape: Shape, guard: Value | None) -> Value:
        """An element of a stored array by its place in row-major order."""
        at = flat(index, shape, self._loops)
        return self._node(self._group.load_in_order(self._group.base(slot), at, guard))

    def _split(self, split: Split, args: Sequence[int], guard: Value | None) -> Value:
        values: list[tuple[Value | None, Value]] = []
        for number, index, bounds in split.pieces:
            holds = self._holds(bounds)
            both = guard if holds is None else holds
            if holds is not None and guard is not None:
                both = self._apply("and", guard, holds)
            values.append((holds, self.element(args[number], index, both)))
        if split.added:
            return self._added(values)
        *others, (_, last) = values
        for holds, value in reversed(others):
            assert holds is not None
            last = self._apply("where", holds, value, last)
        return last

    def _added(self, values: Sequence[tuple[Value | None, Value]]) -> Value:
        """The sum of what holds, 0 where nothing does: what is alone keeps the sign of its zero."""
        total = self._literal(0.0, values[0][1])
        held: Value | None = None
        anywhere = False
        for holds, value in values:
            add = "or" if self._nodes[value].char == "?" else "add"
            both = self._apply(add, total, value) if anywhere or held is not None else value
            if not anywhere and held is not None:
                both = self._apply("where", held, both, value)
            if holds is None:
                total, anywhere = both, True
            else:
                total = self._apply("where", holds, both, total)
                held = holds if held is None else self._apply("or", held, holds)
        return total

    def _holds(self, bounds: Sequence[Bound]) -> Value | None:
        held: Value | None = None
        for index, low, high in bounds:
            each = self._node(Within(index, low, high))
            held = each if held is None else self._apply("and", held, each)
        return held

    # Nodes

    def _node(self, node: Node) -> Value:
        key = type(node), node  # tuples of equal items are equal, whatever their types
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = len(self._nodes)
            self._nodes.append(node)
        return found

    def _number(self, value: float, char: str) -> Value:
        if char not in "df" or float.hex(value) in _LITERALS:
            return self._node(Literal(value, char))
        return self._node(Number(self._group.number(value), char))

    def _literal(self, value: float, like: Value) -> Value:
        return self._node(Literal(value, self._nodes[like].char))

    def _convert(self, value: Value, char: str) -> Value:
        return self._node(Apply("convert", (value,), char))

    def _apply(self, function: str, *args: Value) -> Value:
        char = self._nodes[args[-1]].char
        if function in _PREDICATES:
            char = "?"
        return self._node(Apply(function, args, char))


_PREDICATES = frozenset(
    "equal not_equal less less_equal greater greater_equal isnan isinf isfinite not and or".split()
)


def merged(nest: Nest) -> Nest:
    """The same with fewer loops: those that all accesses go through as through one are joined."""
    lengths, kept = [*nest.lengths], nest.kept
    affine = [
        *[node.at for node in nest.nodes if isinstance(node, Load)],
        *[root.at for root in nest.roots],
    ]
    tested = [node.at for node in nest.nodes if isinstance(node, Within)]
    keep = [True] * len(lengths)
    for loop in range(len(lengths)):
        if lengths[loop] == 1:
            keep[loop] = False
            kept -= loop < nest.kept
    last = -1
    for loop in range(len(lengths)):
        if not keep[loop]:
            continue
        both = last >= 0 and (last < nest.kept) == (loop < nest.kept)
        n = lengths[loop]
        if (
            both
            and all(a.coefficients[last] == a.coefficients[loop] * n for a in affine)
            and not any(a.coefficients[last] or a.coefficients[loop] for a in tested)
        ):
            keep[last] = False
            kept -= last < nest.kept
            lengths[loop] = n * lengths[last]
        last = loop

    def only(root: Root) -> Root:
        """Nothing is put together where no loop is left to go over."""
        if kept == sum(keep) and isinstance(root, Reduce) and root.kind != "finite":
            return Store(root.buffer, fewer(root.at), root.value)
        return root._replace(at=fewer(root.at))

    def fewer(index: Affine) -> Affine:
        return Affine(
            tuple([c for c, k in zip(index.coefficients, keep, strict=True) if k]), index.offset
        )

    def within(node: Node) -> Node:
        return node._replace(at=fewer(node.at)) if isinstance(node, Load | Within) else node

    nodes = [within(node) for node in nest.nodes]
    roots = [only(root) for root in nest.roots]
    left = tuple([n for n, k in zip(lengths, keep, strict=True) if k])
    return Nest(left, kept, tuple(nodes), tuple(roots))
