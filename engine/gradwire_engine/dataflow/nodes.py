"""Readers of each kind of node: each adds to the graph, given the node's operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradwire_engine.dataflow.graph import Role, Vertex
from gradwire_engine.dataflow.values import (
    Constant,
    Element,
    Value,
    Variable,
    computed,
    described,
    is_constant,
)
from gradwire_engine.frontends.phrases import spelled
from gradwire_engine.program import Block, Node, flat_names, rebound_names, stored_names

if TYPE_CHECKING:
    from gradwire_engine.dataflow.reader import Reader

#: The value of a statement.
NOTHING = Constant("None")
#: Attributes of arrays; all others are members of nested variables.
_OF_ARRAYS = frozenset("T mT real imag shape size ndim dtype".split())
#: Longest text of a constant.
_LONGEST = 200
#: Methods that give the name before the dot another value.
_REBINDING = frozenset("assign assign_add assign_sub append".split())


def _literal(r: Reader, node: Node, args: list[Value]) -> Value:
    text = spelled(node.value)
    return Constant(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _load(r: Reader, node: Node, args: list[Value]) -> Value:
    value = r.lookup(node.value)
    if isinstance(value, Vertex) and value.kind == "input" and value.at < 0:
        value.at = node.at  # a parameter's type is that of what is loaded
    return value


def _apply(r: Reader, node: Node, args: list[Value]) -> Value:
    callee = args.pop(0)
    label = (callee.name or callee.label) if isinstance(callee, Vertex) else "call"
    vertex = r.call(label, args, node.value, node.at)
    r.connect(callee, vertex, "function")
    return vertex


def _call(r: Reader, node: Node, args: list[Value]) -> Value:
    name, named = node.value
    vertex = r.call(name, args, named, node.at)
    if node.kind == "method" and name in _REBINDING:
        owner = r.nodes[node.args[0]]
        if owner.kind == "load":
            r.group.names[owner.value] = vertex
    return vertex


def _attribute(r: Reader, node: Node, args: list[Value]) -> Value:
    (value,) = args
    if node.value not in _OF_ARRAYS:
        if isinstance(value, Element):
            value = _member(value)
        if isinstance(value, Variable):
            return Variable(f"{value.path}.{node.value}")
    return r.operation(f".{node.value}", [(value, 0)], node.at)


def _index(r: Reader, node: Node, args: list[Value]) -> Value:
    value, *items = args or [NOTHING]
    text = ", ".join(map(described, items))
    if isinstance(value, Variable) and text.isdecimal():
        element = Element(value, text, node.at)
        return _member(element) if r.is_member(element) else element
    return r.operation(f"[{text}]", [(value, 0), *_computed(items, 1)], node.at)


def _member(element: Element) -> Variable:
    return Variable(f"{element.of.path}[{element.item}]")


def _computed(items: list[Value], first: int) -> list[tuple[Value, Role]]:
    return [part for i, item in enumerate(items, first) for part in computed(item, i)]


def _lazy(r: Reader, node: Node, args: list[Value]) -> Value:
    """An operation on its operand and the values of its blocks."""
    label, roles = _LAZY[node.kind]
    operands = zip([*args, *map(r.block, node.blocks)], roles, strict=True)
    return r.operation(label, operands, node.at)


#: The labels of what has lazy operands, and the roles of all its operands.
_LAZY: dict[str, tuple[str, tuple[Role, ...]]] = {
    "and": ("and", (0, 1)),
    "or": ("or", (0, 1)),
    "choose": ("if else", ("if", "then", "else")),
}


def _function(r: Reader, node: Node, args: list[Value]) -> Value:
    defaults = dict(zip(node.value[::-1], args[::-1], strict=False))
    outer, group = r.group, r.enter("function", node)
    group.is_function = True
    for name in node.value:
        given = defaults.get(name, NOTHING)
        group.names[name] = _take_in(r, name, given, "default" if name in defaults else None)
    r.block(node.blocks[0])
    made = r.operation("function", [(v, 0) for v in group.returned], node.at, "function")
    r.group = outer
    return made


def _take_in(r: Reader, label: str, value: Value, role: Role | None) -> Vertex:
    """An input of the present group, of a value around it if it has a role."""
    group = r.group
    port = r.graph.vertex("input", label, group)
    if role is not None and group.parent is not None:
        r.group = group.parent
        r.connect(value, port, role)
        r.group = group
    return port


def _comprehension(r: Reader, node: Node, args: list[Value]) -> Value:
    *tests, element = node.blocks
    outer = r.group
    _enter_loop(r, "for each", node, args)
    conditions: list[tuple[Value, Role]] = [(r.block(test), "if") for test in tests]
    made = r.operation("list", [(r.block(element), 0), *conditions], node.at, "result")
    r.group = outer
    return made


def _enter_loop(r: Reader, label: str, node: Node, args: list[Value]) -> None:
    """Enter a loop, whose items come in at an input of their own."""
    for block in node.blocks:
        for name in sorted(stored_names(block) | rebound_names(block)):
            value = r.find(name)
            if value is not None and is_constant(value):  # passes change it
                r.bind(name, r.vertex(value))
    group = r.enter(label, node)
    for iterable in args:
        names = flat_names(node.value)
        group.parameters = frozenset(names)
        group.names.update(dict.fromkeys(names, _take_in(r, ", ".join(names), iterable, "in")))


def _loop(r: Reader, node: Node, args: list[Value]) -> None:
    *conditions, body, otherwise = node.blocks
    _enter_loop(r, node.kind, node, args)
    for condition in conditions:
        r.operation("while", [(r.block(condition), 0)], node.at)
    r.block(body)
    if otherwise.nodes:
        _keep(r, _inside(r, "else", node, otherwise))
    _keep(r, r.leave())


def _inside(r: Reader, label: str, node: Node, block: Block) -> dict[str, Value]:
    """Read a block in a group of its own; gives what it stored."""
    r.enter(label, node)
    r.block(block)
    return r.leave()


def _keep(r: Reader, stored: dict[str, Value]) -> None:
    """Let names mean what a group stored."""
    r.group.names.update(stored)


def _if(r: Reader, node: Node, args: list[Value]) -> None:
    branches: list[dict[str, Value]] = []
    for label, block in zip(("if", "else"), node.blocks, strict=True):
        stored: dict[str, Value] = {}
        if block.nodes:
            r.enter(label, node)
            _take_in(r, "condition", args[0], 0)
            r.block(block)
            stored = r.leave()
        branches.append(stored)
    for name in branches[0] | branches[1]:
        ends = [branch.get(name) or r.before(name) for branch in branches]
        operands = [(v, role) for v, role in zip(ends, ("then", "else"), strict=True) if v]
        r.bind(name, r.operation("if else", operands, node.at, "merge"))


def _stop_recording(r: Reader, node: Node, args: list[Value]) -> None:
    _keep(r, _inside(r, node.kind, node, node.blocks[0]))


def _setitem(r: Reader, node: Node, args: list[Value]) -> None:
    value, *items = args
    text = ", ".join(map(described, items))
    operands = [(r.lookup(node.value), 0), (value, 1), *_computed(items, 2)]
    r.bind(node.value, r.operation(f"[{text}] =", operands, node.at))


def _jump(r: Reader, node: Node, args: list[Value]) -> None:
    r.operation(node.kind, [], node.at)


#: What reads each kind of node; a statement gives None.
KINDS: dict[str, Callable[[Reader, Node, list[Value]], Value | None]] = {
    "literal": _literal,
    "load": _load,
    "store": lambda r, node, args: r.bind(node.value, args[0]),
    "call": _call,
    "apply": _apply,
    "method": _call,
    "attribute": _attribute,
    "index": _index,
    "slice": lambda r, node, args: r.items(":", args),
    "list": lambda r, node, args: r.items("[]", args),
    "tuple": lambda r, node, args: r.items("()", args),
    "dict": lambda r, node, args: r.items("{}", args, node.value),
    "and": _lazy,
    "or": _lazy,
    "choose": _lazy,
    "function": _function,
    "comprehension": _comprehension,
    "if": _if,
    "while": _loop,
    "for": _loop,
    "stop_recording": _stop_recording,
    "setitem": _setitem,
    "return": lambda r, node, args: r.group.returned.append(r.vertex(args[0])),
    "break": _jump,
    "continue": _jump,
}
