"""Source text → Program. Python's own parser reads it; nothing of it is ever executed as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradwire_engine.errors import Place, ProgramSyntaxError
from gradwire_engine.program import (
    RESULT,
    Block,
    Output,
    Program,
    Target,
    Writer,
    flat_names,
)

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "power",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "invert",
    ast.Not: "not",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "in",
    ast.NotIn: "not_in",
}
#: Roots of dotted names that choose a dialect, unless the text assigns them.
PREFIXES = frozenset("np numpy jnp scipy special linalg fft tf torch F".split())
#: Deepest nesting of expressions and statements; chains of one operator do not count.
MAX_DEPTH = 100
_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_NAME_PARTS = "give names to the parts"


def parse_text(text: str) -> Program:
    """Read source text, or raise ``ProgramSyntaxError`` with line and column."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        at = Place(line=error.lineno or 1, column=max(error.offset or 1, 1), pointer="/program")
        raise ProgramSyntaxError(f"not valid syntax: {error.msg}", at=at) from None
    except (RecursionError, MemoryError):
        raise ProgramSyntaxError(_TOO_DEEP, at=_START, hint=_NAME_PARTS) from None
    except (ValueError, UnicodeError):
        message = "the text holds a character that no program may hold"
        raise ProgramSyntaxError(message, at=_START) from None
    return _Reader(text).program(module.body)


_START = Place(line=1, column=1, pointer="/program")


class _Reader(Writer):
    """Walks the syntax tree once, writing nodes in the order of evaluation."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._output: Output = None
        self._depth = 0
        self._functions = 0
        self._loops = 0
        self._has_expression = False
        self._assigned: set[str] = set()

    def program(self, body: list[ast.stmt]) -> Program:
        """Read the whole text; names alone at its end are what it returns, and leave no node."""
        last = body[-1] if body else None
        names = _names_in(last.value) if isinstance(last, ast.Expr | ast.Return) else None
        self._assigned.update(_bound_names(body))
        self.open()
        self.statements(body if names is None else body[:-1])
        if not self._text.isascii():
            self.positions = [self._in_characters(*at) for at in self.positions]  # type: ignore[misc]
        return Program(self.close(), names or self._output, self.positions)

    # Statements

    def statements(self, body: Sequence[ast.stmt]) -> None:
        self._depth += 1
        for statement in body:
            read = _STATEMENTS.get(type(statement))
            if read is None or self._depth > MAX_DEPTH:
                raise self._refused(statement)
            read(self, statement)
        self._depth -= 1

    def block(self, body: Sequence[ast.stmt]) -> Block:
        self.open()
        self.statements(body)
        return self.close()

    def lazy(self, node: ast.expr) -> Block:
        self.open()
        self.expression(node)
        return self.close()

    def expression_statement(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        value = self.expression(node.value)
        if not self._functions and not _changes_something(node.value):
            self.write(_at(node), "store", (value,), RESULT)
            self._output, self._has_expression = RESULT, True

    def assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self._refused(node)
        self.bind(node.target, self.expression(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        operands = [self.expression(node.target), self.expression(node.value)]
        operator = _OPERATORS[type(node.op)]
        self.bind(node.target, self._call(operator, operands, node))

    def bind(self, target: ast.expr, value: int) -> None:
        names: Target
        if isinstance(target, ast.Subscript):
            if not isinstance(target.value, ast.Name):
                raise self._refused(target, "assign to an element of a plain name")
            names = target.value.id
            self.write(_at(target), "setitem", (value, *self.items(target.slice)), names)
        else:
            names = self.target(target)
            self.write(_at(target), "store", (value,), names)
        if not self._functions and not self._has_expression:
            self._output = _as_output(names)

    def target(self, node: ast.expr) -> Target:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Tuple | ast.List):
            return tuple([self.target(item) for item in node.elts])
        raise self._refused(node, "assign to a name")

    def if_statement(self, node: ast.If) -> None:
        test = self.expression(node.test)
        blocks = [self.block(node.body), self.block(node.orelse)]
        self.write(_at(node), "if", (test,), None, tuple(blocks))

    def while_loop(self, node: ast.While) -> None:
        blocks = [self.lazy(node.test), self._loop_body(node.body), self.block(node.orelse)]
        self.write(_at(node), "while", (), None, tuple(blocks))

    def for_loop(self, node: ast.For) -> None:
        iterable = self.expression(node.iter)
        names = self.target(node.target)
        blocks = [self._loop_body(node.body), self.block(node.orelse)]
        self.write(_at(node), "for", (iterable,), names, tuple(blocks))

    def _loop_body(self, body: Sequence[ast.stmt]) -> Block:
        self._loops += 1
        block = self.block(body)
        self._loops -= 1
        return block

    def define(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self._refused(node, "decorators are not part of the language")
        function = self.function(node.args, node.body, node)
        self.write(_at(node), "store", (function,), node.name)

    def function(
        self, spec: ast.arguments, body: Sequence[ast.stmt] | ast.expr, node: ast.AST
    ) -> int:
        if spec.vararg or spec.kwarg or spec.kwonlyargs:
            raise self._refused(node, "parameters are positional, with or without defaults")
        defaults = [self.expression(default) for default in spec.defaults]
        names = tuple([a.arg for a in (*spec.posonlyargs, *spec.args)])
        self._assigned.update(names)
        loops, self._loops = self._loops, 0
        self._functions += 1
        if isinstance(body, ast.expr):
            self.open()
            self.write(_at(body), "return", (self.expression(body),))
            block = self.close()
        else:
            block = self.block(body)
        self._functions -= 1
        self._loops = loops
        return self.write(_at(node), "function", tuple(defaults), names, (block,))

    def return_statement(self, node: ast.Return) -> None:
        value = self.expression(node.value or _none_at(node))
        self.write(_at(node), "return", (value,))

    def jump(self, node: ast.stmt) -> None:
        kind = "break" if isinstance(node, ast.Break) else "continue"
        if not self._loops:
            raise self._refused(node, f"{kind} belongs in a loop")
        self.write(_at(node), kind)

    def nothing(self, node: ast.stmt) -> None:
        """``pass`` leaves no node."""

    # Expressions: each gives the number of its node in the open block

    def expression(self, node: ast.expr) -> int:
        read = _EXPRESSIONS.get(type(node))
        self._depth += 1
        if read is None or self._depth > MAX_DEPTH:
            raise self._refused(node)
        number = read(self, node)
        self._depth -= 1
        return number

    def literal(self, node: ast.Constant) -> int:
        if isinstance(node.value, bytes):
            raise self._refused(node)
        return self.write(_at(node), "literal", (), node.value)

    def name(self, node: ast.Name) -> int:
        return self.write(_at(node), "load", (), node.id)

    def binary(self, node: ast.BinOp) -> int:
        # A long sum is a deep tree leaning left: walk down its spine instead of recursing.
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self.expression(spine[-1].left)
        for step in reversed(spine):
            right = self.expression(step.right)
            value = self._call(_OPERATORS[type(step.op)], [value, right], step)
        return value

    def unary(self, node: ast.UnaryOp) -> int:
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant):
            if type(operand.value) in (int, float, complex):
                return self.write(_at(node), "literal", (), -operand.value)  # type: ignore[operator]
        return self._call(_OPERATORS[type(node.op)], [self.expression(operand)], node)

    def comparison(self, node: ast.Compare) -> int:
        values = [self.expression(v) for v in (node.left, *node.comparators)]
        names = [_OPERATORS[type(op)] for op in node.ops]
        result = self._call(names[0], values[:2], node)
        for i, name in enumerate(names[1:], 1):
            other = self._call(name, values[i : i + 2], node)
            result = self._call("logical_and", [result, other], node)
        return result

    def connective(self, node: ast.BoolOp) -> int:
        kind = "and" if isinstance(node.op, ast.And) else "or"
        value = self.expression(node.values[0])
        for other in node.values[1:]:
            value = self.write(_at(node), kind, (value,), None, (self.lazy(other),))
        return value

    def choose(self, node: ast.IfExp) -> int:
        test = self.expression(node.test)
        blocks = [self.lazy(node.body), self.lazy(node.orelse)]
        return self.write(_at(node), "choose", (test,), None, tuple(blocks))

    def call(self, node: ast.Call) -> int:
        if any(isinstance(a, ast.Starred) for a in node.args) or None in [
            keyword.arg for keyword in node.keywords
        ]:
            raise self._refused(node, "arguments are not unpacked with a star")
        keywords = sorted(node.keywords, key=lambda keyword: keyword.arg or "")
        names = tuple([keyword.arg for keyword in keywords])
        arguments = [*node.args, *[keyword.value for keyword in keywords]]
        function = node.func
        dotted = self._operation(function)
        if dotted is not None:
            return self.write(
                _at(node), "call", tuple(map(self.expression, arguments)), (dotted, names)
            )
        if isinstance(function, ast.Attribute):
            args = [*map(self.expression, [function.value, *arguments])]
            return self.write(_at(node), "method", tuple(args), (function.attr, names))
        return self.write(
            _at(node), "apply", tuple(map(self.expression, [function, *arguments])), names
        )

    def _operation(self, node: ast.expr) -> str | None:
        """The operation that a callee names by itself, whatever the variables are called."""
        dotted = _dotted(node)
        if dotted is None:
            return None
        root, dot, _ = dotted.partition(".")
        return None if root in self._assigned or (dot and root not in PREFIXES) else dotted

    def attribute(self, node: ast.Attribute) -> int:
        dotted = self._operation(node)
        if dotted is not None:
            return self.write(_at(node), "load", (), dotted)
        return self.write(_at(node), "attribute", (self.expression(node.value),), node.attr)

    def subscript(self, node: ast.Subscript) -> int:
        args = [self.expression(node.value), *self.items(node.slice)]
        return self.write(_at(node), "index", tuple(args))

    def items(self, node: ast.expr) -> list[int]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return [self.expression(part) for part in parts]

    def slice(self, node: ast.Slice) -> int:
        parts = [node.lower, node.upper, node.step]
        numbers = [self.expression(part or _none_at(node)) for part in parts]
        return self.write(_at(node), "slice", tuple(numbers))

    def sequence(self, node: ast.List | ast.Tuple) -> int:
        kind = "list" if isinstance(node, ast.List) else "tuple"
        return self.write(_at(node), kind, tuple([self.expression(item) for item in node.elts]))

    def dictionary(self, node: ast.Dict) -> int:
        keys = tuple([k.value if isinstance(k, ast.Constant) else None for k in node.keys])
        if not all(isinstance(key, str) for key in keys):
            raise self._refused(node, "the keys of a dict are strings")
        values = [self.expression(value) for value in node.values]
        return self.write(_at(node), "dict", tuple(values), keys)

    def anonymous(self, node: ast.Lambda) -> int:
        return self.function(node.args, node.body, node)

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> int:
        if len(node.generators) != 1 or node.generators[0].is_async:
            raise self._refused(node, "a comprehension has one for")
        (generator,) = node.generators
        iterable = self.expression(generator.iter)
        names = self.target(generator.target)
        self._assigned.update(flat_names(names))
        blocks = [self.lazy(test) for test in generator.ifs]
        blocks.append(self.lazy(node.elt))
        return self.write(_at(node), "comprehension", (iterable,), names, tuple(blocks))

    def _call(self, name: str, args: Sequence[int], node: ast.AST) -> int:
        return self.write(_at(node), "call", tuple(args), (name, ()))

    def _in_characters(self, line: int, column: int) -> tuple[int, int]:
        """A position that the parser counted in bytes as people count."""
        encoded = self._text.splitlines()[line - 1].encode()
        return line, len(encoded[: column - 1].decode(errors="replace")) + 1

    def _refused(self, node: ast.AST, hint: str | None = None) -> ProgramSyntaxError:
        line, column = self._in_characters(*_at(node))
        at = Place(line=line, column=column, pointer="/program")
        if self._depth > MAX_DEPTH:
            return ProgramSyntaxError(_TOO_DEEP, at=at, hint=_NAME_PARTS)
        message = f"{type(node).__name__} is not part of the language here"
        return ProgramSyntaxError(message, at=at, hint=hint)


_STATEMENTS: dict[type[ast.stmt], Callable[[_Reader, Any], None]] = {
    ast.Expr: _Reader.expression_statement,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated,
    ast.AugAssign: _Reader.augmented,
    ast.If: _Reader.if_statement,
    ast.While: _Reader.while_loop,
    ast.For: _Reader.for_loop,
    ast.FunctionDef: _Reader.define,
    ast.Return: _Reader.return_statement,
    ast.Break: _Reader.jump,
    ast.Continue: _Reader.jump,
    ast.Pass: _Reader.nothing,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[[_Reader, Any], int]] = {
    ast.Constant: _Reader.literal,
    ast.Name: _Reader.name,
    ast.BinOp: _Reader.binary,
    ast.UnaryOp: _Reader.unary,
    ast.Compare: _Reader.comparison,
    ast.BoolOp: _Reader.connective,
    ast.IfExp: _Reader.choose,
    ast.Call: _Reader.call,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.Slice: _Reader.slice,
    ast.List: _Reader.sequence,
    ast.Tuple: _Reader.sequence,
    ast.Dict: _Reader.dictionary,
    ast.Lambda: _Reader.anonymous,
    ast.ListComp: _Reader.comprehension,
    ast.GeneratorExp: _Reader.comprehension,
}


def _at(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset + 1  # type: ignore[attr-defined]


def _dotted(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _bound_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that statements bind, in functions too; expressions are not searched."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef):
            yield node.name
        targets = list(getattr(node, "targets", ())) or [getattr(node, "target", None)]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                yield target.id
            elif isinstance(target, ast.Tuple | ast.List):
                targets = [*targets, *target.elts]
        pending += getattr(node, "body", [])
        pending += getattr(node, "orelse", [])


def _names_in(node: ast.expr | None) -> Output:
    """The structure of names that an expression is made of, or None where it is more than that."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        items = [_names_in(item) for item in node.elts]
        return None if None in items else items
    if isinstance(node, ast.Dict) and node.keys:
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        values = [_names_in(value) for value in node.values]
        named = all(isinstance(key, str) for key in keys) and None not in values
        return dict(zip(keys, values, strict=True)) if named else None
    return None


def _as_output(names: Target) -> Output:
    return names if isinstance(names, str) else [_as_output(n) for n in names]


def _changes_something(node: ast.expr) -> bool:
    """Whether an expression statement is there for what it does, not for its value."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in ("assign", "assign_add", "assign_sub", "append")


def _none_at(node: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)
