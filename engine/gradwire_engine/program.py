"""The program: what the client sent, as structured code that knows no values and no types.

A block is a flat list of nodes in the order of evaluation; a node's operands are earlier nodes of
its block. So nothing that handles programs recurses over expressions.

=============  ==================  ============================  ===========================
kind           args                value                         blocks
=============  ==================  ============================  ===========================
literal                            number, bool, None, str, ...
load                               name
store          value               name, or nested tuple; ``*name``: the rest
call           positional, named   (dotted name, named names)
apply          callee, args        named names
method         object, args        (name, named names)
attribute      object              name
index          object, items
slice          start, stop, step
list, tuple    items
dict           values              keys
and, or        left                                              right
choose         condition                                         then, else
function       defaults            parameters                    body
comprehension  iterable            target                        conditions, element
if             condition                                         then, else
while                                                            condition, body, else
for            iterable            target                        body, else
stop_recording                                                   body
setitem        value, items        name
return         value
break, continue
=============  ==================  ============================  ===========================
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias
from unicodedata import is_normalized, normalize

from gradwire_engine.errors import Place
from gradwire_engine.polling import no_deadline

#: A name, or names unpacked from a sequence, of which one may take the rest: ``*name``.
Target: TypeAlias = "str | tuple[Target, ...]"
#: Names nested in lists and dicts, or None for the value of the last expression statement.
Output: TypeAlias = Any
#: Line and column from 1, or a JSON pointer.
Position: TypeAlias = tuple[int, int] | str
#: The name in which an expression statement leaves its value; no client can write it.
RESULT = ""
#: Most digits of an integer in a program: those of any float, which arithmetic may make of it.
MOST_DIGITS = sys.float_info.max_10_exp


class Node(NamedTuple):
    """One step of a block; ``at`` numbers it in the whole program."""

    kind: str
    args: tuple[int, ...]
    value: Any
    blocks: tuple[Block, ...]
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Nodes in the order of evaluation; the last one's value is the block's where one is wanted."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """A canonical program. Equal programs have equal ids, whichever form they came in.

    ``output`` is what is returned by default (names nested in lists and dicts); a ``return`` that
    is executed takes its place. ``positions`` says for each node where the client wrote it: line
    and column, or a JSON pointer; ``output_position`` the same of the output.
    """

    body: Block
    output: Output
    positions: Sequence[Position] = field(repr=False)
    output_position: Position = (1, 1)

    @cached_property
    def id(self) -> str:
        """Digest of the canonical form, ``sha256:…``."""
        return self.identified(no_deadline)

    def identified(self, poll: Callable[[], None]) -> str:
        """The same, computed once; of a long program, with looks at the deadline."""
        found: str | None = self.__dict__.get("id")
        if found is None:
            form = hashlib.sha256(_opening(2))
            for piece in _canonical(self.body, poll):
                form.update(piece)
            form.update(marshal.dumps(self.output, _PLAIN))
            found = self.__dict__["id"] = "sha256:" + form.hexdigest()
        return found

    def place(self, origin: int) -> Place:
        """The place in the source of the node that instructions of this origin belong to."""
        number = origin if origin >= 0 else ~origin
        if number >= len(self.positions):
            return self.output_place  # a name alone has no nodes
        op, name = self._named.get(number, (None, None))
        return _place(self.positions[number], op, name)

    @property
    def output_place(self) -> Place:
        """The place in the source of what the program returns."""
        return _place(self.output_position, None, None)

    @cached_property
    def _named(self) -> dict[int, tuple[str, str | None]]:
        """Operation of each call by its number, and the name its value is stored under."""
        named: dict[int, tuple[str, str | None]] = {}
        for nodes in nested_nodes(self.body):
            for node in nodes:
                if node.kind in ("call", "method"):
                    named[node.at] = (node.value[0], None)
                elif node.kind == "store" and isinstance(node.value, str):
                    stored = nodes[node.args[0]].at
                    named[stored] = (named.get(stored, (None, None))[0], node.value or None)  # type: ignore[assignment]
                elif node.kind not in ("load", "literal"):
                    named[node.at] = (node.kind, None)
        return named


def _place(position: Position, op: str | None, name: str | None) -> Place:
    if isinstance(position, str):
        return Place(op=op, id=name, pointer=position)
    return Place(op=op, id=name, line=position[0], column=position[1], pointer="/program")


_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


class Writer:
    """Builds a program's nodes, numbering them; both front ends write through it."""

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self._nodes: list[Node] = []
        self._outer: list[list[Node]] = []

    def open(self) -> None:
        """Begin a block."""
        self._outer.append(self._nodes)
        self._nodes = []

    def close(self) -> Block:
        """End the block begun last."""
        block = Block(tuple(self._nodes))
        self._nodes = self._outer.pop()
        return block

    def write(
        self,
        position: Position,
        kind: str,
        args: tuple[int, ...] = (),
        value: Any = None,
        blocks: tuple[Block, ...] = (),
    ) -> int:
        """Append a node to the open block; gives its number there."""
        nodes, positions = self._nodes, self.positions
        nodes.append(_new_tuple(Node, (kind, args, value, blocks, len(positions))))
        positions.append(position)
        return len(nodes) - 1


def has_too_many_digits(literal: Any) -> bool:
    """True if a literal is an integer of more than ``MOST_DIGITS``."""
    return type(literal) is int and abs(literal) >= _TOO_LARGE


def is_position(part: str) -> bool:
    """True if a part of a dotted path counts the items of a list."""
    return part.isdecimal() and len(part) < _LONGEST_POSITION


def refolded(name: str) -> tuple[str, str] | None:
    """The refusal of a name that Python reads as another one: message and hint; else None.

    Python folds identifiers by Unicode's NFKC, JSON keys are never folded: one name would be two.
    What is no identifier cannot be written in a text, and stays as it is.
    Source: The Python Language Reference, 2.3; PEP 3131; Unicode Standard Annex 15.
    """
    if name.isascii() or not name.isidentifier() or is_normalized("NFKC", name):
        return None
    shown, other = name[:_SHOWN], normalize("NFKC", name)[:_SHOWN]
    message = f"the name '{shown}' is not in Unicode's form NFKC: Python takes it for '{other}'"
    spelled = "" if other.isascii() else f" ({other!a})"
    return message, f"write '{other}'{spelled}"


#: Characters of a name that an error repeats.
_SHOWN = 40
_TOO_LARGE, _LONGEST_POSITION = 10**MOST_DIGITS, 20
#: The version of Python's serialisation in which equal values have equal bytes, whichever objects
#: they are. A letter says the kind, integers are little-endian: N, T, F and . for None, True, False
#: and the ellipsis; i and 4 bytes; l, the signed number of 15-bit digits, and these; f, a length,
#: and 17 digits; x and two such; u, a length, and UTF-8; ( or [, a length, and the items; {, then
#: keys and values, then 0. Programs are kept by their ids: a Python that writes otherwise needs a
#: writer of our own. Tests hold ids to those on record, and to a writer by this definition.
_PLAIN = 0
#: So many nodes are written at once.
_PIECE = 4096


def _opening(length: int) -> bytes:
    """The head of a tuple."""
    return b"(" + length.to_bytes(4, "little")


def _canonical(block: Block, poll: Callable[[], None]) -> Iterator[bytes]:
    """The canonical text of a block: by columns, kinds, args, values, and the blocks within."""
    nodes = block.nodes
    if not nodes:
        yield _opening(0)
        return
    yield _opening(4)
    for column in map(itemgetter, range(3)):
        yield _opening(len(nodes))
        for start in range(0, len(nodes), _PIECE):
            poll()
            part = tuple(map(column, nodes[start : start + _PIECE]))
            yield marshal.dumps(part, _PLAIN)[5:]  # without its opening
    if not any(map(itemgetter(3), nodes)):
        yield _opening(0)
        return
    yield _opening(len(nodes))
    for node in nodes:
        yield _opening(len(node.blocks))
        for inner in node.blocks:
            yield from _canonical(inner, poll)


def nested_nodes(block: Block, but: Collection[str] = ()) -> Iterator[tuple[Node, ...]]:
    """The nodes of a block, and of each block within it but those of the kinds ``but``."""
    blocks = [block]
    while blocks:
        nodes = blocks.pop().nodes
        yield nodes
        for node in nodes:
            if node.blocks and node.kind not in but:
                blocks.extend(node.blocks)


def stored_names(block: Block) -> frozenset[str]:
    """Names that running ``block`` may bind, not looking into functions."""
    return frozenset(
        name
        for nodes in nested_nodes(block, but=("function", "comprehension"))
        for node in nodes
        if node.kind in ("store", "for")
        for name in flat_names(node.value)
    )


def rebound_names(block: Block) -> frozenset[str]:
    """Names of which ``block`` may assign elements, or to which it may append."""
    names: set[str] = set()
    for nodes in nested_nodes(block, but=("function",)):
        for node in nodes:
            if node.kind == "setitem":
                names.add(node.value)
            elif node.kind == "method" and node.value[0] == "append":
                owner = nodes[node.args[0]]
                names.update([owner.value] if owner.kind == "load" else [])
    return frozenset(names)


def output_names(output: Any) -> Iterator[str]:
    """The names in a program's output."""
    if isinstance(output, str):
        yield output
    else:
        for item in output.values() if isinstance(output, dict) else output or ():
            yield from output_names(item)


def flat_names(target: Target) -> list[str]:
    """The names of a target."""
    if isinstance(target, str):
        return [target.lstrip("*")]
    return [name for item in target for name in flat_names(item)]
