"""JSON graph → Program, equal to the program that the same source text gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.errors import InvalidProgram, Place
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.program import (
    MOST_DIGITS,
    RESULT,
    Block,
    Output,
    Program,
    Writer,
    has_too_many_digits,
    is_position,
    refolded,
)

FORMAT = "gradwire/1"
#: Deepest nesting of inline nodes, attributes and outputs.
MAX_DEPTH = 100
_PATH_CHARACTERS = frozenset(".[]")


def parse_graph(document: Mapping[str, Any], poll: Poll = no_deadline) -> Program:
    """Read a graph, or raise ``InvalidProgram`` with a pointer to what is wrong."""
    if document.get("format", FORMAT) != FORMAT:
        raise _invalid("/program/format", f'the format must be "{FORMAT}"')
    _check_fields(document, {"format", "nodes", "outputs"}, {"nodes", "outputs"}, "/program")
    reader = _Reader(poll)
    reader.w.open()
    reader.nodes(document["nodes"], "/program/nodes", (), 0)
    output = reader.output(document["outputs"], "/program/outputs")
    return Program(reader.w.close(), output, reader.w.positions, "/program/outputs")


class _Reader:
    """Writes the nodes of a graph in the order of evaluation."""

    def __init__(self, poll: Poll) -> None:
        self.w = Writer()
        self.poll = poll
        #: Names of each program around the present one, and whether they have a value yet.
        self._scopes: list[dict[str, bool]] = []

    def nodes(self, nodes: Any, at: str, parameters: Sequence[str], depth: int) -> None:
        """Write the nodes of a program, each stored under its id, and enter its names."""
        if not isinstance(nodes, list):
            raise _invalid(at, "nodes must be a list")
        ids = [
            node.get("id") if isinstance(node, dict) else None for node in polled(nodes, self.poll)
        ]
        names = dict.fromkeys(parameters, True)
        for number, name in enumerate(polled(ids, self.poll)):
            if not isinstance(name, str) or not name:
                raise _invalid(f"{at}/{number}", "a node needs an id, a non-empty string")
            if _PATH_CHARACTERS & set(name):
                message = "an id has no dots and brackets: they address members of a variable"
                raise _invalid(f"{at}/{number}/id", message)
            _check_name(name, f"{at}/{number}/id")
            if name in names:
                raise _invalid(f"{at}/{number}/id", "another node has this id already")
            names[name] = False
        self._scopes.append(names)
        for number, node in enumerate(polled(nodes, self.poll)):
            place = f"{at}/{number}"
            value = self.node(node, place, depth)
            names[node["id"]] = True
            self.w.write(place, "store", (value,), node["id"])

    def node(self, node: Mapping[str, Any], at: str, depth: int) -> int:
        """Write one operation after its operands; gives its number."""
        _check_fields(node, {"id", "op", "args", "attrs"}, {"op"}, at)
        op, args, attrs = node["op"], node.get("args", []), node.get("attrs", {})
        if not isinstance(op, str) or not op:
            raise _invalid(f"{at}/op", "op must be the name of an operation")
        if not isinstance(node.get("id"), str | None):
            raise _invalid(f"{at}/id", "an id is a string")
        if not isinstance(args, list):
            raise _invalid(f"{at}/args", "args must be a list")
        if not isinstance(attrs, dict):
            raise _invalid(f"{at}/attrs", "attrs must be an object")
        structured = _STRUCTURED.get(op)
        if structured is not None:
            number: int = structured(self, args, attrs, at, depth)
            return number
        given = enumerate(polled(args, self.poll))
        numbers = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in given]
        names = tuple(sorted(attrs))
        numbers += [self.parameter(attrs[name], f"{at}/attrs/{name}", depth) for name in names]
        kind = "method" if op in _STATE else "call"
        if kind == "method" and not args:
            raise _invalid(f"{at}/args", f"{op} needs the variable first")
        return self.w.write(at, kind, tuple(numbers), (op, names))

    def argument(self, arg: Any, at: str, depth: int) -> int:
        """Write an operand: number, boolean, name, inline node, or a list of them."""
        if depth >= MAX_DEPTH:
            raise _invalid(at, f"nested more than {MAX_DEPTH} levels deep", "give ids to the parts")
        if isinstance(arg, str):
            return self.name(arg, at)
        if isinstance(arg, dict):
            return self.node(arg, at, depth + 1)
        if isinstance(arg, list):
            given = enumerate(polled(arg, self.poll))
            items = [self.argument(item, f"{at}/{i}", depth + 1) for i, item in given]
            return self.w.write(at, "list", tuple(items))
        return self.literal(arg, at)

    def name(self, name: str, at: str) -> int:
        """Load an earlier node or a variable; a dotted name is a path into a nested variable."""
        if not name:
            raise _invalid(at, "a name is a non-empty string")
        root, *path = name.split(".")
        for part in (root, *path):
            _check_name(part, at)
        if not next((names[root] for names in reversed(self._scopes) if root in names), True):
            hint = "nodes are listed in dependency order"
            raise _invalid(at, "this names a node that is not computed yet, or a cycle", hint)
        value = self.w.write(at, "load", (), root)
        for part in path:
            if is_position(part):
                index = self.w.write(at, "literal", (), int(part))
                value = self.w.write(at, "index", (value, index))
            else:
                value = self.w.write(at, "attribute", (value,), part)
        return value

    def parameter(self, value: Any, at: str, depth: int) -> int:
        """Write a static parameter: plain JSON, its lists as tuples."""
        if depth >= MAX_DEPTH:
            raise _invalid(at, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, list):
            given = enumerate(polled(value, self.poll))
            items = [self.parameter(item, f"{at}/{i}", depth + 1) for i, item in given]
            return self.w.write(at, "tuple", tuple(items))
        if isinstance(value, dict):
            return self.function(value, (), at, depth)
        return self.literal(value, at)

    def literal(self, value: Any, at: str) -> int:
        """Write a number, a string, a boolean or null."""
        if has_too_many_digits(value):
            raise _invalid(at, f"integers have at most {MOST_DIGITS} digits")
        return self.w.write(at, "literal", (), value)

    def function(self, document: Any, parameters: Sequence[str], at: str, depth: int) -> int:
        """Write a sub-program as a function of ``parameters``; other names are the outer ones."""
        if depth >= MAX_DEPTH:
            raise _invalid(at, f"nested more than {MAX_DEPTH} levels deep")
        if not isinstance(document, dict):
            raise _invalid(at, "expected a sub-program with nodes and outputs")
        _check_fields(document, {"nodes", "outputs"}, {"outputs"}, at)
        self.w.open()
        self.nodes(document.get("nodes", []), f"{at}/nodes", parameters, depth + 1)
        self.outputs(document["outputs"], f"{at}/outputs")
        value = self._load_output(document["outputs"], f"{at}/outputs", "tuple")
        self._scopes.pop()
        self.w.write(at, "return", (value,))
        block: Block = self.w.close()
        return self.w.write(at, "function", (), tuple(parameters), (block,))

    def output(self, outputs: Any, at: str) -> Output:
        """The returned value of the program: names, or the value that paths of members lead to."""
        self.outputs(outputs, at)
        if not _has_path(outputs):
            return outputs
        value = self._load_output(outputs, at, "list")
        self.w.write(at, "store", (value,), RESULT)
        return RESULT

    def outputs(self, outputs: Any, at: str, depth: int = 0) -> Output:
        """Check the nested names of the program's outputs."""
        if depth >= MAX_DEPTH:
            raise _invalid(at, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(outputs, list):
            return [self.outputs(item, f"{at}/{i}", depth + 1) for i, item in enumerate(outputs)]
        if isinstance(outputs, dict):
            return {k: self.outputs(v, f"{at}/{k}", depth + 1) for k, v in outputs.items()}
        if not isinstance(outputs, str) or not outputs:
            raise _invalid(at, "outputs are names, nested in lists and objects")
        for part in outputs.split("."):
            _check_name(part, at)
        return outputs

    def _load_output(self, outputs: Any, at: str, kind: str) -> int:
        if isinstance(outputs, str):
            return self.name(outputs, at)
        parts = outputs.items() if isinstance(outputs, dict) else enumerate(outputs)
        values = tuple([self._load_output(item, f"{at}/{key}", kind) for key, item in parts])
        if isinstance(outputs, dict):
            return self.w.write(at, "dict", values, tuple(outputs))
        return self.w.write(at, kind, values)

    # Nodes that hold sub-programs or an index

    def _cond(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"then", "else"}, {"then", "else"}, f"{at}/attrs")
        predicate = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args)]
        branches = [self.function(attrs[k], (), f"{at}/attrs/{k}", depth) for k in ("then", "else")]
        return self.w.write(at, "call", (*predicate, *branches), ("cond", ()))

    def _while(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"carry", "cond", "body"}, {"carry", "cond", "body"}, f"{at}/attrs")
        carry = self._names(attrs["carry"], f"{at}/attrs/carry")
        parts = [self.function(attrs[k], carry, f"{at}/attrs/{k}", depth) for k in ("cond", "body")]
        initial = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args)]
        start = self.w.write(at, "tuple", tuple(initial))
        return self.w.write(at, "call", (*parts, start), ("while_loop", ()))

    def _for(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"index", "carry", "body"}, {"index", "carry", "body"}, f"{at}/attrs")
        names = [*self._names([attrs["index"]], f"{at}/attrs/index")]
        names += self._names(attrs["carry"], f"{at}/attrs/carry")
        if not args:
            raise _invalid(f"{at}/args", "for needs the number of iterations first")
        first = self.w.write(at, "literal", (), 0)
        count = self.argument(args[0], f"{at}/args/0", depth)
        body = self.function(attrs["body"], names, f"{at}/attrs/body", depth)
        initial = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args) if i]
        start = self.w.write(at, "tuple", tuple(initial))
        return self.w.write(at, "call", (first, count, body, start), ("fori_loop", ()))

    def _getitem(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"index"}, {"index"}, f"{at}/attrs")
        if not args:
            raise _invalid(f"{at}/args", "getitem needs what to index first")
        numbers = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args)]
        index = attrs["index"]
        for i, item in enumerate(index if isinstance(index, list) else [index]):
            numbers.append(self._index_item(item, f"{at}/attrs/index/{i}", depth))
        return self.w.write(at, "index", tuple(numbers))

    def _index_item(self, item: Any, at: str, depth: int) -> int:
        if item == "...":
            return self.w.write(at, "literal", (), ...)
        if isinstance(item, dict) and set(item) == {"slice"}:
            bounds = item["slice"]
            if not isinstance(bounds, list) or len(bounds) not in (2, 3):
                raise _invalid(at, "a slice is [start, stop] or [start, stop, step]")
            bounds = [*bounds, None][:3]
            return self.w.write(at, "slice", tuple([self.argument(b, at, depth) for b in bounds]))
        return self.argument(item, at, depth)

    def _names(self, names: Any, at: str) -> Sequence[str]:
        if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names):
            raise _invalid(at, "expected a list of names")
        for name in names:
            _check_name(name, at)
        return names


#: In source text these are methods of a variable.
_STATE = frozenset({"assign", "assign_add", "assign_sub"})
_STRUCTURED = {
    "cond": _Reader._cond,
    "while": _Reader._while,
    "for": _Reader._for,
    "getitem": _Reader._getitem,
}


def _has_path(outputs: Output) -> bool:
    if isinstance(outputs, str):
        return "." in outputs
    return any(_has_path(o) for o in (outputs.values() if isinstance(outputs, dict) else outputs))


def _check_fields(document: Any, known: set[str], needed: set[str], at: str) -> None:
    if not isinstance(document, Mapping):
        raise _invalid(at, "expected an object")
    for name in document:
        if name not in known:
            raise _invalid(
                at, "this object has an unknown field", f"known: {', '.join(sorted(known))}"
            )
    missing = sorted(needed - document.keys())
    if missing:
        raise _invalid(at, f"missing: {', '.join(missing)}")


def _check_name(name: str, at: str) -> None:
    refusal = refolded(name)
    if refusal is not None:
        message, hint = refusal
        raise _invalid(at, message, hint)


def _invalid(at: str, message: str, hint: str | None = None) -> InvalidProgram:
    return InvalidProgram(message, at=Place(pointer=at), hint=hint)
