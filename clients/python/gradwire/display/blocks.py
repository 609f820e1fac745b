"""The parts of a report, in the same words for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Title:
    """The name of an answer or a function, and a few words about it."""

    name: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells: words, or numbers and arrays."""

    head: Sequence[str]
    lines: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    #: The number of rows that are left out.
    more: int = 0
    #: True if the cells are the elements of a matrix, each row after its name.
    is_matrix: bool = False

    def cells(self) -> list[list[Any]]:
        """The head and the rows, without columns that are empty; nothing without rows."""
        if not self.lines:
            return []
        kept = [
            i
            for i in range(len(self.head))
            if any(not isinstance(line[i], str) or line[i] for line in self.lines)
        ]
        return [[line[i] for i in kept] for line in (self.head, *self.lines)]


@dataclass(frozen=True, slots=True)
class Problem:
    """A sentence about a problem, and the lines of the program where it is."""

    sentence: str
    excerpt: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A long text, which notebooks open under its summary, and terminals leave out."""

    summary: str
    text: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of HTML, which terminals leave out."""

    image: str


@dataclass(frozen=True, slots=True)
class Remarks:
    """Short remarks in one line."""

    parts: Sequence[str]


Block: TypeAlias = Title | Table | Problem | Listing | Picture | Remarks
