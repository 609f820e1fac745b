"""A tape ready to replay: walked the first time, generated code from the second.

A service meets programs that come once, and for them compiling a function costs more than it
saves: several microseconds an instruction, against half a microsecond for walking it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from gradwire_engine.answer import Poll
from gradwire_engine.backends.numpy.grouping import grouped
from gradwire_engine.backends.numpy.loops import bound, lending
from gradwire_engine.backends.numpy.lower import Replay, lower
from gradwire_engine.backends.numpy.plan import plan
from gradwire_engine.backends.numpy.quiet import quiet
from gradwire_engine.backends.numpy.scalars import LEFT
from gradwire_engine.backends.numpy.text import failing
from gradwire_engine.collection import collection_held
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Input
from gradwire_engine.ops.loops import Loop
from gradwire_engine.polling import polled, unhurried
from gradwire_engine.tape import Instruction, Tape, answer_bytes

#: Predicted time of an instruction, walked or generated, of compiling it, and of an operation.
_SECONDS_TO_WALK = 2e-6
_SECONDS_TO_COMPILE = 5e-6
_SECONDS_PER_INSTRUCTION = 1e-6
_SECONDS_PER_FLOP = 1e-9
_BYTES_PER_INSTRUCTION = 600
#: Making elementwise results of so many bytes takes as long as writing functions for groups, and
#: more memory.
_GROUPED_AT_ONCE = 1 << 22


class Executable:
    """``peak_bytes`` and ``flops`` are predictions, known before anything runs.

    An ``exact`` one gives in every replay the bits of a walk by NumPy. Of others, groups of
    instructions on large arrays are replayed together: ``grouped`` is the tape with these.
    """

    def __init__(
        self, tape: Tape, poll: Poll = unhurried, *, exact: bool = False, threads: int = 1
    ) -> None:
        self.tape = tape
        self.exact = exact
        self._threads = threads
        #: What is replayed, with its plan: both at once, since one thread may walk the tape while
        #: another groups it.
        self._replayed = tape, plan(tape, poll)
        if self.peak_bytes >= _GROUPED_AT_ONCE:
            made = polled(tape.instructions, poll)
            moved = [i.type.nbytes for i in made if i.op.elementwise]
            if sum(moved) >= _GROUPED_AT_ONCE:
                self._group(poll)
        #: Bytes of what is answered.
        self.output_bytes: int = sum(
            [answer_bytes(tape.instructions[slot].type) for slot in tape.outputs]
        )
        #: Instructions that loops execute, as predicted.
        self._looped = 0
        self._constant_bytes = 0
        for op in polled([*map(itemgetter(0), tape.instructions)], poll):
            if type(op) is Loop:
                self._looped += op.steps
                self._constant_bytes += op.body.constant_bytes
            elif type(op) is Constant:
                self._constant_bytes += op.value.nbytes
        self._walked = False
        self._lowered: Replay | None = None
        #: What replays where the quick function is left.
        self._careful: Replay | None = None

    @property
    def grouped(self) -> Tape:
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
    def constant_bytes(self) -> int:
        """Bytes of the constants, which are held as long as the executable."""
        return self._constant_bytes

    @property
    def seconds(self) -> float:
        """Predicted time of the next replay."""
        each = _SECONDS_PER_INSTRUCTION
        if self._lowered is None:
            each += _SECONDS_TO_COMPILE if self._walked else _SECONDS_TO_WALK
        steps = len(self.tape.instructions) * each + self._looped * _SECONDS_PER_INSTRUCTION
        return steps + self._replayed[1].flops * _SECONDS_PER_FLOP

    @property
    def nbytes(self) -> int:
        """Approximate memory that the executable itself takes."""
        return _BYTES_PER_INSTRUCTION * len(self.tape.instructions) + self._constant_bytes

    def run(self, inputs: Sequence[Any], poll: Poll) -> tuple[Any, ...]:
        """Replay with ``inputs``; gives the outputs, NumPy scalars where they have no axes."""
        return self.replay(inputs, poll)[0]

    def replay(self, inputs: Sequence[Any], poll: Poll) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The same, and those of the outputs that are not known to be finite."""
        function = self._lowered or self._prepared(poll)
        try:
            return quiet.run(function, inputs, poll)
        except LEFT:
            if self._lowered is None and self.grouped is self.tape:
                raise
            if self._careful is None:
                # In the program's order, so that what is decided comes before what then fails.
                self._careful = lower(self.tape, plan(self.tape, poll), poll, quick=False)
        return quiet.run(self._careful, inputs, poll)

    def _prepared(self, poll: Poll) -> Replay:
        """The walk the first time, then the generated function."""
        if not self._walked:
            return self._walk
        if self.grouped is self.tape:
            self._group(poll)
        with collection_held:
            self._lowered = lower(*self._replayed, poll, quick=not self.exact)
        return self._lowered

    def _group(self, poll: Poll) -> None:
        """Put in groups what is worth it."""
        if not self.exact:
            tape = grouped(self.tape, poll, self._threads)
            if tape is not self.tape:
                self._replayed = tape, plan(tape, poll)

    def failed_at(self, error: BaseException) -> Instruction | None:
        """The instruction during which ``error`` was raised, in a loop that of its body."""
        found, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code is Executable._walk.__code__:
                walking = trace.tb_frame.f_locals
                if "slot" in walking:  # else it was stopped before the first
                    found = walking["tape"].instructions[walking["slot"]]
            trace = trace.tb_next
        return failing(error) or found

    def _walk(self, inputs: Sequence[Any], poll: Poll) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Replay instruction by instruction, with nothing compiled."""
        values: list[Any] = []
        computes: dict[Op, Callable[..., Any]] = {}
        tape, planned = self._replayed
        dead, polls, large = planned.dead, planned.polls, planned.large
        for slot, (op, args, kind, _) in enumerate(polled(tape.instructions, poll)):
            if isinstance(op, Input):
                x = inputs[op.index]
                values.append(x if isinstance(x, list) or x.ndim else x[()])
            elif slot in large and (into := lending(op, kind)) is not None:
                values.append(into(*[values[a] for a in args]))
            else:
                compute = computes.get(op)
                if compute is None:
                    compute = computes[op] = bound(op, poll, quick=not self.exact)
                values.append(compute(*[values[a] for a in args]))
            for gone in dead[slot]:
                values[gone] = None
            if slot in polls:
                poll()
        outputs = tuple([values[slot] for slot in tape.outputs])
        self._walked = True
        return outputs, outputs
