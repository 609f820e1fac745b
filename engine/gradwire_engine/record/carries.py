"""Carries of a loop: which values differ from pass to pass, and their types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gradwire_engine.loops.regions import Region
from gradwire_engine.ops.arrays.shape import BroadcastTo
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import Constant
from gradwire_engine.ops.conversion import AsType
from gradwire_engine.ops.promotion import promoted
from gradwire_engine.record.scope import Closure, Transformed
from gradwire_engine.tape import ArrayType

_NUMBERS = bool | int | float | complex


class Unsettled(Exception):
    """The carries have other types after a pass than before; after another they may not."""


@dataclass(frozen=True, slots=True)
class Carry:
    """A value that differs from pass to pass, and what the first begins with: zeros for None."""

    kind: ArrayType
    first: Any


class Fit:
    """Fits what a pass leaves to what it began with, so that the next can begin with it.

    ``given`` gathers the new values of the carries; ``again`` says that the pass has to be
    recorded again, with carries of other types.
    """

    def __init__(self, b: Builder, opened: Region) -> None:
        self.b = b
        self.opened = opened
        self.given: list[Var] = []
        self.again = False
        #: Whether a number becomes an array.
        self.widened = False
        self._stand_ins = iter(opened.carries)

    def fit(self, start: Any, after: Any) -> Any:
        """``start`` as it has to be for ``after`` to follow it; gathers the values of carries."""
        if isinstance(start, Composite):
            if type(after) is not type(start) or after.shape != start.shape:
                raise Unsettled
            return start.of(**{name: self.fit(x, after[name]) for name, x in start.items()})
        if isinstance(start, dict):
            if not isinstance(after, dict) or after.keys() != start.keys():
                raise Unsettled
            return {key: self.fit(x, after[key]) for key, x in start.items()}
        if isinstance(start, list | tuple):
            if type(after) is not type(start) or len(after) != len(start):
                raise Unsettled
            return type(start)([self.fit(*x) for x in zip(start, after, strict=True)])
        if isinstance(start, Carry):
            return self._fit_carry(start, after)
        if same(start, after):
            return start
        if isinstance(start, _NUMBERS) and isinstance(after, Var | _NUMBERS):
            self.again = True
            return carried(self.b.array(start), first=False, value=start)
        raise Unsettled

    def _fit_carry(self, start: Carry, after: Any) -> Carry:
        if not isinstance(after, Var | _NUMBERS):
            raise Unsettled
        kind, var, stand_in = start.kind, self.b.array(after), next(self._stand_ins)
        if var.shape != kind.shape:
            if kind.shape or self.opened.decisions or not self._spreads(stand_in):
                raise Unsettled
            self.again = self.widened = True
            return replace(start, kind=ArrayType(kind.dtype, var.shape, kind.weak))
        weak = var.type.weak and kind.weak
        dtype, _ = promoted(((kind.dtype, kind.weak), (var.dtype, var.type.weak)))
        if dtype != var.dtype:
            if not var.type.weak:
                raise Unsettled
            var = self.b.cast(var, dtype)
        if (dtype, weak) != (kind.dtype, kind.weak):
            if not kind.weak:
                raise Unsettled
            self.again = True
            return replace(start, kind=ArrayType(dtype, kind.shape, weak))
        self.given.append(var)
        return start

    def _spreads(self, number: Var) -> bool:
        """True if a pass makes of an array of equal numbers what it makes of one, of each."""
        reached = {number.slot}
        for slot, (op, args, _, _) in enumerate(self.b.instructions[self.opened.first :]):
            if not reached.isdisjoint(args):
                if not (op.elementwise or isinstance(op, AsType | BroadcastTo)):
                    return False
                reached.add(self.opened.first + slot)
        return True


def described(b: Builder, opened: Region) -> list[Any]:
    """A description of the computation of a pass, whatever its shapes and dtypes."""
    numbers: dict[int, Any] = {opened.number.slot: "number"}
    numbers |= {x.slot: ("carry", i) for i, x in enumerate(opened.carries)}
    numbers |= {x.slot: ("item", i) for i, x in enumerate(opened.items)}
    found: list[Any] = []
    for slot, (op, args, kind, _) in enumerate(b.instructions[opened.first :], opened.first):
        read = tuple([numbers.get(arg, arg) for arg in args])
        if isinstance(op, AsType):
            (numbers[slot],) = read
            continue
        numbers[slot] = -1 - len(found)
        does: Any = BroadcastTo if isinstance(op, BroadcastTo) else op
        if isinstance(op, Constant) and isinstance(kind, ArrayType) and not kind.shape:
            does = op.value.item()
        found.append((does, read))
    return found


def carried(x: Any, *, first: bool = True, value: Any = None) -> Any:
    """A carry of an array, anything else as it is."""
    return Carry(x.type, x if first else value) if isinstance(x, Var) else x


def same(x: Any, y: Any) -> bool:
    """True if two values that are known while recording mean the same."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, Closure):
        return x.body is y.body and x.scope is y.scope and not x.defaults and not y.defaults
    if isinstance(x, Transformed):
        return same(x.call, y.call)
    if isinstance(x, partial):
        pairs = zip((x.func, *x.args), (y.func, *y.args), strict=False)
        return len(x.args) == len(y.args) and all(same(*pair) for pair in pairs)
    if isinstance(x, Var):
        return False
    if isinstance(x, float | complex):
        return np.array_equal(x, y, equal_nan=True)
    return bool(x == y)
