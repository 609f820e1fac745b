"""Expressions of the source text, each written after its operands, in the order of evaluation."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.errors import Place, ProgramSyntaxError
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.polling import polled
from gradwire_engine.program import (
    MOST_DIGITS,
    Block,
    Target,
    Writer,
    flat_names,
    has_too_many_digits,
)
from gradwire_engine.python_operators import OPERATORS

#: Roots of dotted names that choose a dialect, unless the text assigns them.
PREFIXES = frozenset(
    "np numpy jnp jax lax scipy special linalg fft random sparse tf torch torchdiffeq F nn math "
    "functools itertools operator".split()
)
_IMPORT = ("an import", "names need none: sin, np.sin and scipy.special.erf are known")
_SCOPE = "a function returns what it computes"
_TRY = ("try", "nothing is raised: decide with if, or choose with where(condition, a, b)")
_ASYNC = ("async", "nothing is awaited: call the function")
_YIELD = ("yield", "append to a list and return it")
_SET = ("a set", "use a list")
_PARAMETERS = "parameters have names, with or without defaults"
_COMPREHENSION = ("this form of comprehension", "nothing is awaited")
#: The constructs that the language leaves out, as people call them, and what to do instead.
ABSENT: dict[type[ast.AST], tuple[str, str]] = {
    ast.Import: _IMPORT,
    ast.ImportFrom: _IMPORT,
    ast.ClassDef: ("a class", "a dict holds named values"),
    ast.Try: _TRY,
    ast.TryStar: _TRY,
    ast.Raise: ("raise", "return a value that shows it, such as nan"),
    ast.With: ("this form of with", "with stop_recording(): computes constants"),
    ast.Assert: ("assert", "name the condition in outputs and check it in the answer"),
    ast.Delete: ("del", "leave it out: memory is freed without it"),
    ast.Global: ("global", _SCOPE),
    ast.Nonlocal: ("nonlocal", _SCOPE),
    ast.JoinedStr: ("an f-string", "programs return numbers: format them in the client"),
    ast.Set: _SET,
    ast.SetComp: _SET,
    ast.NamedExpr: (":=", "assign on a line of its own"),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFor: _ASYNC,
    ast.AsyncFunctionDef: _ASYNC,
    ast.AsyncWith: _ASYNC,
    ast.Await: _ASYNC,
    ast.Yield: _YIELD,
    ast.YieldFrom: _YIELD,
    ast.Starred: ("a star here", "write out the names one by one"),
    ast.Attribute: ("assigning to an attribute", "assign to a name"),
    ast.Subscript: ("assigning to this element", "assign to an element of a plain name"),
    ast.FunctionDef: ("this form of def", _PARAMETERS),
    ast.Lambda: ("this form of lambda", _PARAMETERS),
    ast.Call: ("this form of call", "write out the arguments one by one"),
    ast.Dict: ("this form of dict", "the keys of a dict are strings, written out one by one"),
    ast.ListComp: _COMPREHENSION,
    ast.GeneratorExp: _COMPREHENSION,
    ast.DictComp: _COMPREHENSION,
    ast.Constant: ("this literal", "literals are numbers and text"),
    ast.AnnAssign: ("an annotation without a value", "assign a value: x = 0.0"),
}
#: Deepest nesting of expressions and statements; chains of one operator do not count.
MAX_DEPTH = 100
TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
NAME_PARTS = "give names to the parts"


class ExpressionReader(Writer):
    """Writes expressions; each method gives the number of its node in the open block."""

    def __init__(self, text: str, poll: Poll) -> None:
        super().__init__()
        self.poll = poll
        self.depth = 0
        #: The number of lines above those that positions are counted from.
        self.above = 0
        #: Names that the text binds anywhere: calling one of them calls its value.
        self.assigned: set[str] = set()
        #: Names that were taken to be none of these.
        self.trusted: set[str] = set()
        self.is_ascii = text.isascii()
        self._text = text
        #: A line, and the number of the character that each of its bytes is of.
        self._bytes: tuple[int, Sequence[int]] = (0, ())

    def expression(self, node: ast.expr) -> int:
        kind = type(node)
        if kind is ast.Name:  # most nodes are names
            return self.write((node.lineno, node.col_offset + 1), "load", (), node.id)  # type: ignore[attr-defined]
        read = _EXPRESSIONS.get(kind)
        self.depth += 1
        if read is None or self.depth > MAX_DEPTH:
            raise self.refused(node)
        number = read(self, node)
        self.depth -= 1
        return number

    def literal(self, node: ast.Constant) -> int:
        if isinstance(node.value, bytes):
            raise self.refused(node)
        return self.write(at(node), "literal", (), self._constant(node))

    def _constant(self, node: ast.Constant) -> Any:
        if has_too_many_digits(node.value):
            raise self.refused(node, hint=f"integers have at most {MOST_DIGITS} digits")
        return node.value

    def binary(self, node: ast.BinOp) -> int:
        # A long sum is a deep tree leaning left: walk down its spine instead of recursing.
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.expression(spine[-1].left)
        for step in polled(spine[::-1], self.poll):
            right = self.expression(step.right)
            value = self.call_operation(OPERATORS[type(step.op)], [value, right], step)
        return value

    def unary(self, node: ast.UnaryOp) -> int:
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant):
            number = self._constant(operand)
            if isinstance(number, int | float | complex) and not isinstance(number, bool):
                return self.write(at(node), "literal", (), -number)
        return self.call_operation(OPERATORS[type(node.op)], [self.expression(operand)], node)

    def comparison(self, node: ast.Compare) -> int:
        values = [self.expression(v) for v in (node.left, *node.comparators)]
        names = [OPERATORS[type(op)] for op in node.ops]
        result = self.call_operation(names[0], values[:2], node)
        for i, name in enumerate(names[1:], 1):
            other = self.call_operation(name, values[i : i + 2], node)
            result = self.call_operation("logical_and", [result, other], node)
        return result

    def connective(self, node: ast.BoolOp) -> int:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        value = self.expression(node.values[0])
        for other in node.values[1:]:
            value = self.write(at(node), kind, (value,), None, (self.lazy(other),))
        return value

    def choose(self, node: ast.IfExp) -> int:
        test = self.expression(node.test)
        blocks = [self.lazy(node.body), self.lazy(node.orelse)]
        return self.write(at(node), "choose", (test,), None, tuple(blocks))

    def call(self, node: ast.Call) -> int:
        function, arguments = node.func, node.args
        names: tuple[str, ...] = ()
        if node.keywords or ast.Starred in map(type, arguments):
            named = {keyword.arg or "**": keyword.value for keyword in node.keywords}
            if len(named) < len(node.keywords):
                raise self.refused(node)
            for i, argument in enumerate(arguments):
                if isinstance(argument, ast.Starred):
                    named[f"*{i}"] = argument.value
            names = tuple(sorted(named))
            plain = [argument for argument in arguments if not isinstance(argument, ast.Starred)]
            arguments = [*plain, *[named[name] for name in names]]
        name = self._operation(function)
        if name is not None:
            numbers = tuple([self.expression(argument) for argument in arguments])
            return self.write(at(node), "call", numbers, (name, names))
        callee = function.value if isinstance(function, ast.Attribute) else function
        numbers = tuple([self.expression(part) for part in (callee, *arguments)])
        if isinstance(function, ast.Attribute):
            return self.write(at(node), "method", numbers, (function.attr, names))
        return self.write(at(node), "apply", numbers, names)

    def _operation(self, node: ast.expr) -> str | None:
        """The operation that a callee names by itself, whatever the variables are called."""
        if type(node) is ast.Name:  # most callees are names
            if node.id in self.assigned:
                return None
            self.trusted.add(node.id)
            return node.id
        name = dotted(node)
        if name is None:
            return None
        root, dot, _ = name.partition(".")
        if root in self.assigned or (dot and root not in PREFIXES and name not in FUNCTIONS):
            return None
        self.trusted.add(root)
        return name

    def attribute(self, node: ast.Attribute) -> int:
        name = self._operation(node)
        if name is not None:
            return self.write(at(node), "load", (), name)
        return self.write(at(node), "attribute", (self.expression(node.value),), node.attr)

    def subscript(self, node: ast.Subscript) -> int:
        args = [self.expression(node.value), *self.items(node.slice)]
        return self.write(at(node), "index", tuple(args))

    def items(self, node: ast.expr) -> list[int]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self.expression(part) for part in parts]

    def slice(self, node: ast.Slice) -> int:
        parts = [node.lower, node.upper, node.step]
        numbers = [self.expression(part or none_at(node)) for part in parts]
        return self.write(at(node), "slice", tuple(numbers))

    def sequence(self, node: ast.List | ast.Tuple) -> int:
        if ast.Starred in map(type, node.elts):
            return self._joined(node)
        kind = "list" if isinstance(node, ast.List) else "tuple"
        return self.write(
            at(node), kind, tuple([self.expression(item) for item in polled(node.elts, self.poll)])
        )

    def _joined(self, node: ast.List | ast.Tuple) -> int:
        """The items and the sequences with a star, one after the other."""
        parts: list[int] = []
        for starred, items in groupby(node.elts, lambda item: isinstance(item, ast.Starred)):
            if starred:
                parts += [self.expression(item.value) for item in items]  # type: ignore[attr-defined]
            else:
                parts.append(self.expression(ast.copy_location(ast.List([*items]), node)))
        joined = self.call_operation("itertools.chain", parts, node)
        return (
            joined if isinstance(node, ast.List) else self.call_operation("tuple", [joined], node)
        )

    def dictionary(self, node: ast.Dict) -> int:
        if None in node.keys:
            return self._merged(node)
        keys = tuple([k.value if isinstance(k, ast.Constant) else None for k in node.keys])
        if not all(isinstance(key, str) for key in keys):
            raise self.refused(node)
        values = [self.expression(value) for value in node.values]
        return self.write(at(node), "dict", tuple(values), keys)

    def _merged(self, node: ast.Dict) -> int:
        """The members, and those of the dicts with two stars, later ones instead of earlier."""
        items = zip(node.keys, node.values, strict=True)
        parts: list[int] = []
        for starred, members in groupby(items, lambda item: item[0] is None):
            if starred:
                parts += [self.expression(value) for _, value in members]
            else:
                keys, values = zip(*members, strict=True)
                parts.append(self.dictionary(ast.copy_location(ast.Dict([*keys], [*values]), node)))
        merged = parts[0] if len(parts) > 1 else self.call_operation("dict", parts, node)
        for part in parts[1:]:
            merged = self.call_operation("bitwise_or", [merged, part], node)
        return merged

    def anonymous(self, node: ast.Lambda) -> int:
        defaults, names = self.parameters(node.args, node)
        self.open()
        self.write(at(node.body), "return", (self.expression(node.body),))
        return self.write(at(node), "function", defaults, names, (self.close(),))

    def parameters(
        self, spec: ast.arguments, node: ast.AST
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The defaults, written, and the names of a function's parameters."""
        given = [default for default in spec.kw_defaults if default is not None]
        if spec.vararg or spec.kwarg or (spec.defaults and len(given) < len(spec.kwonlyargs)):
            raise self.refused(node)
        defaults = tuple([self.expression(default) for default in (*spec.defaults, *given)])
        required = [a for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is None]
        named = [*required, *[a for a in spec.kwonlyargs if a not in required]]
        names = tuple([a.arg for a in (*spec.posonlyargs, *spec.args, *named)])
        if len(set(names)) < len(names):
            raise self.refused(node, "parameters have names of their own")
        self.assigned.update(names)
        return defaults, names

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> int:
        generator, *inner = node.generators
        if generator.is_async:
            raise self.refused(node)
        if inner:  # lists in a list, one after the other
            nested = ast.copy_location(ast.ListComp(node.elt, inner), node)
            outer = ast.copy_location(ast.ListComp(nested, [generator]), node)
            every = self.comprehension(outer)
            return self.call_operation("itertools.chain.from_iterable", [every], node)
        iterable = self.expression(generator.iter)
        names = self.target(generator.target)
        self.assigned.update(flat_names(names))
        blocks = [self.lazy(test) for test in generator.ifs]
        blocks.append(self.lazy(node.elt))
        return self.write(at(node), "comprehension", (iterable,), names, tuple(blocks))

    def dict_comprehension(self, node: ast.DictComp) -> int:
        pair = ast.copy_location(ast.Tuple([node.key, node.value]), node)
        pairs = ast.copy_location(ast.ListComp(pair, node.generators), node)
        return self.call_operation("dict", [self.expression(pairs)], node)

    def lazy(self, node: ast.expr) -> Block:
        self.open()
        self.expression(node)
        return self.close()

    def target(self, node: ast.expr) -> Target:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Tuple | ast.List):
            if sum(isinstance(item, ast.Starred) for item in node.elts) > 1:
                raise self.refused(node, "one name takes the rest")
            return tuple([self.target(item) for item in node.elts])
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name):
            return f"*{node.value.id}"
        raise self.refused(node, "assign to a name")

    def call_operation(self, name: str, args: Sequence[int], node: ast.AST) -> int:
        return self.write(at(node), "call", tuple(args), (name, ()))

    def in_characters(self, line: int, column: int) -> tuple[int, int]:
        """A position that the parser counted in bytes as people count."""
        if self.is_ascii or (written := self._lines[line - 1]).isascii():
            return line, column
        if self._bytes[0] != line:  # once for all positions of a long line
            numbered = enumerate(polled(written, self.poll))
            self._bytes = line, [i for i, c in numbered for _ in c.encode(errors="replace")]
        places = self._bytes[1]
        return line, (places[column - 1] if column <= len(places) else len(written)) + 1

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    def refused(self, node: ast.AST, hint: str | None = None) -> ProgramSyntaxError:
        """The refusal of a construct, with its place."""
        line, column = at(node)
        line, column = self.in_characters(self.above + line, column)
        place = Place(line=line, column=column, pointer="/program")
        if self.depth > MAX_DEPTH:
            return ProgramSyntaxError(TOO_DEEP, at=place, hint=NAME_PARTS)
        words, instead = ABSENT.get(type(node), (type(node).__name__.lower(), None))
        message = f"{words} is not part of the language here"
        return ProgramSyntaxError(message, at=place, hint=hint or instead)


_EXPRESSIONS: dict[type[ast.expr], Callable[[ExpressionReader, Any], int]] = {
    ast.Constant: ExpressionReader.literal,
    ast.BinOp: ExpressionReader.binary,
    ast.UnaryOp: ExpressionReader.unary,
    ast.Compare: ExpressionReader.comparison,
    ast.BoolOp: ExpressionReader.connective,
    ast.IfExp: ExpressionReader.choose,
    ast.Call: ExpressionReader.call,
    ast.Attribute: ExpressionReader.attribute,
    ast.Subscript: ExpressionReader.subscript,
    ast.Slice: ExpressionReader.slice,
    ast.List: ExpressionReader.sequence,
    ast.Tuple: ExpressionReader.sequence,
    ast.Dict: ExpressionReader.dictionary,
    ast.Lambda: ExpressionReader.anonymous,
    ast.ListComp: ExpressionReader.comprehension,
    ast.GeneratorExp: ExpressionReader.comprehension,
    ast.DictComp: ExpressionReader.dict_comprehension,
}


def at(node: ast.AST) -> tuple[int, int]:
    """Line and column of a node, both from 1, the column in bytes."""
    return node.lineno, node.col_offset + 1  # type: ignore[attr-defined]


def dotted(node: ast.expr) -> str | None:
    """The dotted name that an expression is, or nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def none_at(node: ast.AST) -> ast.expr:
    """A literal None in the place of what ``node`` leaves out."""
    return ast.copy_location(ast.Constant(None), node)
