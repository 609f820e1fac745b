"""Values that a pattern may rest on: of constants, and of integers that come with a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from gradwire_engine.ops.boundaries import VmapPlaceholder
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import ArrayType

#: Gives the value of a slot, None of one that is not known; or of what constants make alone.
Value: TypeAlias = Callable[[int, bool], Any]


class Known(Protocol):
    """Values while recording."""

    def value(self, var: Var) -> Any:
        """The value of what constants make."""
        ...

    def integers(self, var: Var) -> Any:
        """The value of given integers, with which the tape holds from then on; None if unknown."""
        ...


#: The dependence of a slot's value on the request: none, on integers, on anything.
_NOTHING, _INTEGERS, _REALS = range(3)


class Values:
    """Values of slots of the tape under construction."""

    def __init__(self, b: Builder, target: Var, known: Known | None) -> None:
        self._b = b
        self._known = known
        self._given = bytearray(target.slot + 1)
        for slot, (op, args, kind, _) in enumerate(b.instructions[: target.slot + 1]):
            own = _INTEGERS if isinstance(op, Input | VmapPlaceholder) else _NOTHING
            most = max([own, *[self._given[arg] for arg in args]])
            countable = isinstance(kind, ArrayType) and kind.dtype.kind in "biu"
            self._given[slot] = most if countable or not most else _REALS

    def __call__(self, slot: int, constant: bool) -> Any:
        given = self._given[slot]
        if self._known is None or given == _REALS or (constant and given):
            return None
        know = self._known.integers if given else self._known.value
        return know(self._b.vars[slot])
