"""The end of a run."""

from __future__ import annotations

from typing import NamedTuple

from gradwire_engine.answer import Array


class Ending(NamedTuple):
    """The last point, its value, and whether it is what was looked for."""

    x: Array
    value: float
    gradient_norm: float
    success: bool
    message: str
