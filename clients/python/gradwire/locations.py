"""Places in a program, as answers and errors name them."""

from __future__ import annotations

from dataclasses import dataclass

from gradwire.documents import Document


@dataclass(frozen=True, slots=True)
class Node(Document):
    """An operation of the program; ``line`` and ``column`` count from 1 in source text."""

    op: str | None = None
    id: str | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None

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
