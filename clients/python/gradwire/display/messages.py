"""Messages about answers, common to terminals and notebooks."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from gradwire.display.figures import Summary, digits, summary
from gradwire.display.rows import rows
from gradwire.ragged import RaggedArray
from gradwire.results import Check, Derivative, Nonfinite, Notice, Result
from gradwire.sparse import SparseArray
from gradwire.stored import StoredTensor
from gradwire.tapes import Recorded
from gradwire.trees import MISSING
from gradwire.values import type_of

#: Most elements that are listed.
MOST_ELEMENTS = 6
#: Characters of the longest list of them.
LONGEST_LIST = 64
#: Most characters of a name in a line; longer ones are cut in the middle.
WIDEST = 44


def brief(leaf: Any) -> str:
    """A leaf in a few characters: its elements, or summary statistics."""
    if leaf is MISSING:
        return ""
    if leaf is None:
        return "none"
    if isinstance(leaf, StoredTensor):
        return "with the service"
    stats = summary(leaf)
    if stats is None:
        return cut(repr(leaf))
    if isinstance(leaf, (SparseArray, RaggedArray)) or stats.size > MOST_ELEMENTS:
        return extent(stats)
    each = elements(np.asarray(leaf))
    return each if len(each) <= LONGEST_LIST else extent(stats)


def elements(array: Any) -> str:
    """All elements of a small array: ``[[1, 2], [3, 4]]``."""
    if array.ndim == 0:
        return digits(array[()])
    return f"[{', '.join(map(elements, array))}]"


def extent(stats: Summary) -> str:
    """Least, mean and greatest element, and non-finite ones: ``0.1 … 0.9, mean 0.4``."""
    parts = [f"{stats.nonfinite:,} not finite"] if stats.nonfinite else []
    if stats.min is not None and stats.mean is not None and stats.max is not None:
        least, mean, most = (digits(each, 3) for each in (stats.min, stats.mean, stats.max))
        same = "all " if stats.size > 1 and not stats.nonfinite else ""
        range_ = f"{same}{least}" if least == most else f"{least} … {most}, mean {mean}"
        parts.insert(0, f"|·| {range_}" if stats.is_complex else range_)
    return ", ".join(parts) or "empty"


def cut(words: str, width: int = WIDEST) -> str:
    """Text of at most this width, cut in the middle if necessary."""
    if len(words) <= width:
        return words
    ahead = width // 2
    return f"{words[:ahead]}…{words[len(words) - (width - ahead - 1) :]}"


def why_none(result: Result, path: str) -> str:
    """The reason why a source has no derivative; empty if unknown."""
    unconnected = result.unconnected if isinstance(result, Derivative) else {}
    return unconnected[path].detail if path in unconnected else ""


def verdict(result: Check, path: str) -> str:
    """A source's gradient compared with differences; empty if it was not checked."""
    check = result.checks.get(path)
    if check is None:
        return ""
    at = f" at {list(check.at)}" if check.at else ""
    return f"{'right' if check.ok else 'WRONG'}, error {digits(check.error, 2)}{at}"


def title(result: Result) -> str:
    """An answer's title: ``Gradient of 0.25``."""
    name = type(result).__name__
    if isinstance(result, Check):
        return f"{name} of {_value(result.value)}: {'all right' if result.ok else 'WRONG'}"
    if isinstance(result, Derivative):
        return f"{name} of {_value(result.value)}"
    return f"{name} {result.id}" if isinstance(result, Recorded) else name


def nonfinite_sentence(way: str, node: Nonfinite) -> str:
    """A sentence about the first non-finite value."""
    if node.instruction == "input":
        count = sum(each.nonfinite for each in node.operands)
        return f"Non-finite input: {node.id or 'a variable'} has {count:,} such elements"
    given = [
        digits(each.min) if each.min == each.max else f"{digits(each.min)} … {digits(each.max)}"
        for each in node.operands
        if each.min is not None and each.max is not None
    ]
    by = f", by {node.instruction}" if node.instruction and node.instruction != node.op else ""
    of = f", given {' and '.join(given)}" if given else ""
    hint = f"; {node.hint}" if node.hint else ""
    where = node.op or node.id or "an unknown operation"
    return f"First non-finite value, {way}: {where}{by}{of}{hint}"


def notice_sentence(notice: Notice) -> str:
    """A notice's detail and its code."""
    return f"{notice.detail} ({notice.code})"


def timings_sentence(result: Result) -> str:
    """Milliseconds by phase."""
    phases = ", ".join(f"{name} {digits(ms, 3)}" for name, ms in result.timings.items())
    return f"{phases} ms" if phases else ""


def _value(value: Any) -> str:
    found = list(islice(rows({"value": value}), 2))
    if len(found) != 1 or found[0].leaves is None:
        return "several values"
    stats = summary(value)
    return brief(value) if stats and stats.size == 1 else f"{type_of(value)} {brief(value)}"
