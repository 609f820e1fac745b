"""Places in a program, as answers and errors name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """An operation of the program; ``line`` and ``column`` count from 1 in source text."""

    op: str | None = None
    id: str | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None

    @classmethod
    def read(cls, document: Any) -> Node | None:
        """The node of a reply; members that this version does not know are left out."""
        if not isinstance(document, Mapping):
            return None
        return Node(**{name: document.get(name) for name in Node.__slots__})

    def excerpt(self, source: str | None) -> list[str]:
        """The node's line of the source text, a caret under its column."""
        lines = (source or "").splitlines()
        if self.line is None or not 1 <= self.line <= len(lines):
            return []
        label = f"  line {self.line}: "
        shown = [label + lines[self.line - 1]]
        if self.column is not None:
            indent = lines[self.line - 1][: self.column - 1]
            blank = "".join("\t" if character == "\t" else " " for character in indent)
            shown.append(" " * len(label) + blank + "^")
        return shown
