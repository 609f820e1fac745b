"""Measures what each instruction of a tape takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Poll
from gradwire_engine.backends.base import Backend, evaluated
from gradwire_engine.errors import Place
from gradwire_engine.explain.listing import Where
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import GuardFailed, Source
from gradwire_engine.tape import Tape
from gradwire_engine.traversal import dead_after

#: Gives seconds, from any moment on.
Clock: TypeAlias = Callable[[], float]
#: Walks that times are the medians of; fewer where they take longer than this together.
_WALKS, _SECONDS = 9, 1.0


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


def measured(
    tape: Tape, backend: Backend, inputs: Sequence[Any], where: Where, clock: Clock, poll: Poll
) -> Times:
    """The median times of the instructions of a tape, each computed by ``backend``.

    All passes of a loop are one, and all blocks.
    """
    walks: list[list[float]] = []
    while len(walks) < _WALKS and sum(map(sum, walks)) < _SECONDS:
        walks.append(_walked(tape, backend, inputs, clock, poll))
    seconds = [median(spent) for spent in zip(*walks, strict=True)]
    return _summed(tape, [where(each) for each in tape.instructions], seconds)


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


def _summed(tape: Tape, places: Sequence[Place], seconds: Sequence[float]) -> Times:
    by_op: dict[str, float] = {}
    by_line: dict[int | str, float] = {}
    for (op, _, _, _), place, spent in zip(tape.instructions, places, seconds, strict=True):
        if not isinstance(op, Source):
            line = place.line or place.pointer or ""
            by_op[op.name] = by_op.get(op.name, 0.0) + spent
            by_line[line] = by_line.get(line, 0.0) + spent
    return Times(seconds, by_op, by_line)
