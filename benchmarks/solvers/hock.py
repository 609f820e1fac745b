"""Problems of Hock and Schittkowski, as far as they are of elementary functions alone.

Those that start outside their bounds start at the nearest point within here. Their least values
are solutions of the conditions of Karush, Kuhn and Tucker in 14 digits, which agree with the
published ones as far as those are exact.

Source: Test Examples for Nonlinear Programming Codes, Lecture Notes in Economics and Mathematical
Systems 187 (1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solvers.problems import Problem


def hock(
    number: int, text: str, start: Sequence[float], minima: Sequence[float], **further: Any
) -> Problem:
    """The problem of this number, whose texts name the elements ``x1``, ``x2``, …."""
    return Problem(
        name=f"HS{number}", text=text, start=start, minima=minima, unpacked=True, **further
    )
