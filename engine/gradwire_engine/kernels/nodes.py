"""The nodes of a nest while it is being written: each is computed once."""

from __future__ import annotations

from gradwire_engine.kernels.form import Apply, Literal, Node, Value
from gradwire_engine.kernels.scalar import char_of


class Nodes:
    """Hands out the numbers of nodes, those of equal ones only once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._values: dict[tuple[type[Node], Node], Value] = {}

    def node(self, node: Node) -> Value:
        """The value of a node."""
        key = type(node), node  # tuples of equal items are equal, whatever their types
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = len(self.nodes)
            self.nodes.append(node)
        return found

    def literal(self, value: float, like: Value) -> Value:
        """A number of the dtype of another value."""
        return self.node(Literal(value, self.nodes[like].char))

    def convert(self, value: Value, char: str) -> Value:
        """A value as another dtype."""
        return self.node(Apply("convert", (value,), char))

    def apply(self, function: str, *args: Value) -> Value:
        """A function of values."""
        char = char_of(function, [self.nodes[arg].char for arg in args])
        return self.node(Apply(function, args, char))
