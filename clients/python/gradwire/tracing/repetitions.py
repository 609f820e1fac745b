"""Stretches of terms that repeat themselves with a period: what may be the passes of a loop."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from gradwire.tracing.terms import AT, ITEM, Body, Term, TextFunction

#: Fewer terms, or passes, are sent one by one: the engine finds their loop as quickly.
FEWEST_TERMS, FEWEST_PASSES = 600, 32
#: So many periods are tried.
_CANDIDATES = 4
#: Numbers that may differ between passes.
NUMBERS = (int, float, np.floating, np.integer)


@dataclass(frozen=True, slots=True)
class Stretch:
    """``passes`` passes of ``length`` terms each, from the position ``start`` on."""

    start: int
    length: int
    passes: int

    def at(self, number: int, offset: int) -> int:
        """The position of a term."""
        return self.start + number * self.length + offset

    @property
    def stop(self) -> int:
        """The position behind the last pass."""
        return self.at(self.passes, 0)


def repetitions(terms: Sequence[Term]) -> Iterator[tuple[int, int, int]]:
    """Where passes begin, their length and how many there are, of the longest runs first."""
    for start, length, covered in _runs(_tokens(terms)):
        begin, passes = _cut(terms, start, length, covered)
        yield begin, length, passes


def _tokens(terms: Sequence[Term]) -> np.ndarray[Any, Any]:
    """A number for each term: equal for calls that differ in operands and some numbers alone."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key_of(term), len(numbers)) for term in terms])


def key_of(term: Term) -> Hashable:
    """The common key of calls that differ in operands and some numbers alone."""
    if isinstance(term, Body):
        return term
    return (term.op, term.place, *_shape((term.args, term.kwargs), _may_vary(term.op)))


def _may_vary(op: str) -> bool:
    """True if plain numbers among a call's arguments are operands or places."""
    if op == ITEM or op.startswith(AT) or not op[0].isidentifier():
        return True
    return isinstance(getattr(np, op.removeprefix("np."), None), np.ufunc)


def _shape(value: Any, varies: bool) -> Iterator[Hashable]:
    """Arguments but for operands, and for numbers that may vary."""
    if isinstance(value, Term):
        yield value if isinstance(value, (Body, TextFunction)) else Term
    elif varies and isinstance(value, NUMBERS) and not isinstance(value, bool):
        yield type(value).__name__
    elif isinstance(value, (list, tuple)):
        yield type(value), len(value)
        for item in value:
            yield from _shape(item, varies)
    elif isinstance(value, (dict, MappingProxyType)):
        for name, item in value.items():
            yield name
            yield from _shape(item, varies)
    elif isinstance(value, slice):  # whose bounds decide a shape
        yield slice
        for item in (value.start, value.stop, value.step):
            yield from _shape(item, False)
    else:
        yield repr(value)


def _runs(tokens: np.ndarray[Any, Any]) -> list[tuple[int, int, int]]:
    """Start, period and length of the longest runs with a period, the longest first."""
    order = np.argsort(tokens, kind="stable")
    distances = np.diff(order)[tokens[order[1:]] == tokens[order[:-1]]]
    frequent = np.bincount(distances, minlength=1)
    found = []
    for length in np.argsort(-frequent, kind="stable")[:_CANDIDATES].tolist():
        if frequent[length] < FEWEST_PASSES:
            break
        differ = np.flatnonzero(tokens[length:] != tokens[:-length])
        ends = np.concatenate([[-1], differ, [len(tokens) - length]])
        run = int(np.argmax(np.diff(ends)))
        start, covered = int(ends[run]) + 1, int(ends[run + 1] - ends[run]) - 1 + length
        if covered >= max(FEWEST_PASSES * length, FEWEST_TERMS):
            found.append((start, length, covered))
    return sorted(found, key=lambda run: -run[2])


def _cut(terms: Sequence[Term], start: int, length: int, covered: int) -> tuple[int, int]:
    """Where passes begin that hand on the fewest values, and how many there are."""
    begin = start + length  # of a pass in the middle of three
    position = {term: i for i, term in enumerate(terms[start : start + 3 * length], start)}
    crossing = [0] * length
    last: dict[int, int] = {}
    for at in range(start, min(start + 3 * length, len(terms))):
        for operand in terms[at].operands:
            if operand in position:
                last[position[operand]] = at
    for at in range(begin, begin + length):
        for boundary in range(at + 1, min(last.get(at, at), at + length) + 1):
            crossing[(boundary - start) % length] += 1
    phase = crossing.index(min(crossing))
    return start + phase, (covered - phase) // length
