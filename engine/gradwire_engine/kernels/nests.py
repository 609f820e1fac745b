"""One nest of a kernel: the expressions of what it stores, and its loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradwire_engine.kernels.form import (
    COMPLEX,
    FLOATS,
    Affine,
    Apply,
    Literal,
    Load,
    Nest,
    Node,
    Number,
    Reduce,
    Root,
    Store,
    Value,
    Within,
)
from gradwire_engine.kernels.maps import Bound, Element, Index, Split, aligned, flat, reads
from gradwire_engine.kernels.scalar import char_of, expression, has_expression
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.reductions.reductions import Max, Min, Reduction, Sum
from gradwire_engine.tape import ArrayType, Shape

if TYPE_CHECKING:
    from gradwire_engine.kernels.build import Group

#: The reductions that nests know, by their kinds.
REDUCTIONS: Mapping[type[Op], str] = {Sum: "sum", Max: "max", Min: "min"}
#: Numbers that are part of a kernel, all others are its arguments.
_LITERALS = frozenset(map(float.hex, (0.0, 1.0, 2.0, 0.5, -1.0)))


def is_reduction(op: Op, kind: ArrayType, types: Sequence[ArrayType]) -> bool:
    """Whether an operation is a reduction that nests know: of floating numbers, of some."""
    if not isinstance(op, Contract) and type(op) not in REDUCTIONS:
        return False
    if isinstance(op, Reduction) and not op.axes:
        return False
    chars = FLOATS if isinstance(op, Reduction) and type(op) is not Sum else FLOATS + COMPLEX
    return kind.dtype.char in chars and all(t.dtype == kind.dtype and t.size for t in types)


class StoredRoot(NamedTuple):
    """How a stored value is computed: in a nest of these loops, the first ``kept`` outside.

    Loop k goes along axis ``axes[k]`` of the value, of a reduction along one of its operand.
    """

    level: int
    lengths: Shape
    kept: int
    axes: tuple[int, ...]
    labels: str = ""

    @property
    def whole(self) -> Shape:
        """The lengths of the axes that loops go along."""
        lengths = [0] * len(self.axes)
        for axis, length in zip(self.axes, self.lengths, strict=True):
            lengths[axis] = length
        return tuple(lengths)


class NestBuilder:
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
                roots.append(Reduce(REDUCTIONS[type(op)], slot, at, value))
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
            return expression(op, types[-1].dtype.char, operands, self._apply, self._literal)  # type: ignore[union-attr]
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

    def _number(self, value: Any, char: str) -> Value:
        if char in COMPLEX:
            parts = [self._number(part, char.lower()) for part in (value.real, value.imag)]
            return self._apply("complex", *parts)
        if char not in FLOATS or float.hex(value) in _LITERALS:
            return self._node(Literal(value, char))
        return self._node(Number(self._group.number(value), char))

    def _literal(self, value: float, like: Value) -> Value:
        return self._node(Literal(value, self._nodes[like].char))

    def _convert(self, value: Value, char: str) -> Value:
        return self._node(Apply("convert", (value,), char))

    def _apply(self, function: str, *args: Value) -> Value:
        char = char_of(function, [self._nodes[arg].char for arg in args])
        return self._node(Apply(function, args, char))


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
