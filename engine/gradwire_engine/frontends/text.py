"""Source text → Program. Python's own parser reads it; nothing of it is ever executed as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.errors import Place, ProgramSyntaxError
from gradwire_engine.frontends.expressions import (
    MAX_DEPTH,
    NAME_PARTS,
    OPERATORS,
    PREFIXES,
    ExpressionReader,
    at,
    none_at,
)
from gradwire_engine.frontends.plain import read_plain
from gradwire_engine.program import RESULT, Block, Output, Program, Target


def parse_text(text: str, poll: Poll = lambda: None) -> Program:
    """Read source text, or raise ``ProgramSyntaxError`` with line and column."""
    return read_plain(text, lambda: parse_tree(text).positions, poll) or parse_tree(text)


def parse_tree(text: str) -> Program:
    """Read source text of any kind by Python's syntax tree."""
    try:
        module = ast.parse(text)
    except SyntaxError as error:
        at = Place(line=error.lineno or 1, column=max(error.offset or 1, 1), pointer="/program")
        raise ProgramSyntaxError(f"not valid syntax: {error.msg}", at=at) from None
    except (RecursionError, MemoryError):
        raise ProgramSyntaxError(_TOO_LONG, at=_START, hint=NAME_PARTS) from None
    except (ValueError, UnicodeError):
        message = "the text holds a character that no program may hold"
        raise ProgramSyntaxError(message, at=_START) from None
    return _Reader(text).program(module.body)


_TOO_LONG = "an expression is longer, or nested deeper, than can be read"
_START = Place(line=1, column=1, pointer="/program")
#: What ``with`` takes: a tape's pause, as TensorFlow and PyTorch write it.
_UNRECORDED = (["stop_recording()"], ["tape.stop_recording()"], ["torch.no_grad()"])


class _Reader(ExpressionReader):
    """Walks the syntax tree once, writing nodes in the order of evaluation."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._output: Output = None
        self._functions = 0
        self._loops = 0
        self._has_expression = False

    def program(self, body: list[ast.stmt]) -> Program:
        """Read the whole text; names alone at its end are what it returns, and leave no node."""
        last = body[-1] if body else None
        names = _names_in(last.value) if isinstance(last, ast.Expr | ast.Return) else None
        self.assigned.update(_bound_names(body))
        self.open()
        self.statements(body if names is None else body[:-1])
        if not self.is_ascii:
            self.positions = [self.in_characters(*p) for p in self.positions if type(p) is tuple]
        place = at(last) if last is not None else (1, 1)
        if not self.is_ascii:
            place = self.in_characters(*place)
        return Program(self.close(), names or self._output, self.positions, place)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        self.depth += 1
        for statement in body:
            read = _STATEMENTS.get(type(statement))
            if read is None or self.depth > MAX_DEPTH:
                raise self.refused(statement)
            read(self, statement)
        self.depth -= 1

    def block(self, body: Sequence[ast.stmt]) -> Block:
        self.open()
        self.statements(body)
        return self.close()

    def expression_statement(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        value = self.expression(node.value)
        if not self._functions and not _changes_something(node.value):
            self.write(at(node), "store", (value,), RESULT)
            self._output, self._has_expression = RESULT, True

    def assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self.refused(node)
        self.bind(node.target, self.expression(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        operands = [self.expression(node.target), self.expression(node.value)]
        operator = OPERATORS[type(node.op)]
        self.bind(node.target, self.call_operation(operator, operands, node))

    def bind(self, target: ast.expr, value: int) -> None:
        names: Target
        if isinstance(target, ast.Subscript):
            if not isinstance(target.value, ast.Name):
                raise self.refused(target, "assign to an element of a plain name")
            names = target.value.id
            self.write(at(target), "setitem", (value, *self.items(target.slice)), names)
        else:
            names = self.target(target)
            self.write(at(target), "store", (value,), names)
        if not self._functions and not self._has_expression:
            self._output = _as_output(names)

    def if_statement(self, node: ast.If) -> None:
        test = self.expression(node.test)
        blocks = [self.block(node.body), self.block(node.orelse)]
        self.write(at(node), "if", (test,), None, tuple(blocks))

    def while_loop(self, node: ast.While) -> None:
        blocks = [self.lazy(node.test), self._loop_body(node.body), self.block(node.orelse)]
        self.write(at(node), "while", (), None, tuple(blocks))

    def for_loop(self, node: ast.For) -> None:
        iterable = self.expression(node.iter)
        names = self.target(node.target)
        blocks = [self._loop_body(node.body), self.block(node.orelse)]
        self.write(at(node), "for", (iterable,), names, tuple(blocks))

    def stop_recording(self, node: ast.With) -> None:
        if [ast.unparse(item) for item in node.items] not in _UNRECORDED:
            raise self.refused(node)
        self.write(at(node), "stop_recording", (), None, (self.block(node.body),))

    def _loop_body(self, body: Sequence[ast.stmt]) -> Block:
        self._loops += 1
        block = self.block(body)
        self._loops -= 1
        return block

    def define(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            raise self.refused(node, "decorators are not part of the language")
        defaults, names = self.parameters(node.args, node)
        loops, self._loops = self._loops, 0
        self._functions += 1
        body = self.block(node.body)
        self._functions -= 1
        self._loops = loops
        function = self.write(at(node), "function", defaults, names, (body,))
        self.write(at(node), "store", (function,), node.name)

    def return_statement(self, node: ast.Return) -> None:
        value = self.expression(node.value or none_at(node))
        self.write(at(node), "return", (value,))

    def jump(self, node: ast.stmt) -> None:
        kind = "break" if isinstance(node, ast.Break) else "continue"
        if not self._loops:
            raise self.refused(node, f"{kind} belongs in a loop")
        self.write(at(node), kind)

    def nothing(self, node: ast.stmt) -> None:
        """``pass`` leaves no node."""


_STATEMENTS: dict[type[ast.stmt], Callable[[_Reader, Any], None]] = {
    ast.Expr: _Reader.expression_statement,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotated,
    ast.AugAssign: _Reader.augmented,
    ast.If: _Reader.if_statement,
    ast.While: _Reader.while_loop,
    ast.For: _Reader.for_loop,
    ast.With: _Reader.stop_recording,
    ast.FunctionDef: _Reader.define,
    ast.Return: _Reader.return_statement,
    ast.Break: _Reader.jump,
    ast.Continue: _Reader.jump,
    ast.Pass: _Reader.nothing,
}


def _bound_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that statements bind, in functions too; expressions are not searched."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assign):  # as most statements are; it has no others in it
            targets: list[ast.expr | None] = [*node.targets]
        else:
            if isinstance(node, ast.FunctionDef):
                yield node.name
            targets = [getattr(node, "target", None)]
            pending += getattr(node, "body", [])
            pending += getattr(node, "orelse", [])
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Name):
                yield target.id
            elif isinstance(target, ast.Tuple | ast.List):
                targets = [*targets, *target.elts]


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
    if isinstance(node.func.value, ast.Name) and node.func.value.id in PREFIXES:
        return False  # np.append gives a new array
    return node.func.attr in ("assign", "assign_add", "assign_sub", "append")
