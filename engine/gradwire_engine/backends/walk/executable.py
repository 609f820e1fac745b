"""A tape ready to replay by NumPy: a walk, prepared at the first replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Executable, Line, Listing, Replayed, noted_place
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.plan import Plan, plan
from gradwire_engine.backends.walk.loops import Loops
from gradwire_engine.backends.walk.walk import Walk
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.constants import GuardFailed
from gradwire_engine.polling import no_deadline, polled
from gradwire_engine.tape import Instruction, Tape

#: Predicted time of an instruction, of preparing it, and of an operation.
_SECONDS_PER_INSTRUCTION = 1e-6
_SECONDS_TO_PREPARE = 2e-6
_SECONDS_PER_FLOP = 1e-9
_BYTES_PER_INSTRUCTION = 600

_new_tuple = tuple.__new__  # half the time of a named tuple's own constructor


class WalkExecutable(Executable):
    """Calls one function after the other."""

    #: The walk of the whole tape in its own order, once it is prepared.
    walk: Walk | None = None

    def __init__(
        self,
        tape: Tape,
        poll: Poll = no_deadline,
        loops: Loops | None = None,
        *,
        exact: bool = False,
    ) -> None:
        super().__init__(tape, poll, exact=exact)
        self._plan = plan(tape, poll)
        #: The replayed tape, with its plan: both at once, since threads may read them while another
        #: replaces them.
        self._replayed = tape, self._plan
        self._loops = Loops() if loops is None else loops

    @property
    def replayed(self) -> Tape:
        """The tape that is replayed."""
        return self._replayed[0]

    @property
    def flops(self) -> int:
        """Arithmetic operations of a replay."""
        return self._replayed[1].flops

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays alive at once."""
        return self._replayed[1].peak_bytes

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay."""
        each = _SECONDS_PER_INSTRUCTION + (_SECONDS_TO_PREPARE if self.walk is None else 0)
        steps = len(self.tape.instructions) * each + self._looped * _SECONDS_PER_INSTRUCTION
        return steps + self.flops * _SECONDS_PER_FLOP

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes."""
        return _BYTES_PER_INSTRUCTION * len(self.tape.instructions) + self.constant_bytes

    def replay(self, inputs: Sequence[Any], poll: Poll) -> Replayed:
        """Compute the outputs in the order of the tape."""
        return replayed(self.walk or self._prepare(poll), inputs, poll)

    def _prepare(self, poll: Poll) -> Walk:
        """The walk, which is kept."""
        self.walk = self._walk(self.tape, self._plan, poll)
        return self.walk

    def _walk(self, tape: Tape, plan: Plan, poll: Poll) -> Walk:
        with gc_paused:
            return Walk(tape, plan, self._loops, poll)

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``; in a loop that of its body."""
        return noted_place(error)

    def listing(self, poll: Poll) -> Listing:
        """The steps, and those of loops."""
        lines = self._walk(*self._replayed, poll).lines()
        return Listing(lines, dict(_inner(self.replayed, self._loops, poll)))


def replayed(walk: Walk, inputs: Sequence[Any], poll: Poll) -> Replayed:
    """The outputs of a walk."""
    try:
        outputs, unsure = errstate.run(walk.replay, inputs, poll)
    except GuardFailed as failed:
        return Replayed((), guard=type(failed))
    found: Replayed = _new_tuple(Replayed, (outputs, unsure, None))
    return found


def _inner(
    tape: Tape, loops: Loops, poll: Poll, outer: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Sequence[Line]]]:
    """The steps of loops, those in bodies after the one that they are in."""
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        op = instruction.op
        if isinstance(op, Loop):
            yield (*outer, slot), loops.function(op, poll).lines()
            yield from _inner(op.body.tape, loops, poll, (*outer, slot))
