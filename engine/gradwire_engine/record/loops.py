"""Loops while recording: one instruction for all passes, whatever is asked and however many.

The body is recorded once for each path that decisions in it may take, for stand-ins instead of
values.  What cannot be recorded so (a shape that changes with each pass, a list that grows, an
integer of more than 64 bits) is recorded pass by pass as it is executed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from gradwire_engine.errors import DeadlineExceeded, EngineError
from gradwire_engine.nesting import leaves, rebuild
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.loops import MustUnroll
from gradwire_engine.record.carries import Unsettled
from gradwire_engine.record.loop_trace import MOST_EXPLORED, LoopTrace, stacked

if TYPE_CHECKING:
    from gradwire_engine.program import Block
    from gradwire_engine.record.recorder import Recorder
    from gradwire_engine.record.scope import Scope

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
        """What passes that were recorded by themselves wrote: stacked."""
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
