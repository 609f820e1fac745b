"""JSON graph → Program, equal to the program that the same source text gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradwire_engine.errors import InvalidProgram, Place
from gradwire_engine.program import Block, Output, Program, Writer

FORMAT = "gradwire/1"
#: Deepest nesting of inline nodes, attributes and outputs.
MAX_DEPTH = 100


def parse_graph(document: Mapping[str, Any]) -> Program:
    """Read a graph, or raise ``InvalidProgram`` with a pointer to what is wrong."""
    if document.get("format", FORMAT) != FORMAT:
        raise _invalid("/program/format", f'the format must be "{FORMAT}"')
    _check_fields(document, {"format", "nodes", "outputs"}, {"nodes", "outputs"}, "/program")
    reader = _Reader()
    reader.w.open()
    reader.nodes(document["nodes"], "/program/nodes")
    output = reader.outputs(document["outputs"], "/program/outputs")
    return Program(reader.w.close(), output, reader.w.positions, "/program/outputs")


class _Reader:
    """Writes the nodes of a graph in the order of evaluation."""

    def __init__(self) -> None:
        self.w = Writer()
        self._later: list[set[str]] = []

    def nodes(self, nodes: Any, at: str) -> None:
        """Write named nodes, each stored under its id."""
        if not isinstance(nodes, list):
            raise _invalid(at, "nodes must be a list")
        ids = [node.get("id") if isinstance(node, dict) else None for node in nodes]
        later: set[str] = set()
        for number, name in enumerate(ids):
            if not isinstance(name, str) or not name:
                raise _invalid(f"{at}/{number}", "a node needs an id, a non-empty string")
            if name in later:
                raise _invalid(f"{at}/{number}/id", "another node has this id already")
            later.add(name)
        self._later.append(later)
        for number, node in enumerate(nodes):
            place = f"{at}/{number}"
            value = self.node(node, place, 0)
            later.discard(node["id"])
            self.w.write(place, "store", (value,), node["id"])
        self._later.pop()

    def node(self, node: Mapping[str, Any], at: str, depth: int) -> int:
        """Write one operation after its operands; gives its number."""
        _check_fields(node, {"id", "op", "args", "attrs"}, {"op"}, at)
        op, args, attrs = node["op"], node.get("args", []), node.get("attrs", {})
        if not isinstance(op, str) or not op:
            raise _invalid(f"{at}/op", "op must be the name of an operation")
        if not isinstance(args, list):
            raise _invalid(f"{at}/args", "args must be a list")
        if not isinstance(attrs, dict):
            raise _invalid(f"{at}/attrs", "attrs must be an object")
        structured = _STRUCTURED.get(op)
        if structured is not None:
            number: int = structured(self, args, attrs, at, depth)
            return number
        numbers = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args)]
        names = tuple(sorted(attrs))
        numbers += [self.parameter(attrs[name], f"{at}/attrs/{name}", depth) for name in names]
        return self.w.write(at, "call", tuple(numbers), (op, names))

    def argument(self, arg: Any, at: str, depth: int) -> int:
        """Write an operand: number, boolean, name, inline node, or a list of them."""
        if depth >= MAX_DEPTH:
            raise _invalid(at, f"nested more than {MAX_DEPTH} levels deep", "give ids to the parts")
        if isinstance(arg, str):
            return self.name(arg, at)
        if isinstance(arg, dict):
            return self.node(arg, at, depth + 1)
        if isinstance(arg, list):
            items = [self.argument(item, f"{at}/{i}", depth + 1) for i, item in enumerate(arg)]
            return self.w.write(at, "list", tuple(items))
        return self.w.write(at, "literal", (), arg)

    def name(self, name: str, at: str) -> int:
        """Load an earlier node or a variable; a dotted name is a path into a nested variable."""
        if any(name in later for later in self._later):
            hint = "nodes are listed in dependency order"
            raise _invalid(at, "this names a node that is not computed yet, or a cycle", hint)
        root, *path = name.split(".")
        value = self.w.write(at, "load", (), root)
        for part in path:
            if part.isdecimal():
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
            items = [self.parameter(item, f"{at}/{i}", depth + 1) for i, item in enumerate(value)]
            return self.w.write(at, "tuple", tuple(items))
        if isinstance(value, dict):
            return self.function(value, (), at)
        return self.w.write(at, "literal", (), value)

    def function(self, document: Any, parameters: Sequence[str], at: str) -> int:
        """Write a sub-program as a function of ``parameters``; other names are the outer ones."""
        if not isinstance(document, dict):
            raise _invalid(at, "expected a sub-program with nodes and outputs")
        _check_fields(document, {"nodes", "outputs"}, {"outputs"}, at)
        self.w.open()
        self.nodes(document.get("nodes", []), f"{at}/nodes")
        value = self._load_output(document["outputs"], f"{at}/outputs", 0)
        self.w.write(at, "return", (value,))
        block: Block = self.w.close()
        return self.w.write(at, "function", (), tuple(parameters), (block,))

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
        return outputs

    def _load_output(self, outputs: Any, at: str, depth: int) -> int:
        self.outputs(outputs, at)
        if isinstance(outputs, str):
            return self.name(outputs, at)
        parts = outputs.items() if isinstance(outputs, dict) else enumerate(outputs)
        values = [self._load_output(item, f"{at}/{key}", depth + 1) for key, item in parts]
        if isinstance(outputs, dict):
            return self.w.write(at, "dict", tuple(values), tuple(outputs))
        return self.w.write(at, "tuple", tuple(values))

    # Nodes that hold sub-programs or an index

    def _cond(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"then", "else"}, {"then", "else"}, f"{at}/attrs")
        predicate = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args)]
        branches = [self.function(attrs[k], (), f"{at}/attrs/{k}") for k in ("then", "else")]
        return self.w.write(at, "call", (*predicate, *branches), ("cond", ()))

    def _while(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"carry", "cond", "body"}, {"carry", "cond", "body"}, f"{at}/attrs")
        carry = self._names(attrs["carry"], f"{at}/attrs/carry")
        parts = [self.function(attrs[k], carry, f"{at}/attrs/{k}") for k in ("cond", "body")]
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
        body = self.function(attrs["body"], names, f"{at}/attrs/body")
        initial = [self.argument(arg, f"{at}/args/{i}", depth) for i, arg in enumerate(args) if i]
        start = self.w.write(at, "tuple", tuple(initial))
        return self.w.write(at, "call", (first, count, body, start), ("fori_loop", ()))

    def _getitem(self, args: Any, attrs: Any, at: str, depth: int) -> int:
        _check_fields(attrs, {"index"}, {"index"}, f"{at}/attrs")
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
        return names


_STRUCTURED = {
    "cond": _Reader._cond,
    "while": _Reader._while,
    "for": _Reader._for,
    "getitem": _Reader._getitem,
}


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


def _invalid(at: str, message: str, hint: str | None = None) -> InvalidProgram:
    return InvalidProgram(message, at=Place(pointer=at), hint=hint)
