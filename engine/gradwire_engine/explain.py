"""What becomes of a program: its tape after every pass, its plan, its code, and where time goes.

All of it is plain data, for whoever shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Query
from gradwire_engine.backends.numpy import loops, lower
from gradwire_engine.backends.numpy.plan import Plan, plan
from gradwire_engine.backends.numpy.text import Text
from gradwire_engine.engine import Engine
from gradwire_engine.errors import Place
from gradwire_engine.ops.constants import GuardFailed, Input, Source
from gradwire_engine.ops.loops import Loop
from gradwire_engine.optimize.liveness import alive
from gradwire_engine.program import Program
from gradwire_engine.tape import Instruction, Tape

#: Gives seconds, from any moment on.
Clock: TypeAlias = Callable[[], float]
_Where: TypeAlias = Callable[[Instruction], Place]
#: Walks that times are the medians of.
_WALKS = 9


class Step(NamedTuple):
    """One instruction: ``%slot = op(operands)``, and where the client wrote what it computes.

    ``flops`` and ``nbytes``, of its result, are predictions. A ``derivative`` came of
    differentiating what is at that place. What is not ``needed``, a later pass drops. Of a loop,
    ``body`` is what its passes do.
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


class Explanation(NamedTuple):
    """What becomes of a program.

    ``stages`` are the tapes by what made them: recorded, differentiated, batched; shrunk, where
    loops make only what is read; simplified; compacted. The last is replayed: by ``code``, and
    that in ``loops`` for the loop at these slots, each in the body of the one before.
    """

    stages: Mapping[str, Listing]
    plan: Plan
    code: Sequence[Line]
    loops: Mapping[tuple[int, ...], Sequence[Line]]
    times: Times | None

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
    clock: Clock | None = None,
) -> Explanation:
    """Explain what answers ``query``: of the paths that examples take, the one recorded last.

    With a ``clock`` its instructions are timed; all passes of a loop are one.

    Raises: what answering does.
    """
    call = Engine().call(program, variables, query, vectors)
    tapes: dict[str, Tape] = {}
    call.told = tapes.__setitem__
    call.replay(_go_on)
    tape = tapes["compacted"]
    planned, quick = plan(tape), not query.exact

    def within(instruction: Instruction) -> Place:
        return program.place(instruction.origin)

    stages = {name: _listing(made, call.place, within) for name, made in tapes.items()}
    times = None
    if clock is not None:
        inputs = [x[()] for x in call.inputs]  # without axes, as scalars
        seconds = _timed(tape, planned, inputs, clock)
        times = _grouped(tape, stages["compacted"].steps, seconds)
    passes = {slots: _lines(loops.written(op, quick=quick), within) for slots, op in _loops(tape)}
    code = _lines(lower.written(tape, planned, quick=quick), call.place)
    return Explanation(stages, planned, code, passes, times)


def _go_on() -> None:
    """What is explained has no deadline."""


def _listing(tape: Tape, where: _Where, within: _Where) -> Listing:
    """A tape with places from ``where``, in bodies from ``within``."""
    made = tape.instructions
    needed = alive(made, tape.outputs)
    steps: list[Step] = []
    for slot, instruction in enumerate(made):
        op, args, kind, origin = instruction
        flops = op.flops(kind, *[made[a].type for a in args])  # type: ignore[arg-type]
        nbytes, body = kind.nbytes, None
        if isinstance(op, Loop):
            nbytes, body = op.nbytes, _listing(op.body.tape, within, within)
        shown = slot, str(op), args, str(kind), flops, nbytes, where(instruction)
        steps.append(Step(*shown, origin < 0, bool(needed[slot]), body))
    return Listing(tuple(steps), tape.outputs)


def _loops(tape: Tape, outer: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Loop]]:
    """All loops, those in bodies after the one that they are in."""
    for slot, instruction in enumerate(tape.instructions):
        if isinstance(instruction.op, Loop):
            yield (*outer, slot), instruction.op
            yield from _loops(instruction.op.body.tape, (*outer, slot))


def _lines(text: Text, where: _Where) -> list[Line]:
    return [
        Line(line, None, None) if of is None else Line(line, of.op.name, where(of))
        for line, of in text.lines
    ]


def _timed(tape: Tape, planned: Plan, inputs: Sequence[Any], clock: Clock) -> list[float]:
    """Seconds of each instruction: the median of several walks, in the memory of a replay."""
    walks = [_walked(tape, planned, inputs, clock) for _ in range(_WALKS)]
    return [median(seconds) for seconds in zip(*walks, strict=True)]


def _walked(tape: Tape, planned: Plan, inputs: Sequence[Any], clock: Clock) -> list[float]:
    values: list[Any] = []
    spent: list[float] = []
    with np.errstate(all="ignore"):
        for slot, (op, args, _, _) in enumerate(tape.instructions):
            operands = [inputs[op.index]] if isinstance(op, Input) else [values[a] for a in args]
            compute = loops.bound(op, _go_on)
            start = clock()
            try:
                values.append(compute(*operands))
            except GuardFailed:  # at a threshold, where optimising moved the last digit
                values.append(None)
            spent.append(0.0 if isinstance(op, Source) else clock() - start)
            for gone in planned.dead[slot]:
                values[gone] = None
    return spent


def _grouped(tape: Tape, steps: Sequence[Step], seconds: Sequence[float]) -> Times:
    by_op: dict[str, float] = {}
    by_line: dict[int | str, float] = {}
    for (op, _, _, _), step, spent in zip(tape.instructions, steps, seconds, strict=True):
        if not isinstance(op, Source):
            line = step.place.line or step.place.pointer or ""
            by_op[op.name] = by_op.get(op.name, 0.0) + spent
            by_line[line] = by_line.get(line, 0.0) + spent
    return Times(seconds, by_op, by_line)
