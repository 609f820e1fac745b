"""Plain source text → Program, without a syntax tree: assignments of arithmetic and calls.

Long programs are mostly such, written out by other programs, and Python's parser makes an object of
every piece of syntax. What is written in any other way, or wrongly, is left to ``text``; so is
where each node was written, which is asked for only when there is something to say about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from keyword import iskeyword
from typing import TypeAlias, overload

from gradwire_engine.answer import Poll
from gradwire_engine.frontends.expressions import PREFIXES
from gradwire_engine.frontends.named_arguments import OtherwiseWritten, without_names
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.program import (
    MOST_DIGITS,
    RESULT,
    Block,
    Node,
    Output,
    Position,
    Program,
    Target,
    flat_names,
)

_PIECES = re.compile(
    r"[ \t]*([A-Za-z_][\w.]*|[\d.][\w.]*(?:(?<=[eE])[+-]\d+)?|\*\*|//|[^ \t])", re.ASCII
)
_NAMES = re.compile(r"[A-Za-z_]\w*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)*", re.ASCII)
#: Text that no plain text has, but in comments.
_OTHER = re.compile(r"[^\w \t\n.,:=+\-*/%@()\[\]]", re.ASCII)
#: An operation's name, and those of its named arguments, of which there are none.
_Words: TypeAlias = tuple[str, tuple[str, ...]]
#: An operator or a bracket: how strong, in which words, and how many values came before.
_Waiting: TypeAlias = tuple[int, _Words, int]
#: Precedence of waiting operators: a power binds more strongly than the sign before it.
_OPEN, _SUM, _PRODUCT, _SIGN, _POWER = range(5)
_OPERATORS: dict[str, tuple[int, _Words]] = {
    "+": (_SUM, ("add", ())),
    "-": (_SUM, ("subtract", ())),
    "*": (_PRODUCT, ("multiply", ())),
    "/": (_PRODUCT, ("divide", ())),
    "//": (_PRODUCT, ("floor_divide", ())),
    "%": (_PRODUCT, ("remainder", ())),
    "@": (_PRODUCT, ("matmul", ())),
    "**": (_POWER, ("power", ())),
}
_NEGATIVE: _Words = ("negative", ())
#: Opened brackets that are no call's.
_PART: _Words = ("(", ())
_INDEX: _Words = ("[", ())
#: The beginning of a slice at a colon in an index.
_SLICE: _Words = (":", ())
_CONSTANTS = {"None": None, "True": True, "False": False}
_NONE = _OPEN, _PART
_OPENING = frozenset("-(")
#: Most that waits at once, and most pieces of a line: Python's parser has limits, too, and is to
#: find the positions.
_MOST, _LONGEST = 40, 1000
_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


class Positions(Sequence[Position]):
    """The places of nodes, found by ``find`` when the first is asked for."""

    def __init__(self, length: int, find: Callable[[], Sequence[Position]]) -> None:
        self._length = length
        self._find = find

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> Position: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Position]: ...
    def __getitem__(self, at: int | slice) -> Position | Sequence[Position]:
        return self._found[at]

    @cached_property
    def _found(self) -> Sequence[Position]:
        return self._find()


def read_plain(
    text: str, find: Callable[[], Sequence[Position]], poll: Poll = unhurried
) -> Program | None:
    """The program of a plain text, None of any other; ``find`` finds its nodes' positions."""
    lines = text.split("\n")
    if "#" in text:
        lines = [line.partition("#")[0] for line in lines]
        text = "\n".join(lines)
    if _OTHER.search(text):
        return None
    numbers = [n for n, line in enumerate(polled(lines, poll)) if line.strip(" \t")]
    if not numbers:
        return None
    last = numbers.pop()
    names, reader = _target(lines[last]), _Reader()
    try:
        for number in polled(numbers, poll):
            reader.statement(lines[number])
        if names is None:
            reader.statement(lines[last])
            if reader.ends_in_names():
                return None  # in brackets, and what is returned, as if there were none
        reader.check_calls()
    except (OtherwiseWritten, ValueError):
        return None
    output, nodes = reader.output if names is None else _listed(names), tuple(reader.nodes)
    positions = Positions(len(nodes), find)
    return Program(Block(nodes), output, positions, (last + 1, 1))


class _Reader:
    """Writes nodes in the order of evaluation, an operator's once its operands are complete."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.output: Output = None
        self._has_expression = False
        self._assigned: set[str] = set()
        #: Names that must not be assigned anywhere: those called, and those before a dot.
        self._called: set[str] = set()
        #: Kind and value of the nodes of the names and numbers met so far.
        self._operands: dict[str, tuple[str, object]] = {}
        #: The number of the first node of each line, where it was written first.
        self._first: dict[str, int] = {}
        #: The number of the first node of the last statement.
        self._last = 0
        #: The number of which a sign was read last as a part.
        self._signed = -1
        #: The names of named arguments, for the calls of a line as their brackets are closed.
        self._named: Iterator[tuple[str, ...]] = iter(())

    def check_calls(self) -> None:
        """Leave calls of what the text assigns to others."""
        if not self._called.isdisjoint(self._assigned):
            raise OtherwiseWritten

    def statement(self, line: str) -> None:
        """Write an assignment, or an expression whose value may be the program's."""
        first = self._first.setdefault(line, len(self.nodes))
        self._last = len(self.nodes)
        if first < len(self.nodes):
            self._repeat(first)
        else:
            self._read(line)
        names = self.nodes[-1].value
        if names == RESULT:
            self.output, self._has_expression = RESULT, True
        elif not self._has_expression:
            self.output = _listed(names)

    def ends_in_names(self) -> bool:
        """True if the last statement is an expression of names alone."""
        *value, store = self.nodes[self._last :]
        return store.value == RESULT and all(n.kind in ("load", "tuple") for n in value)

    def _read(self, line: str) -> None:
        head, equals, body = line.partition("=")
        names = _target(head) if equals else None
        written = names is not None
        pieces = _PIECES.findall(body if written else line)
        if len(pieces) > _LONGEST or line[0] in " \t":
            raise OtherwiseWritten
        names = names if names is not None else RESULT
        if "=" in pieces:
            pieces, self._named = without_names(pieces)
        values = self._expressions(pieces)
        value = values[0] if len(values) == 1 else self._write("tuple", tuple(values), None)
        self._write("store", (value,), names)
        if written:
            self._assigned.update((names,) if isinstance(names, str) else flat_names(names))

    def _repeat(self, first: int) -> None:
        """Write the nodes of a line again that was written before, from number ``first`` on."""
        nodes = self.nodes
        ahead, kind = len(nodes) - first, ""
        while kind != "store":
            kind, args, value, _, _ = nodes[first]
            if len(args) == 2:
                args = args[0] + ahead, args[1] + ahead
            elif args:
                args = tuple([arg + ahead for arg in args])
            nodes.append(_new_tuple(Node, (kind, args, value, (), first + ahead)))
            first += 1

    def _write(self, kind: str, args: tuple[int, ...], value: object) -> int:
        nodes = self.nodes
        number = len(nodes)
        nodes.append(_new_tuple(Node, (kind, args, value, (), number)))
        return number

    def _expressions(self, pieces: list[str]) -> list[int]:
        """Write expressions with commas between; gives the numbers of their nodes."""
        nodes, operands = self.nodes, self._operands
        values: list[int] = []
        waiting: list[_Waiting] = []
        expected, callee = True, _PART  # whether an operand comes next, and whose bracket
        for piece, following in pairwise([*pieces, "", ""]):
            if expected:
                if piece in _OPENING:
                    signed = piece == "-"
                    opened = (_SIGN, _NEGATIVE, 0) if signed else (_OPEN, callee, len(values))
                    waiting.append(opened)
                    callee = _PART
                    if len(waiting) > _MOST:
                        break
                elif following == "(" and piece not in (":", ","):
                    callee = self._callee(piece)
                else:
                    found = operands.get(piece)
                    if found is None:
                        if self._leaves_out(piece, waiting, values):
                            expected = piece != "]"
                            continue
                        found = self._operand(piece)
                    kind, value = found
                    number = len(nodes)
                    values.append(number)
                    nodes.append(_new_tuple(Node, (kind, (), value, (), number)))
                    expected = False
                continue
            strength, words = _OPERATORS.get(piece, _NONE)
            if piece != "[" and strength != _POWER:  # these take the last operand alone
                while waiting and waiting[-1][0] >= (strength or _SUM):
                    self._complete(waiting.pop()[1], values)
            if strength:
                waiting.append((strength, words, 0))
            elif piece == "[":
                waiting.append((_OPEN, _INDEX, len(values) - 1))
            else:
                if waiting and waiting[-1][1] is _SLICE and piece != ":":
                    self._end_slice(waiting, values)
                if piece in (")", "]") and waiting:
                    self._close(piece, waiting.pop(), values)
                    continue
                if piece == ":":
                    self._begin_part(waiting, values)
                elif piece != "," and (piece or waiting):
                    break
            expected = True
            if len(waiting) > _MOST:
                break
        else:
            return values
        raise OtherwiseWritten

    def _complete(self, words: _Words, values: list[int]) -> None:
        """Write an operator whose operands are the last values."""
        operand = values.pop()
        if words is not _NEGATIVE:
            values[-1] = self._write("call", (values[-1], operand), words)
            return
        kind, _, number, _, _ = self.nodes[operand]
        if type(number) in (int, float) and kind == "literal" and operand != self._signed:
            self.nodes[operand] = Node(kind, (), -number, (), operand)
            self._signed = operand
        else:
            operand = self._write("call", (operand,), words)
        values.append(operand)

    def _close(self, piece: str, opened: _Waiting, values: list[int]) -> None:
        """Write what a bracket was opened for."""
        _, words, first = opened
        parts = tuple(values[first:])
        del values[first:]
        if (words is _INDEX) is not (piece == "]") or (words is _PART and len(parts) > 1):
            raise OtherwiseWritten
        if words is _PART:
            values += parts
        elif words is _INDEX:
            values.append(self._write("index", parts, None))
        else:
            names = next(self._named, ())
            values.append(self._write("call", parts, (words[0], names) if names else words))

    def _leaves_out(self, piece: str, waiting: list[_Waiting], values: list[int]) -> bool:
        """True if a part of a slice is left out before ``piece``; writes None, and goes on."""
        opened = waiting[-1][1] if waiting else _PART
        if piece == ":" and opened in (_INDEX, _SLICE):
            values.append(self._write("literal", (), None))
            self._begin_part(waiting, values)
        elif piece in (",", "]") and opened is _SLICE:
            values.append(self._write("literal", (), None))
            self._end_slice(waiting, values)
            if piece == "]":
                self._close(piece, waiting.pop(), values)
        else:
            return False
        return True

    def _begin_part(self, waiting: list[_Waiting], values: list[int]) -> None:
        """Go on behind a colon; the last value is what stands before it."""
        _, opened, first = waiting[-1] if waiting else (_OPEN, _PART, 0)
        if opened is _INDEX:
            waiting.append((_OPEN, _SLICE, len(values) - 1))
        elif opened is not _SLICE or len(values) - first > 2:
            raise OtherwiseWritten

    def _end_slice(self, waiting: list[_Waiting], values: list[int]) -> None:
        """Write a slice of the last values, None for those that it lacks."""
        _, _, first = waiting.pop()
        while len(values) - first < 3:
            values.append(self._write("literal", (), None))
        values[first:] = [self._write("slice", tuple(values[first:]), None)]

    def _callee(self, piece: str) -> _Words:
        """The function that a name before a bracket calls."""
        kind, _ = self._operands.get(piece) or self._operand(piece)
        if kind != "load":
            raise OtherwiseWritten
        self._called.add(piece)
        return piece, ()

    def _operand(self, piece: str) -> tuple[str, object]:
        """Kind and value of the node of a name or a number."""
        found: tuple[str, object] = "load", piece
        if piece[:1].isdigit() or piece[:1] == ".":
            found = "literal", _number(piece)
        elif piece in _CONSTANTS:
            found = "literal", _CONSTANTS[piece]
        elif not piece.isidentifier() or iskeyword(piece):
            root, *parts = piece.split(".")
            self._called.add(root)
            named = all(name.isidentifier() and not iskeyword(name) for name in (root, *parts))
            if not (parts and named and root in PREFIXES):
                raise OtherwiseWritten
        self._operands[piece] = found
        return found


def _number(piece: str) -> int | float:
    """A number, as far as Python reads it the same."""
    if "_" in piece:
        raise OtherwiseWritten
    if not piece.isdecimal():
        return float(piece)
    if piece[0] == "0" < piece or len(piece) > MOST_DIGITS:
        raise OtherwiseWritten
    return int(piece)


def _target(text: str) -> Target | None:
    """The names that make up a text, None where it is more than names."""
    text = text.rstrip(" \t")
    if text.isidentifier():  # as most are
        return None if iskeyword(text) else text
    if not _NAMES.fullmatch(text):
        return None
    names = tuple([name.strip(" \t") for name in text.split(",")])
    if any(map(iskeyword, names)):
        return None
    return names if len(names) > 1 else names[0]


def _listed(names: Target) -> Output:
    return names if isinstance(names, str) else list(names)
