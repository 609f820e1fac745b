"""The names of arguments in a line of plain text, taken out of it before it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from keyword import iskeyword


class OtherwiseWritten(Exception):
    """This is not plain."""


def without_names(pieces: Sequence[str]) -> tuple[list[str], Iterator[tuple[str, ...]]]:
    """A line without the names of arguments; calls have them in the order of their brackets' ends.

    They must be in the order in which the tree's reader sorts them.
    """
    left, found = list[str](), list[tuple[str, ...]]()
    opened: list[list[str] | None] = []  # the names in each bracket, if it is a call's
    begins, rest = False, pairwise([*pieces, ""])
    for piece, following in rest:
        names = opened[-1] if opened else None
        if following == "=" and begins and names is not None:
            if not piece.isidentifier() or iskeyword(piece) or names[-1:] >= [piece]:
                raise OtherwiseWritten
            names.append(piece)
            begins = False
            next(rest)
            continue
        if piece == "=" or (names and begins):  # what has no name stands behind what has
            raise OtherwiseWritten
        begins = piece in ("(", "[", ",")
        if piece == "(" or piece == "[":
            called = piece == "(" and left and left[-1][:1].isidentifier()
            opened.append([] if called else None)
        elif piece in (")", "]"):
            if not opened:
                raise OtherwiseWritten
            if (closed := opened.pop()) is not None:
                found.append(tuple(closed))
        left.append(piece)
    return left, iter(found)
