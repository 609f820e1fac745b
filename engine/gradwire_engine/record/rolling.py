"""What was recorded step by step, as loops and as expressions over arrays: a shorter tape."""

from __future__ import annotations

from collections.abc import Sequence

from gradwire_engine.autodiff.retrace import Retrace
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.record.reroll import rerolled
from gradwire_engine.record.vectorize import vectorized

#: Loops after another, and expressions within expressions, are found one at a time. What loops
#: leave in each step may be read by expressions of one structure.
_MOST = 4


class Rolled:
    """Variables that are computed by fewer instructions than they were recorded with."""

    def __init__(self, b: Builder, outputs: Sequence[Var]) -> None:
        self._found: list[Retrace] = []
        for roll in (vectorized, rerolled, vectorized):
            for _ in range(_MOST):
                replaced = roll(b, [self(out) for out in outputs])
                if not replaced:
                    break
                self._found.append(Retrace(replaced))

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return bool(self._found)

    def __call__(self, var: Var) -> Var:
        """What replaces ``var``: one of the outputs, or what else is computed on the way."""
        for replaced in self._found:
            var = replaced(var)
        return var
