"""Program → source text that reads as the same program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwire_engine.errors import ProgramSyntaxError
from gradwire_engine.frontends.phrases import (
    EXPRESSIONS,
    LAMBDA,
    TUPLE,
    ExpressionPrinter,
    Unsayable,
    bracketed,
    written,
)
from gradwire_engine.frontends.text import parse_text
from gradwire_engine.program import RESULT, Block, Node, Output, Program


def printed(program: Program) -> str | None:
    """Source text with operators and as few brackets as can be, that reads as this very program.

    None where no text does: a graph may call an operation whose name it gives to a node, may have
    ids that are no names of Python's, or steps within a function that is an argument.
    """
    try:
        lines = _Printer(program.body).statements()
        endings = [[], [_names(program.output)], ["pass"]]  # pass: names at the end leave no node
    except Unsayable:
        return None
    for ending in endings:
        text = "\n".join([*lines, *ending])
        try:
            if parse_text(text).id == program.id:
                return text
        except ProgramSyntaxError:
            pass
    return None


class _Printer(ExpressionPrinter):
    """Prints statements: each first writes what was computed before it for its own sake."""

    def __init__(self, block: Block) -> None:
        super().__init__(block)
        self.lines: list[str] = []
        #: The number of statements of the lines.
        self.count = 0
        #: The assignment that may go on: the number of its value, its text, and its targets.
        self._value = -1
        self._text: list[str] = []
        self._targets: list[str] = []
        #: The number of the function that was defined last.
        self._defined = -1

    def statements(self) -> list[str]:
        """The lines of a block of statements."""
        for number, node in enumerate(self.nodes):
            _KINDS[node.kind](self, number, node)
        self._settle()
        return self.lines

    def _settle(self) -> None:
        """Write the assignment that went on, and what was computed for its own sake."""
        if self._targets:
            self._write(" = ".join([*self._targets, ""]), *self._text)
            self._value, self._targets = -1, []
        for _, pieces in self.waiting.values():
            self._write(*pieces)
        self.waiting.clear()

    def _write(self, *pieces: str) -> None:
        self.lines.append("".join(pieces))
        self.count += 1

    def _begin(self, *pieces: str) -> None:
        """Write the first line of a statement, after all that came before it."""
        self._settle()
        self._write(*pieces)

    def _indent(self, lines: Sequence[str]) -> None:
        self.lines += [f"    {line}" for line in lines or ["pass"]]

    def _else(self, block: Block) -> None:
        printer = _Printer(block)
        lines = printer.statements()
        if printer.count == 1 and block.nodes[-1].kind == "if":
            self.lines += [f"el{lines[0]}", *lines[1:]]
        elif lines:
            self.lines.append("else:")
            self._indent(lines)

    def _assign(self, value: int, target: str) -> None:
        if value != self._value:
            taken = self.take(value, TUPLE)
            self._settle()
            self._value, self._text = value, taken
        self._targets.append(target)

    def store(self, number: int, node: Node) -> None:
        (value,) = node.args
        if value == self._defined:
            return
        if node.value == RESULT:
            self._begin_with(value)
        else:
            self._assign(value, written(node.value))

    def _begin_with(self, value: int, word: str = "") -> None:
        taken = self.take(value, TUPLE)
        self._begin(word, *taken)

    def setitem(self, number: int, node: Node) -> None:
        value, *items = node.args
        self._assign(value, "".join([node.value, *self.items(items)]))

    def give(self, number: int, node: Node) -> None:
        self._begin_with(node.args[0], "return ")

    def jump(self, number: int, node: Node) -> None:
        self._begin(node.kind)

    def branch(self, number: int, node: Node) -> None:
        test = self.take(node.args[0])
        then, otherwise = node.blocks
        self._begin("if ", *test, ":")
        self._indent(_Printer(then).statements())
        self._else(otherwise)

    def while_loop(self, number: int, node: Node) -> None:
        condition, body, otherwise = node.blocks
        self._begin("while ", *bracketed(_Printer(condition).expression(), LAMBDA), ":")
        self._loop(body, otherwise)

    def for_loop(self, number: int, node: Node) -> None:
        iterable = self.take(node.args[0])
        body, otherwise = node.blocks
        self._begin("for ", written(node.value), " in ", *iterable, ":")
        self._loop(body, otherwise)

    def _loop(self, body: Block, otherwise: Block) -> None:
        self._indent(_Printer(body).statements())
        if otherwise.nodes:
            self.lines.append("else:")
            self._indent(_Printer(otherwise).statements())

    def stop_recording(self, number: int, node: Node) -> None:
        self._begin("with stop_recording():")
        self._indent(_Printer(node.blocks[0]).statements())

    def function(self, number: int, node: Node) -> None:
        following = self.nodes[number + 1 : number + 3]
        names = [n.value for n in following if n.kind == "store" and n.args == (number,)]
        if len(names) != 1 or names[0] == RESULT or not isinstance(names[0], str):
            super().function(number, node)
            return
        self._begin("def ", names[0], "(", *self.parameters(node), "):")
        self._indent(_Printer(node.blocks[0]).statements())
        self._defined = number


_KINDS: dict[str, Callable[[Any, int, Node], None]] = {
    **EXPRESSIONS,
    "function": _Printer.function,
    "store": _Printer.store,
    "if": _Printer.branch,
    "while": _Printer.while_loop,
    "for": _Printer.for_loop,
    "stop_recording": _Printer.stop_recording,
    "setitem": _Printer.setitem,
    "return": _Printer.give,
    "break": _Printer.jump,
    "continue": _Printer.jump,
}


def _names(output: Output) -> str:
    """Names nested in lists and dicts, as an expression."""
    if isinstance(output, list):
        return f"[{', '.join(map(_names, output))}]"
    if isinstance(output, dict):
        return f"{{{', '.join(f'{key!r}: {_names(value)}' for key, value in output.items())}}}"
    return output or ""
