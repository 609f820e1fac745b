"""A program run once with every value kept, so that what is asked later replays only the rest."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Answer, Direction, Nonfinite, Notice, Poll, Query
from gradwire_engine.autodiff.reverse import dependents
from gradwire_engine.backends.base import Backend, Replayed
from gradwire_engine.batched_call import BatchedCall
from gradwire_engine.cache import Context
from gradwire_engine.call import Call
from gradwire_engine.compile import Compiled, Template
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.compile.names import Names
from gradwire_engine.compile.query import check_budget, new_recorder, resume_query
from gradwire_engine.errors import InputError, Place
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.locks import locked
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.constants import GuardFailed, Input
from gradwire_engine.ops.loops import Loop
from gradwire_engine.program import Program
from gradwire_engine.record.calculus import leaves
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.variables import flatten
from gradwire_engine.tape import ArrayType, Instruction

#: What an instruction and its value take beside the value's elements.
_BYTES_PER_INSTRUCTION = 1000


class Watching(NamedTuple):
    """What may be a source: what is named, or computed from it, and all that is trainable."""

    names: tuple[str, ...] = ()
    accessed: bool = True


class Listed(NamedTuple):
    """An instruction as people read it; a loop's ``body`` is what each of its passes computes."""

    op: str
    args: Sequence[int]
    type: str
    node: Place
    body: Sequence[Listed]


class Recorded:
    """What the tapes of a program share, whose values have the same types and decide alike."""

    def __init__(
        self,
        recorder: Recorder,
        backend: Backend,
        result: Any,
        variables: Mapping[str, Any],
        watching: Watching,
        *,
        exact: bool,
    ) -> None:
        self._recorder = recorder
        self._backend = backend
        self._result = result
        self._lock = threading.Lock()
        b = recorder.b
        self.instructions: Sequence[Instruction] = tuple(b.instructions)
        #: How many of these are the variables'.
        self.inputs = len(b.inputs)
        accessed = [*self._accessed(variables)] if watching.accessed else []
        named = [*self._named(watching.names, variables)]
        self._watched = self._dependents([*accessed, *named])
        paused = recorder.state.paused
        told_of = [i for slot, i in enumerate(self.instructions) if slot not in paused]
        read = {slot for instruction in told_of for slot in instruction.args}
        read.update(x.slot for x in leaves(result) if isinstance(x, Var))
        told = {var.slot for var in accessed if var.slot in read}.union(var.slot for var in named)
        versions = recorder.state.versions
        #: Paths of the watched variables, those that are read and those that are named, in the
        #: order of their declaration.
        self.watched = [
            path
            for path, _ in flatten(variables)
            if not told.isdisjoint([var.slot for var in versions.get(path, ())])
        ]
        #: Computes the value of every slot.
        self.executable = backend.compile(b.tape(b.vars), b.poll, exact=exact)
        check_budget(self.executable, b.limits, answers=False)
        #: Bytes of all values together.
        self.nbytes = self.executable.peak_bytes
        #: What its questions are known by in the cache, which does not hold this.
        self.identity = object()

    def place(self, instruction: Instruction) -> Place:
        """Where the client wrote what an instruction computes, or which variable it is."""
        if not isinstance(instruction.op, Input):
            return self._recorder.program.place(instruction.origin)
        return Place(id=[*self._recorder.state.versions][instruction.op.index])

    def listed(self, most: int) -> list[Listed]:
        """What was recorded, ``most`` instructions of it and of each body."""
        return [self._listed(i, self.place(i), most) for i in self.instructions[:most]]

    def _listed(self, instruction: Instruction, place: Place, most: int) -> Listed:
        op, args, kind, _ = instruction
        body: list[Listed] = []
        if isinstance(op, Loop):
            for inner in op.body.tape.instructions[:most]:
                read = isinstance(inner.op, Input)
                at = place if read else self._recorder.program.place(inner.origin)
                body.append(self._listed(inner, at, most))
        return Listed(op.name, args, str(kind), place, body)

    def compile(
        self,
        variables: Mapping[str, Any],
        values: Sequence[Any],
        query: Query,
        vectors: Any,
        stacks: Mapping[int, ArrayType],
        poll: Poll,
        *,
        whole: bool = False,
    ) -> Compiled:
        """Compile what a query asks beyond the ``values`` of a tape, or the ``whole`` of it."""
        told = self._recorder, self._backend, self._result, variables, values
        with locked(self._lock, poll), gc_paused, np.errstate(all="ignore"):
            self._recorder.b.poll = poll
            return resume_query(*told, query, vectors, stacks, self._watched, whole=whole)

    # Watching

    def _accessed(self, variables: Mapping[str, Any]) -> Iterator[Var]:
        for path, leaf in flatten(variables):
            if leaf.trainable:
                yield from self._recorder.state.versions.get(path, ())

    def _named(self, watch: Sequence[str], variables: Mapping[str, Any]) -> Iterator[Var]:
        """All values that ``watch`` names, those below nested ones too."""
        names, state = Names(self._recorder, variables), self._recorder.state
        for i, name in enumerate(watch):
            at = Place(id=name[:80], pointer=f"/watch/{i}")
            for value in leaves(names.values(name, f"/watch/{i}")):
                if not isinstance(value, Var):
                    raise InputError(f"only arrays can be watched, not {describe(value)}", at=at)
                if not value.type.differentiable:
                    detail = f"only floating values have gradients, {name[:80]} is {value.type}"
                    self._recorder.warnings.append(Notice("not_floating", detail))
                yield from state.leaves(value)

    def _dependents(self, watched: Sequence[Var]) -> frozenset[int]:
        """The slots of ``watched``, and of what depends on them."""
        slots = {var.slot for var in watched}
        if watched:
            marks = dependents(self._recorder.b, watched, len(self.instructions) - 1)
            slots.update(slot for slot, marked in enumerate(marks) if marked)
        return frozenset(slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run(Compiled):
    """What computes all values of what was recorded."""

    recorded: Recorded


class Recording(Call):
    """A program recorded, and ``run`` for given values, of which every one is kept."""

    #: What was recorded, and the value of every slot, once it was run.
    recorded: Recorded
    values: Sequence[Any] = ()
    _unrolled: Recording | None = None

    def __init__(
        self,
        context: Context,
        program: Program,
        variables: Mapping[str, Any],
        promotion: str,
        watching: Watching,
        *,
        exact: bool,
    ) -> None:
        self.program = program
        self.exact = exact
        self._promotion = promotion
        self._watching = watching
        self._terms = (watching, promotion, exact)
        super().__init__(context, program, variables, Query("evaluate"), None)

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes, once it was run: more when questions need passes."""
        recorded = self.recorded
        other = 0 if self._unrolled is None else self._unrolled.nbytes
        return recorded.nbytes + _BYTES_PER_INSTRUCTION * len(recorded.instructions) + other

    def run(self, poll: Poll) -> None:
        """Compute all values, by what was recorded of others that decide alike, if there is."""
        self._replayed(poll)

    def unrolled(self, poll: Poll) -> Recording:
        """The same with all passes of loops, each recorded by itself."""
        if self._unrolled is None:
            other = copy(self)
            other._run_recorded(other._record(self._variables, None, poll, unroll=True), poll)
            self._unrolled = other
        return self._unrolled

    def call(self, query: Query, vectors: Any = None) -> RecordedCall:
        """``query`` about what was run, neither compiled nor run yet; as ``Engine.call``.

        Of one point there may be many vectors. What is asked of an exact recording is exact.
        """
        field = VECTORS.get(query.kind)
        for name in query.batch or ():
            if re.split(r"[.\[]", name)[0] != field:
                what = "the point" if field is None else f"all but {field}"
                at = Place(id=name[:80], pointer="/batch")
                raise InputError(f"{what} was recorded without examples", at=at)
        kind = RecordedBatch if query.batch else RecordedCall
        return kind(self, replace(query, exact=self.exact), vectors)

    def _compiled(
        self, variables: Mapping[str, Any], vectors: Any, poll: Poll, *, unroll: bool
    ) -> Compiled:
        given = self.program, variables, self._promotion, self._limits, self._backend, poll
        recorder = new_recorder(*given, unroll=unroll)
        result, exact = recorder.record(), self.exact
        recorded = Recorded(
            *(recorder, self._backend, result, variables, self._watching), exact=exact
        )
        nothing = Template(None)
        executable = recorded.executable
        return _Run(
            *(executable, self._backend, nothing, None, {}, {}, {}, (), executable.tape),
            recorded=recorded,
        )

    def _run(self, compiled: Compiled, poll: Poll) -> Answer | type[GuardFailed]:
        assert isinstance(compiled, _Run)
        replayed = self._outputs(compiled, poll)
        if replayed.guard is not None:
            return replayed.guard
        self.values = replayed.outputs
        self.recorded = compiled.recorded
        return Answer()


class RecordedCall(Call):
    """One query about a recording: its values are known, and only what follows them is replayed."""

    def __init__(self, recording: Recording, query: Query, vectors: Any) -> None:
        self._asked = query, vectors
        self._ask(recording)

    def _ask(self, recording: Recording) -> None:
        """Ask this one."""
        query, vectors = self._asked
        self._recording = recording
        self._recorded, self._values = recording.recorded, recording.values
        self._terms = (self._recorded.identity,)
        given = recording.program, recording._variables
        super().__init__(recording._context, *given, query, vectors)

    def _compiled(
        self, variables: Mapping[str, Any], vectors: Any, poll: Poll, *, unroll: bool
    ) -> Compiled:
        if unroll:
            self._ask(self._recording.unrolled(poll))
        return self._of_recorded(vectors, poll)

    def _of_recorded(self, vectors: Any, poll: Poll, *, whole: bool = False) -> Compiled:
        told = self._variables, self._values, self._query, vectors, self._stacks
        return self._recorded.compile(*told, poll, whole=whole)

    def _outputs(self, compiled: Compiled, poll: Poll) -> Replayed:
        everything, values = self.inputs, self._values
        self.inputs = everything[self._recorded.inputs :]
        for slot, item in compiled.known:
            self.inputs.append(values[slot] if item is None else values[slot][item])
        try:
            return super()._outputs(compiled, poll)
        finally:
            self.inputs = everything

    def _nonfinite(self, compiled: Compiled, poll: Poll) -> dict[Direction, Nonfinite]:
        """The place is of the whole tape, which is compiled for this."""
        return super()._nonfinite(self._of_recorded(self._vectors, poll, whole=True), poll)


class RecordedBatch(RecordedCall, BatchedCall):
    """The same for many vectors at once."""

    def _one(self, variables: Mapping[str, Any], query: Query, vectors: Any) -> Call:
        return self._recording.call(query, vectors)
