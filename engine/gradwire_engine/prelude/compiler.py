"""The prelude's functions as Python that records on a builder."""

from __future__ import annotations
import __future__

import ast
import marshal
import operator
from collections.abc import Callable, Iterator, Sequence, Set
from types import CodeType
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


#: The name under which code leaves its functions.
_FUNCTIONS = "_functions"


def translated(text: str, constants: Set[str]) -> CodeType:
    """The functions of a text as Python's code, recorders given the builder and then arguments.

    Those that they call get a builder, too, but for the ``constants``. Each function is apart, so
    that what is not used is never read: its code as bytes, with the names of what it calls. A
    member of a family has one that gives the values of the family's first parameters.
    """
    found = {}
    for definition in _definitions(text):
        spec = definition.args
        several = [spec.vararg] if spec.vararg else []
        body = _Body([*spec.args, *several, *spec.kwonlyargs], constants)
        body.block(read_body(definition))
        parameters = ast.unparse(spec)  # their annotations are never evaluated
        head = f"def {_recorder(definition.name)}({BUILDER}, {parameters}):"
        lines = [head, *body.lines, "    return None"]
        code = marshal.dumps(_code("\n".join(lines), definition.name))
        found[definition.name] = (code, sorted(body.called))
    return _code(f"{_FUNCTIONS} = {found}", "functions")


def _definitions(text: str) -> Iterator[ast.FunctionDef]:
    for statement in ast.parse(text).body:
        match statement:
            case ast.FunctionDef():
                yield statement
            case ast.Assign([ast.Name(member)], ast.Call(_, given, [])):
                values = ast.unparse(ast.Tuple(given))
                yield from _definitions(f"def {given_of(member)}():\n    return {values}")


def given_of(member: str) -> str:
    """The name of the function that gives the values of the parameters that a member has."""
    return f"_given_{member}"


def _code(text: str, name: str) -> CodeType:
    flags = __future__.annotations.compiler_flag
    code: CodeType = compile(text, f"<prelude: {name}>", "exec", flags)
    return code


class Recorders:
    """The recorders of translated functions by name.

    ``meaning`` gives what records each function that they call and that is no constant.
    """

    def __init__(
        self, code: CodeType, meaning: Callable[[str], Any], constants: dict[str, Any]
    ) -> None:
        self._scope = dict(constants)
        self._meaning = meaning
        self._constants = constants
        exec(code, self._scope)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The recorder of a function, linked with what it calls."""
        scope = self._scope
        code, calls = scope[_FUNCTIONS][name]
        for called in calls:
            if _identifier(called) not in scope:
                function = self._constants.get(called) or self._meaning(called)
                if hasattr(type(function), "record"):
                    function = _until_called(scope, called, function)
                scope[_identifier(called)] = function
        exec(marshal.loads(code), scope)  # noqa: S302  it was written by this module
        recorder: Callable[..., Any] = scope[_recorder(name)]
        return recorder


def _until_called(scope: dict[str, Any], name: str, definition: Any) -> Callable[..., Any]:
    """A function of the prelude that is linked when it is first called."""

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
            return self._named(node, f"not {self._true(given[0])}")
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
        self._inner(f"if {self._true(given[0])}:", node.blocks[0], f"_{node.at}")
        self._inner("else:", node.blocks[1], f"_{node.at}")
        return f"_{node.at}"

    def _and(self, node: Node, given: Sequence[str]) -> str:
        value = self._named(node, given[0])
        self._inner(f"if {self._true(value)}:", node.blocks[0], value)
        return value

    def _or(self, node: Node, given: Sequence[str]) -> str:
        value = self._named(node, given[0])
        self._inner(f"if not {self._true(value)}:", node.blocks[0], value)
        return value

    def _if(self, node: Node, given: Sequence[str]) -> str:
        self._inner(f"if {self._true(given[0])}:", node.blocks[0])
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
            self._line(f"if not {self._true(value)}: continue")
        value = self.block(element)
        self._line(f"{made}.append({value})")
        self._depth -= 1
        return made

    def _function(self, node: Node, given: Sequence[str]) -> str:
        if given:
            raise InternalError("the prelude has no defaults of inner functions")
        self._values.update(node.value)
        around, self._arrays = self._arrays, self._arrays.difference(node.value)
        self._inner(f"def _{node.at}({', '.join([BUILDER, *node.value])}):", node.blocks[0])
        self._arrays = around
        return f"_{node.at}"

    def _true(self, value: str) -> str:
        """The code that asks the builder if a value is true."""
        self.called.add(TRUE)
        return f"{_identifier(TRUE)}({BUILDER}, {value})"

    def _return(self, node: Node, given: Sequence[str]) -> str:
        self._line(f"return {given[0]}")
        return "None"


def _recorder(name: str) -> str:
    """The name of a function's recorder in Python."""
    return "_r_" + name


def _identifier(name: str) -> str:
    """The name of a function in Python, whatever the variables are."""
    return "_f_" + name.replace(".", "_")


def _target(target: Target) -> str:
    return target if isinstance(target, str) else f"({', '.join(map(_target, target))},)"
