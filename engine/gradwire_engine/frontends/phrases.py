"""Expressions as source text, with operators and as few brackets as can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradwire_engine.program import Block, Node, Target

#: Precedence of a text in Python's grammar; ``_CONTINUED`` is that of the rest of a
#: chain of comparisons.
_CONTINUED, TUPLE, LAMBDA, _CHOOSE, _OR, _AND, _NOT, _COMPARED = range(8)
_BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _SUM, _PRODUCT, _SIGN, _POWER, _NUMBER, _PRIMARY = range(8, 18)
_BINARY: dict[str, tuple[str, int]] = {
    "add": (" + ", _SUM),
    "subtract": (" - ", _SUM),
    "multiply": (" * ", _PRODUCT),
    "divide": (" / ", _PRODUCT),
    "floor_divide": (" // ", _PRODUCT),
    "remainder": (" % ", _PRODUCT),
    "matmul": (" @ ", _PRODUCT),
    "bitwise_and": (" & ", _BIT_AND),
    "bitwise_or": (" | ", _BIT_OR),
    "bitwise_xor": (" ^ ", _BIT_XOR),
    "left_shift": (" << ", _SHIFT),
    "right_shift": (" >> ", _SHIFT),
    "power": ("**", _POWER),
    "equal": (" == ", _COMPARED),
    "not_equal": (" != ", _COMPARED),
    "less": (" < ", _COMPARED),
    "less_equal": (" <= ", _COMPARED),
    "greater": (" > ", _COMPARED),
    "greater_equal": (" >= ", _COMPARED),
    "is": (" is ", _COMPARED),
    "is_not": (" is not ", _COMPARED),
    "in": (" in ", _COMPARED),
    "not_in": (" not in ", _COMPARED),
}
_UNARY = {
    "negative": ("-", _SIGN),
    "positive": ("+", _SIGN),
    "invert": ("~", _SIGN),
    "not": ("not ", _NOT),
}


#: The precedence of a text, and its pieces.
_Text: TypeAlias = tuple[int, list[str]]


class Unsayable(Exception):
    """No text has these nodes."""


class ExpressionPrinter:
    """Prints one block: texts wait under the numbers of their nodes until one takes them."""

    def __init__(self, block: Block) -> None:
        self.nodes = block.nodes
        #: The left operand's list grows into its operation's.
        self.waiting: dict[int, _Text] = {}

    def expression(self, *, returned: bool = False) -> _Text:
        """The text of a block that is one expression, or returns one."""
        nodes = self.nodes
        if returned:
            if not nodes or nodes[-1].kind != "return":
                raise Unsayable
            nodes = nodes[:-1]
        for number, node in enumerate(nodes):
            read = EXPRESSIONS.get(node.kind)
            if read is None:
                raise Unsayable
            read(self, number, node)
        if len(self.waiting) != 1:
            raise Unsayable
        return self.waiting.popitem()[1]

    def put(self, number: int, strength: int, *pieces: str) -> None:
        """Have a text wait for what reads the node."""
        self.waiting[number] = strength, [*pieces]

    def take(self, number: int, least: int = LAMBDA) -> list[str]:
        """The text of an operand, in brackets where it holds less than it must."""
        found = self.waiting.pop(number, None)
        if found is None:
            raise Unsayable  # several read one value
        return bracketed(found, least)

    def _listed(self, numbers: Sequence[int], names: Sequence[str] = ()) -> list[str]:
        """Texts with commas between, the last of them named, those with stars at their places."""
        unnamed = len(numbers) - len(names)
        parts = [self.take(number) for number in numbers[:unnamed]]
        named = dict(zip(names, numbers[unnamed:], strict=True))
        starred = [name for name in names if name.startswith("*") and name[1:].isdecimal()]
        for name in sorted(starred, key=lambda name: int(name[1:])):
            parts.insert(int(name[1:]), ["*", *self.take(named.pop(name))])
        for name, number in named.items():
            parts.append([name if name == "**" else f"{name}=", *self.take(number)])
        return [piece for i, part in enumerate(parts) for piece in ([", "] if i else []) + part]

    def literal(self, number: int, node: Node) -> None:
        text = spelled(node.value)
        strength = _PRIMARY
        if isinstance(node.value, int | float | complex) and not isinstance(node.value, bool):
            strength = _SIGN if text[0] == "-" else _NUMBER
        self.put(number, strength, text)

    def load(self, number: int, node: Node) -> None:
        self.put(number, _PRIMARY, node.value)

    def call(self, number: int, node: Node) -> None:
        name, named = node.value
        args = node.args
        if len(args) == 2 and name in _BINARY and not named:
            self._binary(number, name, *args)
        elif len(args) == 1 and name in _UNARY and not self._is_magnitude(name, args[0]):
            sign, strength = _UNARY[name]
            self.put(number, strength, sign, *self.take(args[0], strength))
        elif name == "logical_and" and len(args) == 2 and self._continues(args[1]):
            pieces = self.take(args[0], _COMPARED)
            pieces += self.waiting.pop(args[1])[1]
            self.waiting[number] = _COMPARED, pieces
        else:
            self.put(number, _PRIMARY, name, "(", *self._listed(args, named), ")")

    def _is_magnitude(self, name: str, operand: int) -> bool:
        """True if a sign before the operand would be read as part of a number."""
        return name == "negative" and self.waiting.get(operand, (0,))[0] == _NUMBER

    def _binary(self, number: int, name: str, left: int, right: int) -> None:
        symbol, strength = _BINARY[name]
        if strength == _POWER:
            pieces, rest = self.take(left, _NUMBER), self.take(right, _SIGN)
        elif strength == _COMPARED:
            rest = self.take(right, strength + 1)
            if left not in self.waiting:
                self.put(number, _CONTINUED, symbol, *rest)
                return
            pieces = self.take(left, strength + 1)
        else:
            pieces, rest = self.take(left, strength), self.take(right, strength + 1)
        pieces.append(symbol)
        pieces += rest
        self.waiting[number] = strength, pieces

    def _continues(self, number: int) -> bool:
        return self.waiting.get(number, (_PRIMARY,))[0] == _CONTINUED

    def apply(self, number: int, node: Node) -> None:
        callee, *args = node.args
        pieces = self.take(callee, _PRIMARY)
        self.put(number, _PRIMARY, *pieces, "(", *self._listed(args, node.value), ")")

    def method(self, number: int, node: Node) -> None:
        owner, *args = node.args
        name, named = node.value
        pieces = self.take(owner, _PRIMARY)
        self.put(number, _PRIMARY, *pieces, f".{name}(", *self._listed(args, named), ")")

    def attribute(self, number: int, node: Node) -> None:
        self.put(number, _PRIMARY, *self.take(node.args[0], _PRIMARY), f".{node.value}")

    def index(self, number: int, node: Node) -> None:
        if not node.args:
            raise Unsayable  # a graph's getitem of nothing
        owner, *items = node.args
        self.put(number, _PRIMARY, *self.take(owner, _PRIMARY), *self.items(items))

    def items(self, items: Sequence[int]) -> list[str]:
        single = len(items) == 1 and self.nodes[items[0]].kind == "tuple"
        return ["[", *self._listed(items), "," if single else "", "]" if items else "()]"]

    def slice(self, number: int, node: Node) -> None:
        bounds = ["".join(self.take(bound, _CHOOSE)) for bound in node.args]
        start, stop, step = ["" if bound == "None" else bound for bound in bounds]
        self.put(number, _PRIMARY, start, ":", stop, f":{step}" if step else "")

    def sequence(self, number: int, node: Node) -> None:
        pieces = self._listed(node.args)
        if node.kind == "list":
            self.put(number, _PRIMARY, "[", *pieces, "]")
        elif len(node.args) < 2:
            self.put(number, _PRIMARY, "(", *pieces, "," if node.args else "", ")")
        else:
            self.put(number, TUPLE, *pieces)

    def dictionary(self, number: int, node: Node) -> None:
        pieces: list[str] = []
        for i, (key, value) in enumerate(zip(node.value, node.args, strict=True)):
            pieces += [", " if i else "", f"{key!r}: ", *self.take(value)]
        self.put(number, _PRIMARY, "{", *pieces, "}")

    def connective(self, number: int, node: Node) -> None:
        strength = _AND if node.kind == "and" else _OR
        pieces = self.take(node.args[0], strength)
        pieces.append(f" {node.kind} ")
        pieces += bracketed(ExpressionPrinter(node.blocks[0]).expression(), strength + 1)
        self.waiting[number] = strength, pieces

    def choose(self, number: int, node: Node) -> None:
        test = self.take(node.args[0], _OR)
        then, otherwise = [ExpressionPrinter(block).expression() for block in node.blocks]
        kept, other = bracketed(then, _OR), bracketed(otherwise, LAMBDA)
        self.put(number, _CHOOSE, *kept, " if ", *test, " else ", *other)

    def comprehension(self, number: int, node: Node) -> None:
        iterable = self.take(node.args[0], _OR)
        *tests, element = [ExpressionPrinter(block).expression() for block in node.blocks]
        pieces = [*bracketed(element, LAMBDA), f" for {written(node.value)} in ", *iterable]
        for test in tests:
            pieces += [" if ", *bracketed(test, _OR)]
        self.put(number, _PRIMARY, "[", *pieces, "]")

    def function(self, number: int, node: Node) -> None:
        returned = bracketed(ExpressionPrinter(node.blocks[0]).expression(returned=True), LAMBDA)
        space = " " if node.value else ""
        self.put(number, LAMBDA, "lambda", space, *self.parameters(node), ": ", *returned)

    def parameters(self, node: Node) -> list[str]:
        names, defaults = node.value, node.args
        plain = len(names) - len(defaults)
        given = self._listed(defaults, names[plain:])
        return [", ".join(names[:plain]), ", " if plain and defaults else "", *given]


EXPRESSIONS: dict[str, Callable[[Any, int, Node], None]] = {
    "literal": ExpressionPrinter.literal,
    "load": ExpressionPrinter.load,
    "call": ExpressionPrinter.call,
    "apply": ExpressionPrinter.apply,
    "method": ExpressionPrinter.method,
    "attribute": ExpressionPrinter.attribute,
    "index": ExpressionPrinter.index,
    "slice": ExpressionPrinter.slice,
    "list": ExpressionPrinter.sequence,
    "tuple": ExpressionPrinter.sequence,
    "dict": ExpressionPrinter.dictionary,
    "and": ExpressionPrinter.connective,
    "or": ExpressionPrinter.connective,
    "choose": ExpressionPrinter.choose,
    "function": ExpressionPrinter.function,
    "comprehension": ExpressionPrinter.comprehension,
}


def bracketed(text: _Text, least: int) -> list[str]:
    """The pieces of a text, in brackets where it holds less than it must."""
    strength, pieces = text
    if strength < least:
        pieces.insert(0, "(")
        pieces.append(")")
    return pieces


def spelled(value: Any) -> str:
    """A literal; of what text has none for, something that reads otherwise."""
    if value is ...:
        return "..."
    if isinstance(value, complex):
        return f"{spelled(value.imag).removesuffix('.0')}j"
    if isinstance(value, float):
        return repr(value).replace("inf", "1e999")
    return repr(value)


def written(names: Target, *, within: bool = False) -> str:
    """The target of an assignment: a name, or names that a sequence is unpacked into."""
    if isinstance(names, str):
        return names
    parts = ", ".join([written(name, within=True) for name in names])
    return f"({parts}{',' * (len(names) == 1)})" if within or len(names) < 2 else parts
