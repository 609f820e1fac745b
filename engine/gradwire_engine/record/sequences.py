"""Iterables of loops: the rows of arrays, several sequences side by side, ranges, lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.loops import MustUnroll
from gradwire_engine.ops.patterns import FULL

if TYPE_CHECKING:
    from gradwire_engine.record.recorder import Recorder

#: Bytes of a list's items up to which they are copied into one array, of which passes read rows.
_STACKED_BYTES = 1 << 20


class RowsOf(Sequence[Any]):
    """The parts of an array along its first axis, recorded when they are taken."""

    def __init__(self, array: Var) -> None:
        self.array = array

    def __len__(self) -> int:
        return self.array.shape[0]

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return GetItem((i, *(FULL,) * (self.array.ndim - 1)))(self.array)


class SideBySide(Sequence[Any]):
    """Tuples of the items of several sequences, as many as the shortest has."""

    def __init__(self, parts: Sequence[Sequence[Any]]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return min(map(len, self.parts), default=0)

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return tuple([part[i] for part in self.parts])


class Counter:
    """A range of which values decide how long it is: what a ``for`` goes through."""

    def __init__(self, r: Recorder, start: Any, stop: Any, step: int) -> None:
        self._bounds = start, stop, step
        self.start = start
        self.step = step
        behind = stop if start == 0 else r.operation("subtract", stop, start)
        if abs(step) != 1:
            behind = r.operation("add", behind, step - (1 if step > 0 else -1))
        #: The number of numbers, if it is positive.
        self.count = behind if step == 1 else r.operation("floor_divide", behind, step)

    def known(self, r: Recorder) -> range:
        """The range, its bounds known from here on."""
        return range(*[r.integer(bound) for bound in self._bounds])

    def item(self, r: Recorder, number: Any) -> Any:
        """The number of a pass."""
        scaled = number if self.step == 1 else r.operation("multiply", number, self.step)
        return r.operation("add", scaled, self.start)


def arrays(r: Recorder, items: Sequence[Any], first: int) -> list[Var]:
    """The arrays of whose rows the items from number ``first`` on are made."""
    if isinstance(items, range):
        return []
    if isinstance(items, RowsOf):
        return [sliced(items.array, 0, first, len(items)) if first else items.array]
    if isinstance(items, SideBySide):
        stop = len(items)
        return [array for part in items.parts for array in arrays(r, _cut(part, stop), first)]
    left = items[first:]
    if _are_tuples(left):
        return [array for column in zip(*left, strict=True) for array in arrays(r, column, 0)]
    kinds = {x.type[:2] if isinstance(x, Var) else type(x) for x in left}
    if len(kinds) != 1 or not isinstance(left[0], Var | int | float | complex):
        raise MustUnroll("the items of a list differ in kind")
    if isinstance(left[0], Var) and len(left) * left[0].type.nbytes > _STACKED_BYTES:
        raise MustUnroll("the items of a list are large")
    return [r.b.array(list(left))]


def item(r: Recorder, items: Sequence[Any], number: Var, rows: Iterator[Var]) -> Any:
    """The item of a pass whose number is not known yet, of the rows that it reads."""
    if isinstance(items, range):
        scaled = number if items.step == 1 else r.operation("multiply", number, items.step)
        return scaled if items.start == 0 else r.operation("add", scaled, items.start)
    if isinstance(items, SideBySide):
        return tuple([item(r, part, number, rows) for part in items.parts])
    if not isinstance(items, RowsOf) and _are_tuples(items):
        return tuple([next(rows) for _ in items[0]])
    return next(rows)


def _cut(part: Sequence[Any], stop: int) -> Sequence[Any]:
    """A sequence without the items that none stands beside."""
    if isinstance(part, RowsOf):
        return part if len(part) == stop else RowsOf(sliced(part.array, 0, 0, stop))
    return (
        SideBySide([_cut(p, stop) for p in part.parts])
        if isinstance(part, SideBySide)
        else part[:stop]
    )


def _are_tuples(items: Sequence[Any]) -> bool:
    """True if items are tuples of one length, of what is no tuple itself."""
    if not items or not all(isinstance(x, tuple) for x in items):
        return False
    return len({len(x) for x in items}) == 1 and not any(
        isinstance(y, tuple) for x in items for y in x
    )
