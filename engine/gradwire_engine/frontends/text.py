"""Source text → Program. Python's own parser reads it; nothing of it is ever executed as Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.frontends.expressions import (
    MAX_DEPTH,
    PREFIXES,
    ExpressionReader,
    at,
    dotted,
    none_at,
)
from gradwire_engine.frontends.statements import Statements, check_names, statements
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.program import RESULT, Block, Output, Position, Program, Target
from gradwire_engine.python_operators import OPERATORS


def parse_text(text: str, poll: Poll = no_deadline) -> Program:
    """Read source text, or raise ``ProgramSyntaxError`` with line and column."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    check_names(text, poll)
    reader = _Reader(text, poll)
    program = reader.program(statements(text, poll))
    if reader.was_mistaken:  # a name is assigned further down than it was called
        again = _Reader(text, poll)
        again.assigned.update(reader.bound)
        program = again.program(statements(text, poll))
    return program


def read_body(definition: ast.FunctionDef, around: Iterable[str] = ()) -> Block:
    """The body of a function, in ASCII and whatever the kinds of its parameters.

    ``around`` are the names that are bound around it.
    """
    reader = _Reader("", no_deadline)
    reader.assigned.update(around)
    return reader.body_of(definition)


#: The functions of which ``with`` takes a call: a tape's pause in TensorFlow and PyTorch.
_UNRECORDED = frozenset(("stop_recording", "tape.stop_recording", "torch.no_grad"))


class _Reader(ExpressionReader):
    """Walks the syntax tree once, writing nodes in the order of evaluation."""

    def __init__(self, text: str, poll: Poll) -> None:
        super().__init__(text, poll)
        #: Names that statements bind, as far as they have been read.
        self.bound: set[str] = set()
        self._output: Output = None
        self._functions = 0
        self._loops = 0
        self._has_expression = False

    @property
    def was_mistaken(self) -> bool:
        """True if a name was taken for an operation's before it was seen to be bound."""
        return not self.trusted.isdisjoint(self.bound)

    def program(self, text: Iterable[Statements]) -> Program:
        """Read the whole text; names alone at its end are what it returns, and leave no node."""
        self.open()
        last: ast.stmt | None = None
        for above, body in text:
            bound = {*_bound_names(body)}
            self.bound |= bound
            self.assigned |= bound
            if last is not None and body:
                self._read([last], self.above)
            if body:
                *before, last = body
                self._read(before, above)
        names = _names_in(last.value) if isinstance(last, ast.Expr | ast.Return) else None
        if last is not None and names is None:
            self._read([last], self.above)
        place = self._absolute(at(last)) if last is not None else (1, 1)
        block = self.close()
        return Program(block, names or self._output, self.positions, place)

    def _read(self, body: Sequence[ast.stmt], above: int) -> None:
        """Read statements whose lines are counted from the one after so many ``above``."""
        self.above, first = above, len(self.positions)
        self.statements(body)
        if above or not self.is_ascii:
            self.positions[first:] = map(self._absolute, self.positions[first:])

    def _absolute(self, position: Any) -> Position:
        line, column = position
        return self.in_characters(self.above + line, column)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        self.depth += 1
        for statement in polled(body, self.poll):
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
        if (name := _sorted_in_place(node.value)) is not None:
            self.bind(ast.copy_location(ast.Name(name), node), value)
        elif not self._functions and not _changes_something(node.value):
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
        match node.items:
            case [ast.withitem(ast.Call(function, [], []), None)]:
                paused = dotted(function) in _UNRECORDED
            case _:
                paused = False
        if not paused:
            raise self.refused(node)
        self.write(at(node), "stop_recording", (), None, (self.block(node.body),))

    def _loop_body(self, body: Sequence[ast.stmt]) -> Block:
        self._loops += 1
        block = self.block(body)
        self._loops -= 1
        return block

    def define(self, node: ast.FunctionDef) -> None:
        defaults, names = self.parameters(node.args, node)
        loops, self._loops = self._loops, 0
        self._functions += 1
        body = self.block(node.body)
        self._functions -= 1
        self._loops = loops
        function = self.write(at(node), "function", defaults, names, (body,))
        self.write(at(node), "store", (function,), node.name)
        for decorator in reversed(node.decorator_list):  # f = decorator(f)
            name = ast.copy_location(ast.Name(node.name), decorator)
            call = ast.copy_location(ast.Call(decorator, [name], []), decorator)
            self.write(at(node), "store", (self.expression(call),), node.name)

    def body_of(self, node: ast.FunctionDef) -> Block:
        """The block of a function that nothing is around."""
        spec = node.args
        given = [*spec.args, *spec.kwonlyargs, *([spec.vararg] if spec.vararg else [])]
        self.assigned.update([parameter.arg for parameter in given])
        self.assigned.update(_bound_names(node.body))
        self._functions += 1
        return self.block(node.body)

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
            if isinstance(target, ast.Starred):
                target = target.value
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
    return names.lstrip("*") if isinstance(names, str) else [_as_output(n) for n in names]


def _sorted_in_place(node: ast.expr) -> str | None:
    """The name of the array that an expression statement sorts in place, as NumPy's method does."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(name), "sort")) if name not in PREFIXES:
            return name
    return None


def _changes_something(node: ast.expr) -> bool:
    """True if an expression statement is there for what it does, not for its value."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if isinstance(node.func.value, ast.Name) and node.func.value.id in PREFIXES:
        return False  # np.append gives a new array
    return node.func.attr in ("assign", "assign_add", "assign_sub", "append", "defvjp")
