"""Lines of numbers that a text repeats many times, recorded as the loop that somebody wrote out.

A gradient is made in the time that a loop takes instead of that of its length. It is the same but
for rounding: cotangents that all passes share are added up in another order. The last passes are
recorded by themselves, until all that they read is read of the pass before, too: of what nothing
reads a loop takes the cotangent as zero, and zero times infinity is no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.builder import Var
from gradwire_engine.program import Block, Node, Program, Repetition, output_names
from gradwire_engine.record import calls, loops
from gradwire_engine.record.scope import MISSING
from gradwire_engine.record.statements import Statement

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Passes that may be recorded by themselves.
_MOST_LAST = 4


class Repeated(Statement):
    """Lines that stand so many times one after the other."""

    always_rolled = True

    def __init__(self, r: Recorder, body: Block, times: int) -> None:
        super().__init__(r, body, Block(()), frozenset())
        self.length = times

    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Run the lines."""
        return self.run()


def run(r: Recorder, repetition: Repetition, named: frozenset[str]) -> None:
    """Run the whole program; the names ``named`` are asked for by themselves."""
    body, results = r.program.body, list[Any]()
    start, length, times = repetition
    r.step(body, results, start)
    lines = body.nodes[start : start + length]
    times -= _last_passes(r.program, repetition)
    if times > 0 and _of_numbers(r, lines) and named.isdisjoint(_stored(lines)):
        within = [n._replace(args=tuple([arg - start for arg in n.args])) for n in lines]
        r.b.origin = lines[0].at
        loops.run(r, Repeated(r, Block(tuple(within)), times))
        results += [None] * (length * times)
    r.step(body, results)


def _of_numbers(r: Recorder, lines: Sequence[Node]) -> bool:
    """Whether lines read numbers alone."""
    values = [r.scope.find(node.value) for node in lines if node.kind == "load"]
    return all(
        value is MISSING or isinstance(value, float) or (isinstance(value, Var) and not value.shape)
        for value in values
    )


def _last_passes(program: Program, repetition: Repetition) -> int:
    """How many passes are to be recorded by themselves, all if that is not known."""
    nodes, (start, length, times) = program.body.nodes, repetition
    after = nodes[start + length * times :]
    lines = nodes[start : start + length]
    if not all(map(_hands_on, (*lines, *after))):
        return times
    stored = _stored(lines)
    waiting = _read(after, {*output_names(program.output)}) & stored
    for last in range(_MOST_LAST):
        before = _read(lines, waiting) & stored
        if before == waiting:
            return last + 1
        waiting = before
    return times


def _hands_on(node: Node) -> bool:
    """Whether whoever waits for what a node gives waits for all that it reads."""
    if node.kind == "call":
        name, _ = node.value
        known = calls.of_language(name) is None and calls.is_operation(name)
        return known and calls.resolve(name).differentiable
    return node.kind in ("load", "literal") or (node.kind == "store" and type(node.value) is str)


def _read(nodes: Sequence[Node], waiting: set[str]) -> set[str]:
    """The names that are needed before ``nodes``, if the ``waiting`` are after them."""
    needed = set(waiting)
    counts = False
    for node in reversed(nodes):
        if node.kind == "store":
            counts = node.value in needed
            needed.discard(node.value)
        elif node.kind == "load" and counts:
            needed.add(node.value)
    return needed


def _stored(nodes: Iterable[Node]) -> set[str]:
    return {node.value for node in nodes if node.kind == "store"}
