"""A program recorded with every value kept, so that queries replay only what follows."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import compress, count
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.backends.tiers import Tiers
from gradwire_engine.compile.compiled import Compiled
from gradwire_engine.compile.names import Watching
from gradwire_engine.compile.query import Compilation, Question, check_budget, new_recorder
from gradwire_engine.errors import Place
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.locks import locked
from gradwire_engine.loops.loop import Loop
from gradwire_engine.ops.boundaries import VmapPlaceholder
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import Instruction
from gradwire_engine.traversal import renumbered


class Listed(NamedTuple):
    """An instruction as people read it; a loop's ``body`` is what each of its passes computes."""

    op: str
    args: Sequence[int]
    type: str
    node: Place
    body: Sequence[Listed]


class Recorded:
    """The shared part of a program's tapes whose values have the same types and decide alike."""

    def __init__(self, asked: Compilation, watching: Watching) -> None:
        self.recorder = recorder = new_recorder(asked)
        self._result = result = recorder.record()
        self._lock = threading.Lock()
        self.instructions: Sequence[Instruction] = tuple(recorder.b.instructions)
        #: The number of these that are the variables'.
        self.inputs = len(recorder.b.inputs)
        watched = watching.of(recorder, asked.variables)
        self._watched = watched.slots(recorder)
        #: Paths of the watched variables.
        self.watched = watched.paths(recorder, result, asked.variables)
        #: True for each slot that has a value.
        self._valued = _valued(self.instructions)
        slots = compress(count(), self._valued)
        tape = renumbered(self.instructions, self._valued, recorder.b.inputs, slots, asked.poll)
        executable = asked.backend.compile(tape, asked.poll, exact=asked.query.exact)
        check_budget(executable, asked.limits, answers=False)
        #: Compute the values.
        self.tiers = Tiers(executable, tape, asked.backend)
        #: Bytes of all values together.
        self.nbytes = executable.peak_bytes
        #: The key of queries about it in the cache, which does not hold this.
        self.identity = object()
        recorder.concrete.restart({})  # it is kept as long as what is compiled: no values

    def values(self, computed: Sequence[Any]) -> Mapping[int, Any]:
        """The values that ``tiers`` computed, by slot."""
        return dict(zip(compress(count(), self._valued), computed, strict=True))

    def compile(
        self, asked: Compilation, values: Mapping[int, Any], *, whole: bool = False
    ) -> Compiled:
        """Compile what a query asks beyond the ``values``, or the ``whole`` of it."""
        kept = 0 if whole else len(self.instructions)
        with (
            locked(self._lock, asked.poll),
            gc_paused,
            np.errstate(all="ignore"),
            self.recorder.resumed(values, asked.poll),
        ):
            return Question(self.recorder, asked, self._watched).compile(self._result, kept)

    def place(self, instruction: Instruction) -> Place:
        """The place in the source of what an instruction computes, or which variable it is."""
        if not isinstance(instruction.op, Input):
            return self.recorder.program.place(instruction.origin)
        return Place(id=[*self.recorder.state.versions][instruction.op.index])

    def listed(self, most: int) -> list[Listed]:
        """The recording in print, ``most`` instructions of it and of each body."""
        return [self._listed(i, self.place(i), most) for i in self.instructions[:most]]

    def _listed(self, instruction: Instruction, place: Place, most: int) -> Listed:
        op, args, kind, _ = instruction
        body: list[Listed] = []
        if isinstance(op, Loop):
            for inner in op.body.tape.instructions[:most]:
                read = isinstance(inner.op, Input)
                at = place if read else self.recorder.program.place(inner.origin)
                body.append(self._listed(inner, at, most))
        return Listed(op.name, args, str(kind), place, body)


def _valued(instructions: Sequence[Instruction]) -> list[bool]:
    """False for what is computed of any one example of a mapped function: it has no value."""
    valued: list[bool] = []
    for op, args, _, _ in instructions:
        valued.append(not isinstance(op, VmapPlaceholder) and all(valued[arg] for arg in args))
    return valued
