"""Statements that a text repeats, but for the numbers of elements: ``h = cell(h, xs[7])``."""

from __future__ import annotations

import re
from collections.abc import Hashable

from gradwire_engine.program import Repetition

#: The number of an element. In quotes there may be one, too: texts with any are taken as they are.
_ELEMENT = re.compile(r"(?<=\[)\d+(?=\])", re.ASCII)
_QUOTES = re.compile("[\"']")
#: Fewest occurrences that count as a repetition.
_MANY_TIMES = 8


class Repetitions:
    """The statements of a text in their order, and where their nodes begin."""

    def __init__(self) -> None:
        self._written: list[Hashable] = []
        self.starts: list[int] = []

    def add(self, written: str, start: int, column: int = 0) -> None:
        """Take in the next statement, by its text from the first line to the last."""
        self.starts.append(start)
        if "[" in written and not _QUOTES.search(written):
            written = _ELEMENT.sub("", written)
        self._written.append((written, column) if column else written)

    def longest(self, length: int) -> Repetition | None:
        """The most nodes of statements that stand above, too, all at the same distance.

        ``length`` is the number of all nodes.
        """
        found, most = None, 0
        last: dict[Hashable, int] = {}
        distance = begin = 0
        starts = [*self.starts, length]
        for at, written in enumerate([*self._written, None]):
            now = at - last.get(written, at)
            last[written] = at
            if now == distance:
                continue
            if distance:
                first = begin - distance
                times = (at - first) // distance
                each = starts[begin] - starts[first]
                whole = starts[first + times * distance] - starts[first]
                if times >= _MANY_TIMES and whole == each * times > most:
                    found, most = Repetition(starts[first], each, times), whole
            distance, begin = now, at
        return found
