"""Lines that a text repeats many times, recorded as the loop that somebody wrote out.

The lines may differ in the numbers of the elements that they read, ``h = cell(h, xs[7])``, if these
go up or down in equal steps. A gradient is made in the time that a loop takes instead of that of
its length. It is the same but for rounding: cotangents that all passes share are added up in
another order. The last passes are recorded by themselves, until all that they read is read of the
pass before, too: of what nothing reads a loop takes the cotangent as zero, and zero times infinity
is no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.builder import Var
from gradwire_engine.program import Block, Node, Repetition, flat_names, output_names
from gradwire_engine.record import calls, loops
from gradwire_engine.record.scope import MISSING, Closure, Scope
from gradwire_engine.record.sequences import SideBySide
from gradwire_engine.record.statements import For

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Passes that may be recorded by themselves.
_MOST_LAST = 4
#: Fewer nodes, those of functions that lines call included, are as quickly recorded one by one.
_FEWEST_NODES = 500


class Repeated(For):
    """Lines that stand so many times one after the other, each time with other numbers."""

    always_rolled = True

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Run the lines; their numbers have names that no program can write, and only meanwhile."""
        ending = super().turn(number, rows)
        for name in flat_names(self.target):
            del self.r.scope.names[name]
        return ending


def run(r: Recorder, repetition: Repetition, named: frozenset[str]) -> bool:
    """Run the whole program; the names ``named`` are asked for by themselves.

    Gives whether lines were recorded as a loop.
    """
    body, results = r.program.body, list[Any]()
    start, length, times = repetition
    r.step(body, results, start)
    lines = body.nodes[start : start + length]
    numbers = _numbers(body.nodes, repetition)
    rolls = numbers is not None and named.isdisjoint(_stored(lines))
    times -= _last_passes(r, repetition) if rolls else times
    if numbers is not None and times > 0:
        within = [_within(node, i, start, numbers) for i, node in enumerate(lines)]
        names = ("%", *[_name(i) for i in numbers])
        items = SideBySide([range(times), *numbers.values()])
        r.b.origin = lines[0].at
        loops.run(r, Repeated(r, names, items, Block(tuple(within)), Block(())))
        results += [None] * (length * times)
    r.step(body, results)
    return times > 0


def _numbers(nodes: Sequence[Node], repetition: Repetition) -> dict[int, range] | None:
    """The literals of a pass that differ from pass to pass, where they go up in equal steps."""
    start, length, times = repetition
    found: dict[int, range] = {}
    for i in range(length):
        if nodes[start + i].kind == "literal":
            column = [node.value for node in nodes[start + i : start + length * times : length]]
            if column.count(column[0]) < times:
                first, step = column[0], column[1] - column[0]
                end = first + step * times
                if not step or column != [*range(first, end, step)]:
                    return None
                found[i] = range(first, end, step)
    return found


def _within(node: Node, number: int, start: int, numbers: dict[int, range]) -> Node:
    """A node of the lines as one of the body of a loop."""
    if number in numbers:
        return node._replace(kind="load", value=_name(number))
    return node._replace(args=tuple([arg - start for arg in node.args]))


def _name(number: int) -> str:
    return f"%{number}"


def _last_passes(r: Recorder, repetition: Repetition) -> int:
    """The number of passes to be recorded by themselves, all if that is not known."""
    block, (start, length, times) = r.program.body, repetition
    lines, after = block.nodes[start : start + length], block.nodes[start + length * times :]
    stored = _stored(lines)
    reader = _Reader(stored)
    if not (reader.reads_arrays(lines, r.scope) and reader.hands_on(lines, block, r.scope)):
        return times
    if times * (length + reader.called) < _FEWEST_NODES or not reader.hands_on(
        after, block, r.scope
    ):
        return times
    waiting = _read(after, {*output_names(r.program.output)}) & stored
    for last in range(_MOST_LAST):
        before = _read(lines, waiting) & stored
        if before == waiting:
            return last + 1
        waiting = before
    return times


class _Reader:
    """Looks at what nodes do with what they read; the names ``stored`` are those of lines."""

    def __init__(self, stored: set[str]) -> None:
        self._stored = stored
        #: The nodes of the functions that are called.
        self.called = 0
        #: Whether the functions with these bodies need all their arguments, if they end.
        self._known: dict[Block, bool] = {}

    def reads_arrays(self, nodes: Sequence[Node], scope: Scope) -> bool:
        """True if the values of all names are arrays, numbers or functions, if they are known."""
        values = [scope.find(node.value) for node in nodes if node.kind == "load"]
        return all(x is MISSING or isinstance(x, float | Var | Closure) for x in values)

    def hands_on(self, nodes: Sequence[Node], block: Block, scope: Scope) -> bool:
        """True if whoever waits for what nodes of a block give waits for all that they read."""
        return all(self._hands_on(node, block, scope) for node in nodes)

    def _hands_on(self, node: Node, block: Block, scope: Scope) -> bool:
        kind, args, value, _, _ = node
        if kind == "call":
            name, _ = value
            known = calls.of_language(name) is None and calls.is_operation(name)
            return known and calls.resolve(name).differentiable
        if kind == "apply":
            callee = block.nodes[args[0]]
            function = scope.find(callee.value) if callee.kind == "load" else None
            return not value and isinstance(function, Closure) and self._needs_all(function)
        return kind in ("load", "literal", "index", "return") or (
            kind == "store" and type(value) is str
        )

    def _needs_all(self, function: Closure) -> bool:
        """True if what a function returns needs all its arguments, and nothing that lines store."""
        body = function.body
        self.called += len(body.nodes)
        if body not in self._known:
            self._known[body] = False  # while it is looked into: it calls itself
            self._known[body] = self._needs_arguments(function)
        return self._known[body]

    def _needs_arguments(self, function: Closure) -> bool:
        nodes = function.body.nodes
        free = {node.value for node in nodes if node.kind == "load"} - function.local
        if [n.kind for n in nodes].count("return") != 1 or nodes[-1].kind != "return":
            return False
        scope = Scope(function.scope, function.local)
        return (
            free.isdisjoint(self._stored)
            and self.reads_arrays(nodes, scope)
            and self.hands_on(nodes, function.body, scope)
            and _read(nodes, set()).issuperset(function.parameters)
        )


def _read(nodes: Sequence[Node], waiting: set[str]) -> set[str]:
    """The names that are needed before ``nodes``, if the ``waiting`` are after them."""
    needed = set(waiting)
    counts = False
    for node in reversed(nodes):
        if node.kind == "store":
            counts = node.value in needed
            needed.discard(node.value)
        elif node.kind == "return":
            counts = True
        elif node.kind == "load" and counts:
            needed.add(node.value)
    return needed


def _stored(nodes: Iterable[Node]) -> set[str]:
    return {node.value for node in nodes if node.kind == "store"}
