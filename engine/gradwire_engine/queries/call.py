"""One query with its values: found in the cache or recorded, compiled, replayed, answered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Answer, Direction, Limits, Nonfinite, Poll, Query
from gradwire_engine.backends.base import Backend, Executable, Replayed
from gradwire_engine.backends.devices import DeviceFailure
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.compile import Compilation, Compiled, compile_query
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.compile.query import check_budget
from gradwire_engine.diagnose.differences import judged
from gradwire_engine.diagnose.nonfinite import NonfiniteResult, first_nonfinite, nonfinite_results
from gradwire_engine.diagnose.stable_alternatives import stable_alternative
from gradwire_engine.errors import DeadlineExceeded, DomainError, EngineError, OverBudget, Place
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.ops.constants import Input, UnrecordedPath
from gradwire_engine.program import Program
from gradwire_engine.queries.arguments import Arguments
from gradwire_engine.queries.cache import Cache
from gradwire_engine.queries.residents import Residents
from gradwire_engine.tape import Instruction, TapeListener

#: Bytes of a variable in the key of what is compiled: its path, dtype and shape.
_LEAF_BYTES = 300
#: Paths that are recorded each by itself: if there are more, all go into one recording.
_FEW_PATHS = 4


class Context(NamedTuple):
    """The state that the calls of an engine share."""

    cache: Cache
    limits: Limits
    backend: Backend


class Compiler(ABC):
    """Compiles queries, by default from the program's inputs on."""

    #: Distinguishes what is compiled from that of the same program, types and query.
    key: Hashable = None

    @abstractmethod
    def compile(self, asked: Compilation) -> Compiled:
        """Record and compile.

        Raises: ``UnrecordedPath``, where loops have to be unrolled.
        """

    def operands(self, compiled: Compiled, inputs: Sequence[Any]) -> Sequence[Any]:
        """The arguments of the executables of ``compiled``, where some of it is ``known``."""
        return inputs

    def whole(self, compiled: Compiled, asked: Compilation) -> Compiled:
        """The same from the program's inputs on."""
        return compiled


class ProgramCompiler(Compiler):
    """Records the program with what is asked of it."""

    def compile(self, asked: Compilation) -> Compiled:
        """Record the program."""
        return compile_query(asked)


PROGRAM_COMPILER = ProgramCompiler()


class Call:
    """One query with its values: compile where needed, then replay."""

    #: Hears of every tape on the way, where somebody asks.
    on_tape: TapeListener | None = None
    _residents: Residents | None = None

    def __init__(
        self,
        context: Context,
        program: Program,
        query: Query,
        arguments: Arguments,
        compiler: Compiler = PROGRAM_COMPILER,
    ) -> None:
        self.context = context
        self.program = program
        self.query = query
        self.arguments = arguments
        self.compiler = compiler
        key = program.id, arguments.signature, query.key, compiler.key
        entry = context.cache.find(key)
        if entry is None:
            nbytes = _LEAF_BYTES * len(arguments.signature) + len(repr(query))
            entry = context.cache.make(key, nbytes)
        #: The cached value of this key: equal keys have the same, as long as it is cached.
        self.entry = entry
        if arguments.digests:
            changed = partial(context.cache.count, entry)
            self._residents = Residents(arguments.digests, entry, context.limits, changed)

    @property
    def compiled(self) -> bool:
        """True if there is an executable; these values may still take another path."""
        paths, residents = self.entry.paths, self._residents
        return bool(paths) and (residents is None or residents.staged(paths[0]))

    @property
    def seconds(self) -> float:
        """Predicted time of the replay, once compiled, with what is still to be computed once."""
        return self._executable(self.entry.paths[0]).seconds

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the replay holds at once, once compiled."""
        return self._executable(self.entry.paths[0]).peak_bytes

    @property
    def answer_bytes(self) -> int:
        """Bytes of the arrays in the answer, once compiled."""
        return self.entry.paths[0].executable.output_bytes

    @property
    def input_bytes(self) -> int:
        """Bytes of the arrays that come with the request: of those that are not residents."""
        residents = self.arguments.digests
        return sum([x.nbytes for i, x in enumerate(self.arguments.inputs) if i not in residents])

    @property
    def flops(self) -> int:
        """Predicted arithmetic of the replay, once compiled."""
        return self._executable(self.entry.paths[0]).flops

    @property
    def hosted(self) -> Sequence[str]:
        """The operations that a backend for a device computes on the host, once compiled."""
        return self._executable(self.entry.paths[0]).hosted

    def compile(self, poll: Poll) -> None:
        """Make sure that there is an executable."""
        if not self.entry.paths:
            with self.entry.locked(poll):
                if not self.entry.paths:
                    self._record(self.arguments, poll)
        if self._residents is not None:
            self._residents.stage(self.entry.paths[0], poll)

    def replay(self, poll: Poll) -> Answer:
        """The answer. Where a guard fails on all recorded paths, the program is recorded anew."""
        answer = self.answer(poll)
        return self._checked(answer, poll) if self.query.kind == "check" else answer

    def _checked(self, answer: Answer, poll: Poll) -> Answer:
        """A check's answer. Several steps are tried where one disagrees: these take far longer."""
        query, checks = self.query, judged(answer.derivatives, self.query)
        agrees = all(check.ok for check in checks.values())
        if agrees or query.several or query.step is not None:
            return answer._replace(checks=checks)
        try:
            return self.asking(query._replace(several=True)).replay(poll)
        except OverBudget:
            undecided = {path: check._replace(decided=check.ok) for path, check in checks.items()}
            return answer._replace(checks=undecided)

    def asking(self, query: Query) -> Call:
        """Another query of the same program with the same values."""
        return Call(self.context, self.program, query, self.arguments, self.compiler)

    def answer(self, poll: Poll) -> Answer:
        """The answer, before a check's derivatives are compared."""
        compiled, replayed = self.found(poll)
        if not replayed.unsure or replayed.finite:
            return compiled.answer(replayed.outputs)
        outputs = self.as_recorded(compiled, replayed.outputs, poll)
        answer = compiled.answer(outputs)
        if all_finite(outputs):
            return answer
        return answer._replace(nonfinite=self.nonfinite(compiled, poll))

    # Finding what replays

    def found(self, poll: Poll) -> tuple[Compiled, Replayed]:
        """The first recording whose guards hold, and its outputs."""
        failed: DomainError | None = None
        if is_new := not self.entry.paths:
            self.compile(poll)
        paths = self.entry.paths
        for compiled in paths:
            try:
                replayed = self.outputs(compiled, poll)
            except DomainError as error:
                at = compiled.executable.failed_at(error.__cause__ or error)
                if is_new or at is None or at.op not in compiled.early:
                    raise
                failed = error  # perhaps of a branch that these values do not take
                continue
            if replayed.guard is None:
                if compiled is not paths[0]:
                    self.entry.prefer(compiled)
                return compiled, replayed
        with self.entry.locked(poll):
            for compiled in self.entry.paths:
                if compiled not in paths:  # another thread has recorded it meanwhile
                    replayed = self.outputs(compiled, poll)
                    if replayed.guard is None:
                        return compiled, replayed
            try:
                compiled = self._record(self.arguments, poll, unroll=failed is not None)
            except EngineError as error:
                if failed is None or isinstance(error, DeadlineExceeded):
                    raise
                raise failed from None
        replayed = self.outputs(compiled, poll)
        if replayed.guard is UnrecordedPath:
            with self.entry.locked(poll):
                compiled = self._record(self.arguments, poll, unroll=True)
            replayed = self.outputs(compiled, poll)
        if replayed.guard is not None:  # at a threshold, where optimising moved the last digit
            replayed = self.outputs(compiled, poll, compiled.tiers.unguarded(poll))
        return compiled, replayed

    def record(self, example: Arguments, poll: Poll) -> Compiled:
        """Record the path of these values, which may be one example of many."""
        with self.entry.locked(poll):
            return self._record(example, poll)

    def _record(self, example: Arguments, poll: Poll, *, unroll: bool = False) -> Compiled:
        asked = self.compilation(example, poll)
        with gc_paused, np.errstate(all="ignore"):
            try:
                merged = None if unroll else self._merged(asked)
                compiled = merged or self.compiler.compile(asked._replace(unroll=unroll))
            except UnrecordedPath:  # in what a decision needs
                compiled = self.compiler.compile(asked._replace(unroll=True))
        self.context.cache.add(self.entry, compiled)
        return compiled

    def _merged(self, asked: Compilation) -> Compiled | None:
        """All paths in one recording, after some have been recorded by themselves."""
        query, entry = asked.query, self.entry
        plain = query.kind in ("evaluate", "gradient") and not (query.exact or query.slices)
        alone = plain and query.shard is None and not asked.stacks and asked.vectors is None
        if not alone or self.compiler is not PROGRAM_COMPILER or entry.unmergeable:
            return None
        if len(entry.paths) < _FEW_PATHS:
            return None
        try:
            compiled = self.compiler.compile(asked._replace(merges=True))
        except UnrecordedPath:
            entry.unmergeable = True
            return None
        entry.unmergeable = bool(compiled.warnings)
        return None if entry.unmergeable else compiled

    def compilation(self, example: Arguments, poll: Poll) -> Compilation:
        """The compilation to make: the query, for the types and decisions of these values."""
        _, limits, backend = self.context
        asked = self.program, example.variables, self.query, example.vectors
        return Compilation(*asked, limits, backend, poll, self.arguments.stacks, self.on_tape)

    # Replaying a recording

    def outputs(
        self, compiled: Compiled, poll: Poll, executable: Executable | None = None
    ) -> Replayed:
        """The outputs of a recording, by another ``executable`` of it; errors have their place."""
        residents = self._residents
        inputs: Sequence[Any] = self.arguments.inputs
        replays: Executable = executable or compiled.tiers.executable
        try:
            if compiled.known is not None:
                inputs = self.compiler.operands(compiled, inputs)
            if residents is not None and executable is None:
                residents.stage(compiled, poll)
                replays = residents.executable(compiled)
            return replays.replay(inputs, poll)
        except DeviceFailure:
            raise
        except Exception as error:
            failed = (executable or compiled.executable).failed_at(error)
            if failed is None:
                raise
            explain = self.context.backend.explain
            refusal = error if isinstance(error, EngineError) else explain(failed.op, error)
            if refusal is None:
                raise
            refusal.at = refusal.at or self.program.place(failed.origin)
            if refusal is error:
                raise
            raise refusal from error

    def _executable(self, compiled: Compiled) -> Executable:
        """The executable of a recording: where residents recur, specialised for these."""
        residents = self._residents
        return compiled.executable if residents is None else residents.executable(compiled)

    def _exact(self, compiled: Compiled, poll: Poll) -> Executable:
        """The executable of the operations as the program names them.

        Raises: ``OverBudget``, where these take too much.
        """
        exact = compiled.tiers.exact(poll)
        self.context.cache.count(self.entry)
        return exact

    # What is not finite

    def as_recorded(self, compiled: Compiled, outputs: Sequence[Any], poll: Poll) -> Sequence[Any]:
        """The results of the operations as recorded, which may be finite near the range's ends."""
        if not compiled.executable.exact:
            with suppress(OverBudget):
                exact = self._exact(compiled, poll)
                check_budget(exact, self.context.limits)
                replayed = self.outputs(compiled, poll, exact)
                if replayed.guard is None:
                    return replayed.outputs
        return outputs

    def nonfinite(self, compiled: Compiled, poll: Poll) -> dict[Direction, Nonfinite]:
        """The place where outputs stopped being finite: by the operations that the program names.

        Where these take too much memory to answer, they may stay finite; then by what replays.
        """
        whole = self.compiler.whole(compiled, self.compilation(self.arguments, poll))
        inputs, backend = self.arguments.inputs, self.context.backend
        tape, found = whole.executable.tape, dict[int, NonfiniteResult]()
        with suppress(OverBudget):
            tape = self._exact(whole, poll).tape
            found = nonfinite_results(tape, inputs, backend, poll)
        if found.keys().isdisjoint(tape.outputs):
            tape = whole.executable.tape
            found = nonfinite_results(tape, inputs, backend, poll)
        return {
            direction: Nonfinite(
                self.place(found[slot].instruction),
                found[slot].instruction.op.name,
                found[slot].operands,
                stable_alternative(tape, slot, found),
            )
            for direction, slot in first_nonfinite(tape, found).items()
        }

    def place(self, instruction: Instruction) -> Place:
        """The place in the source of what an instruction computes, or of the value it reads."""
        op = instruction.op
        if not isinstance(op, Input) or op.index >= len(self.arguments.inputs):
            return self.program.place(instruction.origin)
        if path := self.arguments.path(op.index):
            return Place(id=path, pointer="/variables")
        field = VECTORS[self.query.kind]
        return Place(id=field, pointer=f"/{field}")
