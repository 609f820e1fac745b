"""Explains a program: its tape after every pass, its plan, its code, and where time goes.

All of it is plain data, for whoever shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Poll, Query
from gradwire_engine.backends import base
from gradwire_engine.backends.base import Backend, FusedGroup, evaluated
from gradwire_engine.engine import Engine
from gradwire_engine.errors import Place
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import GuardFailed, Source
from gradwire_engine.ops.loops import Loop
from gradwire_engine.optimize.liveness import readers
from gradwire_engine.polling import unhurried
from gradwire_engine.program import Program
from gradwire_engine.tape import Instruction, Tape
from gradwire_engine.traversal import dead_after

#: Gives seconds, from any moment on.
Clock: TypeAlias = Callable[[], float]
_Where: TypeAlias = Callable[[Instruction], Place]
#: Walks that times are the medians of.
_WALKS = 9


class Step(NamedTuple):
    """One instruction: ``%slot = op(operands)``, and where the client wrote what it computes.

    ``flops`` and ``nbytes``, of its result, are predictions. A ``derivative`` came of
    differentiating what is at that place. What is not ``needed``, a later pass drops. Of a loop,
    ``body`` is what its passes do; of a fused kernel, those that it computes block by block, by
    their slots before they were fused.
    """

    slot: int
    op: str
    operands: tuple[int, ...]
    type: str
    flops: int
    nbytes: int
    place: Place
    derivative: bool
    needed: bool
    body: Listing | None


class Listing(NamedTuple):
    """A tape, and the slots that it returns."""

    steps: tuple[Step, ...]
    outputs: tuple[int, ...]


class Line(NamedTuple):
    """A line of generated code, with the operation and the place of its instruction."""

    text: str
    op: str | None
    place: Place | None


class Times(NamedTuple):
    """Seconds of each instruction, and of those together that are of an operation or a line.

    Of a graph a line is a pointer to its node. Reading the clock counts, too.
    """

    steps: Sequence[float]
    by_op: Mapping[str, float]
    by_line: Mapping[int | str, float]

    @property
    def total(self) -> float:
        """Seconds of all instructions."""
        return sum(self.steps)


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


class Explanation(NamedTuple):
    """The stages of a program.

    ``stages`` are the tapes by what made them: recorded; rolled, where it repeats itself;
    differentiated, batched; shrunk, where loops make only what is read; distributed, if some are
    several; simplified; compacted; fused, if some is computed by blocks; residual instead, if what
    constants give is kept beside it. The last is ``replayed``: by ``code``, and that in ``inner``
    for the loop or the fused kernel at these slots, each in the body of the one before.
    ``kernels`` are the fused ones, and ``apart`` says of a slot and one that it reads, both of the
    last stage, why machine code does not compute them together.
    """

    stages: Mapping[str, Listing]
    flops: int
    peak_bytes: int
    #: Values that nothing reads after each instruction.
    dead: Sequence[Sequence[int]]
    code: Sequence[Line]
    inner: Mapping[tuple[int, ...], Sequence[Line]]
    kernels: Sequence[Kernel]
    apart: Mapping[tuple[int, int], str]
    times: Times | None
    #: The operations that a backend for a device computes on the host.
    hosted: Sequence[str] = ()

    @property
    def replayed(self) -> Listing:
        """The last stage."""
        return [*self.stages.values()][-1]

    @property
    def registers(self) -> int:
        """The variables that the replay has for the values of all its instructions."""
        return len({name for line in self.code for name in re.findall(r"\br\d+\b", line.text)})


def explain(
    program: Program,
    variables: Mapping[str, Any],
    query: Query,
    vectors: Any = None,
    *,
    backend: Backend | None = None,
    clock: Clock | None = None,
    poll: Poll = unhurried,
) -> Explanation:
    """Explain what answers ``query``: of the paths that examples take, the one recorded last.

    It is computed by ``backend``, by default NumPy. With a ``clock`` its instructions are timed;
    all passes of a loop are one, and all blocks. ``poll`` is called often, and may end it all by
    raising.

    Raises: what answering does.
    """
    backend = backend or Engine.backend
    call = Engine(backend=backend).call(program, variables, query, vectors)
    tapes: dict[str, Tape] = {}
    call.on_tape = tapes.__setitem__
    call.replay(poll)
    executable = call.entry.paths[0].executable
    code, inner, apart = executable.listing(poll)
    tape = executable.replayed
    if tape is not executable.tape:
        tapes["residual" if executable.kept else "fused"] = tape

    def within(instruction: Instruction) -> Place:
        return program.place(instruction.origin)

    stages = {name: _listing(made, call.place, within) for name, made in tapes.items()}
    times = None
    if clock is not None:
        inputs = [x[()] for x in (*call.arguments.inputs, *executable.kept)]  # numbers as scalars
        walks = [_walked(tape, backend, inputs, clock, poll) for _ in range(_WALKS)]
        seconds = [median(spent) for spent in zip(*walks, strict=True)]
        times = _summed(tape, [*stages.values()][-1].steps, seconds)
    bodies = {slots: _lines(lines, within) for slots, lines in inner.items()}
    costs = executable.flops, executable.peak_bytes, dead_after(tape)
    kernels = [
        _kernel(tape, slot, None if times is None else times.steps[slot])
        for slot, instruction in enumerate(tape.instructions)
        if isinstance(instruction.op, FusedGroup)
    ]
    lines, hosted = _lines(code, call.place), executable.hosted
    return Explanation(stages, *costs, lines, bodies, kernels, apart, times, hosted)


def _kernel(tape: Tape, slot: int, seconds: float | None) -> Kernel:
    op, args, kind, _ = tape.instructions[slot]
    assert isinstance(op, FusedGroup)
    moved = sum([tape.instructions[arg].type.nbytes for arg in args], kind.nbytes)
    return Kernel(slot, len(op.slots), sum(op.each), moved, seconds)


def _listing(tape: Tape, where: _Where, within: _Where) -> Listing:
    """A tape with places from ``where``, in bodies from ``within``."""
    made = tape.instructions
    needed = readers(made, tape.outputs)
    steps: list[Step] = []
    for slot, instruction in enumerate(made):
        op, args, kind, _ = instruction
        nbytes, body = kind.nbytes, None
        if isinstance(op, Loop):
            nbytes, body = op.nbytes, _listing(op.body.tape, within, within)
        elif isinstance(op, FusedGroup):
            body = _fused(op, where)
        flops = op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
        steps.append(_step(slot, instruction, where, flops, nbytes, bool(needed[slot]), body))
    return Listing(tuple(steps), tape.outputs)


def _fused(op: FusedGroup, where: _Where) -> Listing:
    steps = [
        _step(slot, instruction, where, flops, instruction.type.nbytes, True, None)
        for slot, instruction, flops in zip(op.slots, op.instructions, op.each, strict=True)
    ]
    return Listing(tuple(steps), tuple(op.results))


def _step(
    slot: int,
    instruction: Instruction,
    where: _Where,
    flops: int,
    nbytes: int,
    needed: bool,
    body: Listing | None,
) -> Step:
    op, args, kind, origin = instruction
    shown = slot, str(op), args, str(kind), flops, nbytes, where(instruction)
    return Step(*shown, origin < 0, needed, body)


def _lines(lines: Sequence[base.Line], where: _Where) -> list[Line]:
    return [
        Line(line, None, None) if of is None else Line(line, of.op.name, where(of))
        for line, of in lines
    ]


def _walked(
    tape: Tape, backend: Backend, inputs: Sequence[Any], clock: Clock, poll: Poll
) -> list[float]:
    """Seconds of each instruction, in the memory of a replay."""
    spent: list[float] = []

    def timed(op: Op, *operands: Any) -> Any:
        start = clock()
        try:
            return backend.evaluate(op, poll, *operands)
        except GuardFailed:  # at a threshold, where optimising moved the last digit
            return None
        finally:
            spent.append(0.0 if isinstance(op, Source) else clock() - start)

    dead = dead_after(tape)
    with np.errstate(all="ignore"):
        for _ in evaluated(tape, inputs, range(len(tape.instructions)), timed, dead):
            poll()
    return spent


def _summed(tape: Tape, steps: Sequence[Step], seconds: Sequence[float]) -> Times:
    by_op: dict[str, float] = {}
    by_line: dict[int | str, float] = {}
    for (op, _, _, _), step, spent in zip(tape.instructions, steps, seconds, strict=True):
        if not isinstance(op, Source):
            line = step.place.line or step.place.pointer or ""
            by_op[op.name] = by_op.get(op.name, 0.0) + spent
            by_line[line] = by_line.get(line, 0.0) + spent
    return Times(seconds, by_op, by_line)
