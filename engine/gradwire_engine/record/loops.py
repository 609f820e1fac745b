"""Loops while recording: one instruction for all passes, whatever is asked and however many.

The body is recorded once for each path that decisions in it may take, for stand-ins instead of
values.  What cannot be recorded so (a shape that changes with each pass, a list that grows, an
integer of more than 64 bits) is recorded pass by pass as it is executed.  So are the sequences that
loops go through: an array's rows, several side by side, counters that values bound.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

from gradwire_engine.errors import BadArgument, DeadlineExceeded, EngineError
from gradwire_engine.loops.loop import MustUnroll
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.arrays.indexing import GetItem
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.patterns import FULL
from gradwire_engine.program import Block
from gradwire_engine.record import composites
from gradwire_engine.record.carries import Unsettled
from gradwire_engine.record.loop_trace import MOST_EXPLORED, LoopTrace, stacked
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import Scope

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


def sequence(r: Recorder, value: Any) -> Sequence[Any]:
    """The items that a loop over ``value`` takes: an array's are along its first axis."""
    if isinstance(value, list | tuple | range | SideBySide):
        return value
    if type(value) in composites.COMPOSITES:
        return composites.rows(r, value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, Counter):
        return value.known(r)
    if isinstance(value, Var) and value.ndim:
        return RowsOf(value)
    raise BadArgument(f"cannot go through {describe(value)}")


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


#: Passes by themselves, after which a loop whose types do not settle is recorded pass by pass.
_MOST_PEELED = 3


class Iterations(ABC):
    """The iterations of a loop, its passes: each kind of loop is a class of these."""

    #: The number of passes, where it is known.
    length: int | None = None
    #: The body, where the program has it as a block: then passes always do the same.
    blocks: Sequence[Block] = ()
    #: Whether a condition is looked at before each, and whether it is known while recording.
    conditional = False
    counts = False
    #: Whether it is one instruction however few its passes are.
    always_traced = False
    #: Whether what is the same in all passes is decided both ways.
    explores = False
    #: Whether it matters to the program how the loop ended.
    tells_endings = False

    def __init__(self, r: Recorder) -> None:
        self.r = r

    def holds(self) -> Any:
        """The condition for another pass."""
        return True

    def begins(self) -> bool:
        """Decide on the first pass as values do, unless these are of many passes or examples."""
        if not self.conditional or self.r.b.regions or self.r.concrete.levels:
            return True
        value = self.holds()
        self.counts = not isinstance(value, Var)
        return self.r.truth(value)

    def arrays(self, first: int) -> list[Var]:
        """The arrays of whose rows each pass takes one, from pass ``first`` on."""
        return []

    @abstractmethod
    def turn(self, number: int | Var, rows: Sequence[Var]) -> tuple[str, Any]:
        """Make a pass.  It goes "on" or how it ends ("over" before the body), and a value:
        what it writes beside the carry, or returns.

        The ``rows`` are for a number that is not known yet.
        """

    @abstractmethod
    def carry(self) -> dict[str, Any]:
        """The values that a pass leaves to the next, by name."""

    @abstractmethod
    def put(self, carry: dict[str, Any]) -> None:
        """Go on with this carry."""

    def owns(self, scope: Scope, name: str) -> bool:
        """True if what is bound to a name is in the carry."""
        return False

    def save(self) -> Callable[[], None]:
        """A function that restores the present state."""
        return partial(self.put, self.carry())

    def together(self, written: list[Any]) -> Any:
        """The values written by passes that were recorded by themselves, stacked."""
        return stacked(self.r, written)

    def joined(self, written: list[Any], made: Any, count: int) -> Any:
        """That, and the stacks ``made`` of what ``count`` other passes wrote after these."""
        if not written:
            return made
        before = iter(leaves(stacked(self.r, written)))
        return rebuild(made, lambda x: self.r.operation("concatenate", [next(before), x]))

    def count(self) -> None:  # noqa: B027 - most kinds know it, or never do
        """Find out how many passes there are where values decide it, to record each by itself."""

    def ended(self, *, early: bool) -> None:  # noqa: B027 - most kinds need not hear it
        """All passes have been recorded as one; ``early`` if values decide how many."""


def run(r: Recorder, passes: Iterations) -> tuple[str, Any]:
    """Record all passes. How the loop ended, and what it returns, or what each pass wrote.

    A single pass is no loop. Passes that record nothing are not for a tape, so a condition that is
    known while recording is looked at until one does.
    """
    start, origin, written = len(r.b.vars), r.b.origin, list[Any]()
    tried = [(block, bool(r.b.regions)) for block in passes.blocks]
    singly = r.unroll or r.explored > MOST_EXPLORED or not r.singly.isdisjoint(tried)
    peeled = _MOST_PEELED if singly else 0
    if singly:
        passes.count()
    for number in count():
        if number == passes.length or (number == 0 and not passes.begins()):
            return "over", passes.together(written)
        last = passes.length is not None and number + 1 == passes.length
        records = not passes.counts or len(r.b.vars) > start
        if peeled < _MOST_PEELED and records and (passes.always_traced or not last):
            peeled += 1
            restore, warned, rebound = passes.save(), len(r.warnings), len(r.rebound)
            r.b.origin = origin
            try:
                trace = LoopTrace(r, passes, number, written)
                trace.settle()
                return trace.emit()
            except Unsettled:
                pass
            except DeadlineExceeded:
                raise
            except (MustUnroll, EngineError):
                peeled = _MOST_PEELED
                r.singly.update(tried)
            r.undo(rebound)
            restore()
            del r.warnings[warned:]
            if peeled == _MOST_PEELED:
                passes.count()
                if number == passes.length:
                    return "over", passes.together(written)
        r.poll()
        ending, value = passes.turn(number, ())
        if ending != "on":
            return ending, value if ending == "return" else passes.together(written)
        written.append(value)
    raise AssertionError
