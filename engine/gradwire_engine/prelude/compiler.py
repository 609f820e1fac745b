"""Programs of the prelude as Python that records on a builder: what they say is found out once."""

from __future__ import annotations
import __future__

import ast
import operator
from collections.abc import Callable, Sequence, Set
from typing import Any

from gradwire_engine.errors import InternalError
from gradwire_engine.frontends.text import read_body
from gradwire_engine.program import Block, Node, Target, flat_names

#: Python's own operators: what they look at is known while recording.
_PLAIN = {"is": "is", "is_not": "is not", "in": "in", "not_in": "not in"}
#: Those that are Python's on numbers known while recording, unless these were given.
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "negative": operator.neg,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "logical_and": operator.and_,
}
#: The builder, and whether a decision is true; no program has these names.
BUILDER, TRUE = "_b", "_true"


def compiled(
    definition: ast.FunctionDef, meaning: Callable[[str], Any], constants: dict[str, Any]
) -> Callable[..., Any]:
    """A recorder of a function, given the builder and then its own arguments.

    ``meaning`` gives what records each function that it calls; those among the ``constants`` need
    no builder.
    """
    spec = definition.args
    several = [spec.vararg] if spec.vararg else []
    body = _Body([*spec.args, *several, *spec.kwonlyargs], constants.keys())
    body.block(read_body(definition))
    parameters = ast.unparse(spec)  # their annotations are never evaluated
    head = f"def {definition.name}({BUILDER}, {parameters}):"
    code = "\n".join([head, *body.lines, "    return None"])
    scope = dict(constants)
    for name in body.called:
        function = constants.get(name) or meaning(name)
        if hasattr(type(function), "record"):
            function = _until_called(scope, name, function)
        scope[_identifier(name)] = function
    flags = __future__.annotations.compiler_flag
    exec(compile(code, f"<prelude: {definition.name}>", "exec", flags), scope)
    made: Callable[..., Any] = scope[definition.name]
    return made


def _until_called(scope: dict[str, Any], name: str, definition: Any) -> Callable[..., Any]:
    """A function of the prelude that is compiled when it is first called."""

    def record(*args: Any, **named: Any) -> Any:
        scope[_identifier(name)] = definition.record
        return definition.record(*args, **named)

    return record


class _Body:
    """Writes blocks as lines of Python; each node's value is an expression, mostly a name."""

    def __init__(self, parameters: Sequence[ast.arg], constants: Set[str]) -> None:
        #: Parameters that need not be known while recording, until they are assigned anew.
        self._arrays = {p.arg for p in parameters if p.annotation is None}
        #: Names that are no function's, as far as it is written.
        self._values = {p.arg for p in parameters} | constants
        #: Names of what needs no builder.
        self._constants = constants
        self.lines: list[str] = []
        #: The functions that are called.
        self.called: set[str] = set()
        self._depth = 1

    def block(self, block: Block) -> str:
        """Write all nodes; gives the last one's value."""
        values: list[str] = []
        for node in block.nodes:
            write = getattr(self, f"_{node.kind}", None)
            if write is None:
                raise InternalError(f"the prelude has no {node.kind}")
            values.append(write(node, [values[i] for i in node.args]))
        return values[-1] if values else "None"

    def _line(self, text: str) -> None:
        self.lines.append("    " * self._depth + text)

    def _named(self, node: Node, text: str) -> str:
        self._line(f"_{node.at} = {text}")
        return f"_{node.at}"

    def _inner(self, head: str, block: Block, into: str | None = None) -> None:
        self._line(head)
        self._depth += 1
        value = self.block(block)
        self._line(f"{into} = {value}" if into else "pass")
        self._depth -= 1

    def _literal(self, node: Node, given: Sequence[str]) -> str:
        return repr(node.value)

    def _load(self, node: Node, given: Sequence[str]) -> str:
        if node.value in self._values:
            return str(node.value)
        self.called.add(node.value)
        return _identifier(node.value)

    def _store(self, node: Node, given: Sequence[str]) -> str:
        self._line(f"{self._bound(node.value)} = {given[0]}")
        if self._depth == 1:
            self._arrays.difference_update(flat_names(node.value))
        return "None"

    def _bound(self, target: Target) -> str:
        self._values.update(flat_names(target))
        return _target(target)

    def _call(self, node: Node, given: Sequence[str]) -> str:
        name, keywords = node.value
        if name in _PLAIN:
            return self._named(node, f"{given[0]} {_PLAIN[name]} {given[1]}")
        if name == "not":
            return self._named(node, f"not {TRUE}({given[0]})")
        if not self._arrays.isdisjoint(given):
            name = f"np.{name}" if name in OPERATORS else name  # of literals, too
        self.called.add(name)
        first = [] if name in self._constants else [BUILDER]
        return self._recorded(node, _identifier(name), first, given, keywords)

    def _apply(self, node: Node, given: Sequence[str]) -> str:
        return self._recorded(node, given[0], [BUILDER], given[1:], node.value)

    def _recorded(
        self,
        node: Node,
        function: str,
        first: Sequence[str],
        given: Sequence[str],
        keywords: Sequence[str],
    ) -> str:
        split = len(given) - len(keywords)
        arguments = [*given[:split]]
        for key, value in zip(keywords, given[split:], strict=True):
            if key.startswith("*"):  # and the place among the others
                arguments.insert(int(key[1:]), f"*{value}")
            else:
                arguments.append(f"{key}={value}")
        return self._named(node, f"{function}({', '.join([*first, *arguments])})")

    def _method(self, node: Node, given: Sequence[str]) -> str:
        name, keywords = node.value
        return self._recorded(node, f"{given[0]}.{name}", [], given[1:], keywords)

    def _attribute(self, node: Node, given: Sequence[str]) -> str:
        return f"{given[0]}.{'type.size' if node.value == 'size' else node.value}"

    def _index(self, node: Node, given: Sequence[str]) -> str:
        return self._named(node, f"{given[0]}[{', '.join(given[1:])}]")

    def _slice(self, node: Node, given: Sequence[str]) -> str:
        return f"slice({', '.join(given)})"

    def _list(self, node: Node, given: Sequence[str]) -> str:
        return self._named(node, f"[{', '.join(given)}]")

    def _tuple(self, node: Node, given: Sequence[str]) -> str:
        return self._named(node, f"({', '.join(given)},)" if given else "()")

    def _dict(self, node: Node, given: Sequence[str]) -> str:
        items = [f"{key!r}: {value}" for key, value in zip(node.value, given, strict=True)]
        return self._named(node, f"{{{', '.join(items)}}}")

    def _choose(self, node: Node, given: Sequence[str]) -> str:
        self._inner(f"if {TRUE}({given[0]}):", node.blocks[0], f"_{node.at}")
        self._inner("else:", node.blocks[1], f"_{node.at}")
        return f"_{node.at}"

    def _and(self, node: Node, given: Sequence[str]) -> str:
        value = self._named(node, given[0])
        self._inner(f"if {TRUE}({value}):", node.blocks[0], value)
        return value

    def _or(self, node: Node, given: Sequence[str]) -> str:
        value = self._named(node, given[0])
        self._inner(f"if not {TRUE}({value}):", node.blocks[0], value)
        return value

    def _if(self, node: Node, given: Sequence[str]) -> str:
        self._inner(f"if {TRUE}({given[0]}):", node.blocks[0])
        self._inner("else:", node.blocks[1])
        return "None"

    def _for(self, node: Node, given: Sequence[str]) -> str:
        if node.blocks[1].nodes:
            raise InternalError("the prelude has no else of a loop")
        self._inner(f"for {self._bound(node.value)} in {given[0]}:", node.blocks[0])
        return "None"

    def _comprehension(self, node: Node, given: Sequence[str]) -> str:
        *conditions, element = node.blocks
        made = self._named(node, "[]")
        self._line(f"for {self._bound(node.value)} in {given[0]}:")
        self._depth += 1
        for condition in conditions:
            value = self.block(condition)
            self._line(f"if not {TRUE}({value}): continue")
        value = self.block(element)
        self._line(f"{made}.append({value})")
        self._depth -= 1
        return made

    def _return(self, node: Node, given: Sequence[str]) -> str:
        self._line(f"return {given[0]}")
        return "None"


def _identifier(name: str) -> str:
    """The name of a function in Python, whatever the variables are."""
    return "_f_" + name.replace(".", "_")


def _target(target: Target) -> str:
    return target if isinstance(target, str) else f"({', '.join(map(_target, target))},)"
