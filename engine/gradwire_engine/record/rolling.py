"""Makes loops and expressions over arrays of what was recorded step by step: a shorter tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gradwire_engine.autodiff.retrace import Retrace
from gradwire_engine.errors import EngineError
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.loops import MustUnroll
from gradwire_engine.record.reroll import rerolled
from gradwire_engine.record.vectorize import vectorized

_Roll: TypeAlias = Callable[[Builder, Sequence[Var]], dict[Var, Var]]
#: Loops after another, and expressions within expressions, are found one at a time. What loops
#: leave in each step may be read by expressions of one structure.
_MOST = 4


class Rolled:
    """Variables that are computed by fewer instructions than they were recorded with."""

    def __init__(self, b: Builder, outputs: Sequence[Var]) -> None:
        self._found: list[Retrace] = []
        self._repeat(vectorized, b, outputs)
        if self._repeat(rerolled, b, outputs):
            self._repeat(vectorized, b, outputs)

    def _repeat(self, roll: _Roll, b: Builder, outputs: Sequence[Var]) -> bool:
        """Roll what is still to be computed, and again, until nothing is found."""
        before = len(self._found)
        for _ in range(_MOST):
            replaced = _replaced(roll, b, [self(out) for out in outputs])
            if not replaced:
                break
            self._found.append(Retrace(replaced))
        return len(self._found) > before

    def __bool__(self) -> bool:
        """True if anything was found."""
        return bool(self._found)

    def __call__(self, var: Var) -> Var:
        """The replacement of ``var``: one of the outputs, or what else is computed on the way."""
        for replaced in self._found:
            var = replaced(var)
        return var


def _replaced(roll: _Roll, b: Builder, outputs: Sequence[Var]) -> dict[Var, Var]:
    """The result of ``roll``: nothing where all values at once are too large or of another kind."""
    origin = b.origin
    try:
        return roll(b, outputs)
    except (EngineError, MustUnroll):  # that of a deadline comes again at the next look
        return {}
    finally:
        b.origin = origin
