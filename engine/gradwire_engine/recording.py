"""A program run once with every value kept, so that what is asked later replays only the rest."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Direction, Limits, Nonfinite, Notice, Poll, Query
from gradwire_engine.autodiff.reverse import dependents
from gradwire_engine.backends.numpy.executable import Executable
from gradwire_engine.batched_call import BatchedCall
from gradwire_engine.cache import Cache
from gradwire_engine.call import Call
from gradwire_engine.collection import collection_held
from gradwire_engine.compile import Compiled, Template
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.compile.names import Names
from gradwire_engine.compile.query import check_budget, new_recorder, resume_query
from gradwire_engine.errors import InputError, Place
from gradwire_engine.ops.builder import Var, describe
from gradwire_engine.ops.constants import Input, WayUnknown
from gradwire_engine.program import Program
from gradwire_engine.record.calculus import leaves
from gradwire_engine.record.variables import flatten
from gradwire_engine.tape import ArrayType, Instruction, Tape

#: Executables of queries that a recording keeps.
_CACHE_BYTES = 4 << 20


class Recording:
    """A program recorded for given values, then ``run``. Thread-safe.

    Watched are the trainable variables, unless ``watch_accessed`` is false, and the variables and
    intermediates that ``watch`` names. Only what is watched, or computed from it, is a source.
    """

    def __init__(
        self,
        program: Program,
        variables: Mapping[str, Any],
        limits: Limits,
        poll: Poll,
        *,
        watch: Sequence[str] = (),
        watch_accessed: bool = True,
        promotion: str = "numpy",
    ) -> None:
        self.program = program
        self.variables = variables
        self.limits = limits
        self.cache = Cache(_CACHE_BYTES)
        self._lock = threading.Lock()
        self._watching = watch, watch_accessed
        self._promotion = promotion
        #: The value of every slot.
        self.values: Sequence[Any] = ()
        self._record(poll)

    def _record(self, poll: Poll, *, unroll: bool = False) -> None:
        program, variables, limits = self.program, self.variables, self.limits
        with collection_held, np.errstate(all="ignore"):
            recorder = self._recorder = new_recorder(
                program, variables, self._promotion, limits, poll, unroll=unroll
            )
            self._result = recorder.record()
        b = recorder.b
        #: What was recorded.
        self.instructions: Sequence[Instruction] = tuple(b.instructions)
        #: How many of it are the variables'.
        self.inputs = len(b.inputs)
        watch, watch_accessed = self._watching
        accessed, named = [*self._accessed(watch_accessed)], [*self._named(watch)]
        self._watched = self._dependents([*accessed, *named])
        paused = recorder.state.paused
        told_of = [i for slot, i in enumerate(self.instructions) if slot not in paused]
        read = {slot for instruction in told_of for slot in instruction.args}
        read.update(x.slot for x in leaves(self._result) if isinstance(x, Var))
        told = {var.slot for var in accessed if var.slot in read}.union(var.slot for var in named)
        versions = recorder.state.versions
        #: Paths of the watched variables, those that are read and those that ``watch`` names, in
        #: the order of their declaration.
        self.watched = [
            path
            for path, _ in flatten(variables)
            if not told.isdisjoint([var.slot for var in versions.get(path, ())])
        ]
        self._everything = Executable(b.tape(b.vars))
        check_budget(self._everything, limits)
        #: Bytes of all values together.
        self.nbytes = self._everything.peak_bytes

    def run(self, poll: Poll) -> None:
        """Replay all that was recorded, and keep its values."""
        try:
            self.values = self.call(Query("evaluate")).run(self._everything, poll)
        except WayUnknown:
            self._record(poll, unroll=True)
            self.run(poll)

    def place(self, instruction: Instruction) -> Place:
        """Where the client wrote what an instruction computes, or which variable it is."""
        if not isinstance(instruction.op, Input):
            return self.program.place(instruction.origin)
        return Place(id=[*self._recorder.state.versions][instruction.op.index])

    def call(self, query: Query, vectors: Any = None) -> RecordedCall:
        """``query`` about what was recorded, neither compiled nor run yet; as ``Engine.call``.

        Of one point there may be many vectors.
        """
        field = VECTORS.get(query.kind)
        for name in query.batch or ():
            if re.split(r"[.\[]", name)[0] != field:
                what = "the point" if field is None else f"all but {field}"
                at = Place(id=name[:80], pointer="/batch")
                raise InputError(f"{what} was recorded without examples", at=at)
        kind = RecordedBatch if query.batch else RecordedCall
        return kind(self, query, vectors)

    def compile(
        self,
        query: Query,
        vectors: Any,
        stacks: Mapping[int, ArrayType],
        poll: Poll,
        *,
        whole: bool = False,
    ) -> Compiled:
        """Compile what a query asks beyond the values that are kept, or the ``whole`` of it."""
        kept = 0 if whole else len(self.instructions)
        with self._lock, collection_held, np.errstate(all="ignore"):
            self._recorder.b.poll = poll
            recorder, watched = self._recorder, self._watched
            return resume_query(
                recorder, self._result, self.variables, query, vectors, stacks, watched, kept
            )

    # Watching

    def _accessed(self, watch_accessed: bool) -> Iterator[Var]:
        if watch_accessed:
            for path, leaf in flatten(self.variables):
                if leaf.trainable:
                    yield from self._recorder.state.versions.get(path, ())

    def _named(self, watch: Sequence[str]) -> Iterator[Var]:
        """All values that ``watch`` names, those below nested ones too."""
        names, state = Names(self._recorder, self.variables), self._recorder.state
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


class RecordedCall(Call):
    """One query about a recording: its values are known, and only what follows them is replayed."""

    def __init__(self, recording: Recording, query: Query, vectors: Any) -> None:
        self._recording = recording
        program, variables, limits = recording.program, recording.variables, recording.limits
        super().__init__(recording.cache, limits, program, variables, query, vectors)

    def run(self, executable: Executable, poll: Poll) -> Sequence[Any]:
        """The outputs of an executable that takes the variables."""
        return super()._outputs(Compiled(executable, Template(None), None, {}, {}, {}, ()), poll)

    def _record(
        self,
        variables: Mapping[str, Any],
        vectors: Sequence[Array | None] | None,
        poll: Poll,
        *,
        unroll: bool = False,
    ) -> Compiled:
        compiled = self._recording.compile(self._query, vectors, self._stacks, poll)
        self._cache.add(self._key, self._entry, compiled)
        return compiled

    def _outputs(self, compiled: Compiled, poll: Poll) -> Sequence[Any]:
        everything, values = self._inputs, self._recording.values
        self._inputs = everything[self._recording.inputs :]
        for slot, item in compiled.known:
            self._inputs.append(values[slot] if item is None else values[slot][item])
        try:
            return super()._outputs(compiled, poll)
        finally:
            self._inputs = everything

    def _nonfinite(self, tape: Tape, poll: Poll) -> dict[Direction, Nonfinite]:
        """The place is of the whole tape, which is compiled for this."""
        query, vectors, stacks = self._query, self._vectors, self._stacks
        whole = self._recording.compile(query, vectors, stacks, poll, whole=True)
        return super()._nonfinite(whole.executable.tape, poll)


class RecordedBatch(RecordedCall, BatchedCall):
    """The same for many vectors at once."""

    def _one(self, variables: Mapping[str, Any], query: Query, vectors: Any) -> Call:
        return RecordedCall(self._recording, query, vectors)
