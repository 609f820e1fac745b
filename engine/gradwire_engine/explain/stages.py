"""The stages of a program: its tape after every pass, its plan, its code, and where time goes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from gradwire_engine.answer import Limits, Notice, Poll, Query
from gradwire_engine.backends import base
from gradwire_engine.backends.base import Backend, Executable, FusedGroup
from gradwire_engine.engine import Engine
from gradwire_engine.errors import Place
from gradwire_engine.explain.listing import Line, Lister, Listing, lines
from gradwire_engine.explain.nodes import Nodes, nodes_of
from gradwire_engine.explain.times import Clock, Times, measured
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.polling import no_deadline
from gradwire_engine.program import Program
from gradwire_engine.queries import Call
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import dead_after


class Kernel(NamedTuple):
    """Instructions that are computed together: how many, their arithmetic, and bytes moved.

    These are the operands and the results, each once. ``seconds`` are those of the kernel at
    ``slot``, if it was timed.
    """

    slot: int
    instructions: int
    flops: int
    moved_bytes: int
    seconds: float | None

    @property
    def gigabytes_per_second(self) -> float | None:
        """The speed of moving them, in 10⁹ bytes per second."""
        return self.moved_bytes / self.seconds / 1e9 if self.seconds else None

    @property
    def gigaflops_per_second(self) -> float | None:
        """The speed of computing, in 10⁹ operations per second."""
        return self.flops / self.seconds / 1e9 if self.seconds else None


@dataclass(frozen=True)
class Explanation:
    """A query that was answered, and how: each part is made when it is first asked for.

    ``tapes`` are named by what made them: recorded; differentiated, batched; shrunk, where loops
    make only what is read; distributed, if some are several; simplified; compacted; fused, if some
    is computed by blocks; residual instead, if what constants give is kept beside it. The last is
    replayed.
    """

    call: Call
    tapes: Mapping[str, Tape]
    executable: Executable
    times: Times | None
    #: What the client should know about the answer.
    warnings: Sequence[Notice]
    _poll: Poll

    @cached_property
    def stages(self) -> Mapping[str, Listing]:
        """All tapes as listings."""
        return {name: self._lister().listed(tape) for name, tape in self.tapes.items()}

    @property
    def replayed(self) -> Listing:
        """The last stage."""
        return [*self.stages.values()][-1]

    @cached_property
    def lengths(self) -> Mapping[str, int]:
        """The number of needed instructions after each stage."""
        needed = {
            name: readers(tape.instructions, tape.outputs, self._poll)
            for name, tape in self.tapes.items()
        }
        return {name: sum(map(bool, read)) for name, read in needed.items()}

    def excerpt(self, most: int) -> tuple[Listing, bool]:
        """The start of what is replayed, and whether that is less than all of it.

        It has at most so many instructions and operands together, bodies included.
        """
        lister = self._lister(most)
        return lister.listed([*self.tapes.values()][-1]), lister.cut

    @property
    def flops(self) -> int:
        """Predicted arithmetic operations of a replay, on large arrays."""
        return self.executable.flops

    @property
    def peak_bytes(self) -> int:
        """Predicted maximum bytes of arrays alive at once."""
        return self.executable.peak_bytes

    @property
    def hosted(self) -> Sequence[str]:
        """The operations that a backend for a device computes on the host."""
        return self.executable.hosted

    @cached_property
    def dead(self) -> Sequence[Sequence[int]]:
        """Values that nothing reads after each instruction of the replay."""
        return dead_after(self.executable.replayed)

    @cached_property
    def _generated(self) -> base.Listing:
        return self.executable.listing(self._poll)

    @cached_property
    def code(self) -> Sequence[Line]:
        """The generated code of the replay."""
        return lines(self._generated.code, self.call.place)

    @cached_property
    def inner(self) -> Mapping[tuple[int, ...], Sequence[Line]]:
        """That of loops and fused kernels, by their slots: each in the body of the one before."""
        inner = self._generated.inner.items()
        return {slots: lines(code, self._within) for slots, code in inner}

    @property
    def registers(self) -> int:
        """The variables that the replay has for the values of all its instructions."""
        return len({name for line in self.code for name in re.findall(r"\br\d+\b", line.text)})

    @property
    def unfused(self) -> Mapping[tuple[int, int], str]:
        """Why machine code does not compute a slot and one that it reads together."""
        return self._generated.unfused

    @property
    def kernels(self) -> Sequence[Kernel]:
        """The fused kernels of the replay."""
        made, times = self.executable.replayed.instructions, self.times
        return [
            _kernel(made, slot, None if times is None else times.steps[slot])
            for slot, instruction in enumerate(made)
            if isinstance(instruction.op, FusedGroup)
        ]

    def nodes(self, most: int) -> Nodes | None:
        """The nodes of the recorded program, with values and adjoints; None for more than ``most``.

        Nodes and their operands count.

        Raises: what answering does; ``OverBudget`` where the values need too much memory.
        """
        if self.lengths["recorded"] > most:  # an exact recording has no fewer
            return None
        return nodes_of(self.call, most, self._poll)

    def _lister(self, most: int | None = None) -> Lister:
        return Lister(self.call.place, self._within, most)

    def _within(self, instruction: Instruction) -> Place:
        """The place of what is computed in a body: its inputs are no variables of the request."""
        return self.call.program.place(instruction.origin)


def explain(
    program: Program,
    variables: Mapping[str, Any],
    query: Query,
    vectors: Any = None,
    *,
    limits: Limits | None = None,
    backend: Backend | None = None,
    clock: Clock | None = None,
    poll: Poll = no_deadline,
) -> Explanation:
    """Explain what answers ``query``: of the paths that examples take, the one recorded last.

    It is computed by ``backend``, by default NumPy, and nothing of it is kept. With a ``clock`` its
    instructions are timed; all passes of a loop are one, and all blocks. ``poll`` is called often,
    and may end it all by raising.

    Raises: what answering does.
    """
    backend = backend or Engine.backend
    call = Engine(limits, backend=backend).call(program, variables, query, vectors)
    tapes: dict[str, Tape] = {}
    call.on_tape = tapes.__setitem__
    answer = call.replay(poll)
    executable = call.entry.paths[0].executable
    tape = executable.replayed
    if tape is not executable.tape:
        tapes["residual" if executable.kept else "fused"] = tape
    times = None
    if clock is not None:
        inputs = [x[()] for x in (*call.arguments.inputs, *executable.kept)]  # numbers as scalars
        times = measured(tape, backend, inputs, call.place, clock, poll)
    return Explanation(call, tapes, executable, times, answer.warnings, poll)


def _kernel(made: Sequence[Instruction], slot: int, seconds: float | None) -> Kernel:
    op, args, kind, _ = made[slot]
    assert isinstance(op, FusedGroup)
    moved = sum([made[arg].type.nbytes for arg in args], kind.nbytes)
    return Kernel(slot, len(op.slots), sum(op.each), moved, seconds)
