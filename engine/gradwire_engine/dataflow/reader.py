"""Program → graph: names are resolved, so that edges run between operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from gradwire_engine.dataflow.graph import Graph, Group, Role, Vertex, VertexKind
from gradwire_engine.dataflow.nodes import KINDS, NOTHING
from gradwire_engine.dataflow.values import (
    Constant,
    Element,
    Items,
    Value,
    Variable,
    computed,
    described,
    is_constant,
    size,
)
from gradwire_engine.errors import Place, UnknownName
from gradwire_engine.program import Block, Node, Program, Target, flat_names, nested_nodes
from gradwire_engine.record import calls
from gradwire_engine.record.scope import MISSING


def dataflow(
    program: Program,
    variables: Iterable[str] = (),
    marks: Mapping[str, Sequence[str]] | None = None,
    most: int = 300_000,
) -> Graph:
    """The graph of a program.

    ``variables`` are the dotted paths of those that are known to be such: they may have the names
    of constants and operations, and an index into a nested one leads to a member of it. ``marks``
    are words for what some names mean at the program's end, as ``target`` and ``source``.

    Raises: ``UnknownName`` for a mark on what is not there, ``OverBudget`` where there are more
    than ``most`` vertices.
    """
    reader = Reader(program, variables, most)
    reader.read()
    for word, names in (marks or {}).items():
        for name in names:
            for vertex in reader.named(name, word):
                vertex.marks.append(word)
    for vertex in reader.graph.vertices:
        if vertex.at >= 0:
            vertex.place = program.place(vertex.at)
    return reader.graph


#: Most items that are shown one by one.
_MOST_ITEMS = 40


class Reader:
    """Walks a program's nodes; ``group`` is the one that vertices are put into at the moment."""

    def __init__(self, program: Program, variables: Iterable[str], most: int) -> None:
        self.program = program
        #: The nodes of the block that is being read.
        self.nodes: Sequence[Node] = ()
        self.graph = Graph(most)
        self.top: Group = self.graph.group("program", None)
        self.group: Group = self.top
        #: Dotted paths of all known variables, and of the levels that these are in.
        self._paths = {path for variable in variables for path in _levels(variable)}
        self._variables: dict[str, Vertex] = {}
        self._elements: dict[tuple[Element, Group], Vertex] = {}
        self._assigned = frozenset(_assigned(program.body))

    def read(self) -> None:
        """Read the whole program, what it returns last."""
        self.block(self.program.body)
        for vertex in self.top.returned:
            self.operation("returned", [(vertex, 0)], kind="output")
        self._outputs(self.program.output)

    def _outputs(self, output: Any) -> None:
        if isinstance(output, str):
            self.operation(output or "result", [(self.lookup(output), 0)], kind="output")
        elif output is not None:
            for item in output.values() if isinstance(output, dict) else output:
                self._outputs(item)

    def named(self, name: str, word: str) -> list[Vertex]:
        """The vertices that a name means at the end: one, or all members of a nested variable."""
        if name in self.top.names:
            return [self.vertex(self.top.names[name])]
        found = self._members.get(dotted(name))
        if not found:
            message = f"the program has nothing of the name '{name[:40]}'"
            raise UnknownName(message, at=Place(pointer=f"/{word}"))
        return found

    @cached_property
    def _members(self) -> dict[str, list[Vertex]]:
        """The variables by their paths, and by those of the levels that they are in."""
        members: defaultdict[str, list[Vertex]] = defaultdict(list)
        for label, vertex in self._variables.items():
            for path in _levels(dotted(label)):
                members[path].append(vertex)
        return dict(members)

    def block(self, block: Block) -> Value:
        """Read a block in the present group; gives its last value."""
        outer, self.nodes = self.nodes, block.nodes
        values: list[Value] = []
        for node in block.nodes:
            args = [values[arg] for arg in node.args]
            values.append(KINDS[node.kind](self, node, args) or NOTHING)
        self.nodes = outer
        return values[-1] if values else NOTHING

    # Groups

    def enter(self, label: str, node: Node) -> Group:
        """Open a group within the present one."""
        self.group = self.graph.group(label, self.group, self.program.place(node.at))
        return self.group

    def leave(self) -> dict[str, Value]:
        """Close the present group; gives what it stored, to be read from its results."""
        group, outer = self.group, self.group.parent
        assert outer is not None
        stored: dict[str, Value] = {}
        for name, value in group.names.items():
            if name not in group.parameters:
                result = self.operation(name or "result", [(value, 0)], kind="result")
                result.name = name or None
                stored[name] = result
        if group.returned:
            operands = [(vertex, 0) for vertex in group.returned]
            outer.returned.append(self.operation("return", operands, kind="result"))
        self.group = outer
        return stored

    # Names and values

    def find(self, name: str) -> Value | None:
        """The value of a name in the present group or around it."""
        groups = self.group.enclosing()
        return next((group.names[name] for group in groups if name in group.names), None)

    def before(self, name: str) -> Value | None:
        """The value of a name that was not stored here: a variable if it was read as one."""
        return self.find(name) or (Variable(name) if name in self._variables else None)

    def lookup(self, name: str) -> Value:
        """The value of a name in the present group."""
        found = self.find(name)
        if found is not None:
            return found
        if name not in self._paths:
            function = self._function()
            if function is not None and name in self._assigned:
                # Assigned by the time that the function is called.
                port = self.graph.vertex("input", name, function)
                function.names[name] = port
                return port
            if calls.constant(name) is not MISSING or calls.is_operation(name):
                return Constant(name)
        return Variable(name)

    def _function(self) -> Group | None:
        """The function whose body is being read."""
        return next((group for group in self.group.enclosing() if group.is_function), None)

    def is_member(self, element: Element) -> bool:
        """True if an element is known to be a member of a nested variable."""
        return f"{dotted(element.of.path)}.{element.item}" in self._paths

    def bind(self, target: Target, value: Value) -> None:
        """Let a name mean a value from now on, or names the items of one."""
        if isinstance(target, str):
            if isinstance(value, Vertex) and value.kind != "input" and value.name is None:
                value.name = target or None
                if value.kind == "function":
                    value.group.label = f"function {target}"
            self.group.names[target] = value
        elif isinstance(value, Items) and len(value.items) == len(target) and not _stars(target):
            for name, item in zip(target, value.items, strict=True):
                self.bind(name, item)
        else:
            for i, name in enumerate(target):
                starred = isinstance(name, str) and name.startswith("*")
                part = self.operation("[…]" if starred else f"[{i}]", [(value, 0)])
                self.bind(name[1:] if starred else name, part)

    def vertex(self, value: Value) -> Vertex:
        """The vertex of a value, made where there is none yet."""
        if isinstance(value, Vertex):
            return value
        if isinstance(value, Variable):
            if value.path not in self._variables:
                made = self.graph.vertex("variable", value.path, self.top)
                self._variables[value.path] = made
            return self._variables[value.path]
        if isinstance(value, Element):
            known = value, self.group
            if known not in self._elements:
                made = self.operation(f"[{value.item}]", [(value.of, 0)], value.at)
                self._elements[known] = made
            return self._elements[known]
        if is_constant(value):
            return self.graph.vertex("constant", described(value), self.group)
        return self.operation(described(value), computed(value, 0))

    def operation(
        self,
        label: str,
        values: Iterable[tuple[Value, Role]],
        at: int = -1,
        kind: VertexKind = "operation",
    ) -> Vertex:
        """A vertex with edges from its operands."""
        operands = [(self.vertex(value), role) for value, role in values]
        return self.graph.vertex(kind, label, self.group, operands, at)

    def call(self, label: str, args: Sequence[Value], names: Sequence[str], at: int) -> Vertex:
        """An operation on arguments, the last of them named; constants by name are parameters."""
        unnamed = len(args) - len(names)
        values: list[tuple[Value, Role]] = []
        parameters: dict[str, str] = {}
        for i, value in enumerate(args):
            role = i if i < unnamed else names[i - unnamed]
            if not is_constant(value):
                values += computed(value, role)
            elif isinstance(role, str):
                parameters[role] = described(value)
            else:
                values.append((value, role))
        vertex = self.operation(label, values, at)
        vertex.parameters = parameters
        return vertex

    def items(
        self, brackets: str, items: Sequence[Value], keys: tuple[str, ...] | None = None
    ) -> Value:
        """A list, tuple, dict or slice; one of very many items is a vertex of its own.

        So it is with lists of lists: each is at most so much, however often it is in others.
        """
        made = Items(brackets[0], tuple(items), brackets[1:], keys)
        if sum(map(size, items)) <= _MOST_ITEMS:
            return made
        label = f"{brackets[0]}…{brackets[1:]}"
        if is_constant(made):
            return Constant(label)
        return self.operation(label, computed(made, 0))

    def connect(self, value: Value, vertex: Vertex, role: Role) -> None:
        """Add an operand to a vertex, or a constant to its parameters."""
        if is_constant(value):
            vertex.parameters[str(role)] = described(value)
        for part, its_role in computed(value, role):
            self.graph.connect(self.vertex(part), vertex, its_role)


def dotted(path: str) -> str:
    """A path as a name: ``layers.0.w`` for ``layers[0].w``."""
    return path.replace("[", ".").replace("]", "")


def _levels(path: str) -> list[str]:
    """A dotted path and all that it leads through."""
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def _assigned(body: Block) -> Iterable[str]:
    """All names that a program assigns, in functions too."""
    for nodes in nested_nodes(body):
        for node in nodes:
            if node.kind in ("store", "for"):
                yield from flat_names(node.value)


def _stars(target: Target) -> bool:
    return any(isinstance(name, str) and name.startswith("*") for name in target)
