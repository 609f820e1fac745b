"""A tape ready to replay: walked, or by generated Python.

Compiling takes several microseconds an instruction, walking it half a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import FusedGroup, Line, Listing, note_place, noted_place
from gradwire_engine.backends.numpy.buffers import POOLED_BYTES
from gradwire_engine.backends.numpy.fusion import fuse
from gradwire_engine.backends.numpy.loops import Functions, bound
from gradwire_engine.backends.numpy.loops import written as loop_text
from gradwire_engine.backends.numpy.lower import lower, written
from gradwire_engine.backends.numpy.pooled import pooled_function
from gradwire_engine.backends.numpy.scalars import LEFT
from gradwire_engine.backends.numpy.text import failing
from gradwire_engine.backends.plan import plan
from gradwire_engine.backends.tiers import Outputs, Replay, TieredExecutable
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape

#: Predicted time of an instruction, walked or generated, of compiling it, and of an operation.
_SECONDS_TO_WALK = 2e-6
_SECONDS_TO_COMPILE = 5e-6
_SECONDS_PER_INSTRUCTION = 1e-6
_SECONDS_PER_FLOP = 1e-9
_BYTES_PER_INSTRUCTION = 600
#: Making elementwise results of so many bytes takes as long as writing functions for groups, and
#: more memory.
_GROUPED_AT_ONCE = 1 << 22


class NumpyExecutable(TieredExecutable):
    """Of one that is not exact, groups of instructions on large arrays are replayed together."""

    left = LEFT

    def __init__(
        self,
        tape: Tape,
        poll: Poll = unhurried,
        loops: Functions | None = None,
        *,
        exact: bool = False,
        threads: int = 1,
    ) -> None:
        super().__init__(tape, poll, exact=exact)
        self._threads = threads
        #: The replayed tape, with its plan: both at once, since one thread may walk the tape while
        #: another groups it.
        self._replayed = tape, plan(tape, poll)
        if self.peak_bytes >= _GROUPED_AT_ONCE:
            made = polled(tape.instructions, poll)
            moved = [i.type.nbytes for i in made if i.op.elementwise]
            if sum(moved) >= _GROUPED_AT_ONCE:
                self._group(poll)
        self._loops: Functions = WeakKeyDictionary() if loops is None else loops

    @property
    def replayed(self) -> Tape:
        """The tape that is replayed, fused where that is worth it."""
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
        each = _SECONDS_PER_INSTRUCTION
        if self.generated is None:
            each += _SECONDS_TO_COMPILE if self.walked else _SECONDS_TO_WALK
        steps = len(self.tape.instructions) * each + self._looped * _SECONDS_PER_INSTRUCTION
        return steps + self._replayed[1].flops * _SECONDS_PER_FLOP

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes."""
        return _BYTES_PER_INSTRUCTION * len(self.tape.instructions) + self.constant_bytes

    def generate(self, poll: Poll, *, careful: bool = False) -> Replay:
        """Straight-line Python: of what is fused, unless it is ``careful``."""
        if careful:
            return lower(self.tape, plan(self.tape, poll), poll, self._loops, quick=False)
        if self.replayed is self.tape:
            self._group(poll)
        return lower(*self._replayed, poll, self._loops, quick=not self.exact)

    def _group(self, poll: Poll) -> None:
        """Put in groups what is worth it."""
        if not self.exact:
            tape = fuse(self.tape, poll, self._threads)
            if tape is not self.tape:
                self._replayed = tape, plan(tape, poll)

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction that raised ``error``; in a loop that of its body."""
        return failing(error) or noted_place(error)

    def listing(self, poll: Poll) -> Listing:
        """The functions of the tape, and of its loops and groups."""
        if self.replayed is self.tape:
            self._group(poll)
        quick = not self.exact
        inner = dict(_inner(self.replayed, poll, quick=quick))
        return Listing(written(*self._replayed, poll, quick=quick).lines, inner)

    def walk(self, inputs: Sequence[Any], poll: Poll) -> Outputs:
        """Replay instruction by instruction, with nothing compiled."""
        values: list[Any] = []
        computes: dict[Op, Callable[..., Any]] = {}
        tape, planned = self._replayed
        dead, polls = planned.dead, planned.polls
        pools = planned.peak_bytes >= POOLED_BYTES
        instruction: Instruction | None = None
        try:
            for slot, instruction in enumerate(polled(tape.instructions, poll)):
                op, args, kind, _ = instruction
                if isinstance(op, Input):
                    x = inputs[op.index]
                    values.append(x if isinstance(x, list) or x.ndim else x[()])
                else:
                    compute = computes.get(op)
                    if compute is None:
                        compute = computes[op] = bound(op, poll, self._loops, quick=not self.exact)
                    if pools and kind.nbytes >= POOLED_BYTES:
                        compute = pooled_function(op, kind) or compute
                    values.append(compute(*[values[a] for a in args]))
                for gone in dead[slot]:
                    values[gone] = None
                if slot in polls:
                    poll()
        except Exception as error:
            if instruction is not None:  # else it was stopped before the first
                note_place(error, instruction)
            raise
        outputs = tuple([values[slot] for slot in tape.outputs])
        return outputs, outputs


def _inner(
    tape: Tape, poll: Poll, outer: tuple[int, ...] = (), *, quick: bool
) -> Iterator[tuple[tuple[int, ...], Sequence[Line]]]:
    """The texts of loops and groups, those in bodies after the one that they are in."""
    for slot, instruction in enumerate(polled(tape.instructions, poll)):
        op = instruction.op
        if isinstance(op, Loop):
            yield (*outer, slot), loop_text(op, poll, quick=quick).lines
            yield from _inner(op.body.tape, poll, (*outer, slot), quick=quick)
        elif isinstance(op, FusedGroup):
            yield (*outer, slot), op.lines
