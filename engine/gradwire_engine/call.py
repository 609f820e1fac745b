"""One query with its values: from the cache's recordings to an answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gradwire_engine.answer import (
    Answer,
    Array,
    Direction,
    Leaf,
    Nonfinite,
    Poll,
    Query,
)
from gradwire_engine.backends.base import Executable, Replayed
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.backends.nonfinite import NonfiniteResult, first_nonfinite, nonfinite_results
from gradwire_engine.backends.stable_alternatives import stable_alternative
from gradwire_engine.backends.staged import Specialised, StagedExecutable
from gradwire_engine.cache import Context, Entry
from gradwire_engine.compile import Compiled, compile_query
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.compile.differences import judged
from gradwire_engine.compile.query import check_budget
from gradwire_engine.errors import EngineError, OverBudget, Place
from gradwire_engine.gc_pause import gc_paused
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import GuardFailed, Input, WayUnknown
from gradwire_engine.program import Program
from gradwire_engine.record.calculus import leaves
from gradwire_engine.record.variables import flatten
from gradwire_engine.residents import NOTHING, Recurring
from gradwire_engine.tape import ArrayType, Instruction, TapeListener

#: What a variable takes in the key of what is compiled: its path, dtype and shape.
_LEAF_BYTES = 300


class Call:
    """One query with its values: compile where needed, then replay."""

    #: Types of what inputs are for many examples at once, by number: none for one alone.
    _stacks: Mapping[int, ArrayType] = MappingProxyType({})
    #: On what else it depends what is compiled.
    _terms: tuple[Hashable, ...] = ()
    #: Hears of every tape on the way, where somebody asks.
    told: TapeListener | None = None

    def __init__(
        self,
        context: Context,
        program: Program,
        variables: Mapping[str, Any],
        query: Query,
        vectors: Any,
    ) -> None:
        self._context = context
        self._cache, self._limits, self._backend = context
        self._program = program
        self._variables = variables
        self._query = query
        self._vectors = in_order(vectors)
        self.inputs: list[Array] = []
        #: The digests of those of them that are resident, by their numbers.
        self._digests: dict[int, str] = {}
        self._found: Recurring | None = None
        self._specialised: dict[StagedExecutable, Specialised | None] = {}
        signature: list[Hashable] = []
        for path, leaf in flatten(variables):
            value = leaf.value
            if isinstance(value, str):
                signature.append((path, value))
            else:
                if leaf.resident is not None:
                    self._digests[len(self.inputs)] = leaf.resident
                self.inputs.append(value)
                signature.append((path, value.dtype, value.shape, leaf.trainable, leaf.any_shape))
        along: tuple[Hashable, ...] = ()
        if self._vectors:
            along = tuple([None if v is None else (v.dtype, v.shape) for v in self._vectors])
            self.inputs += [v for v in self._vectors if v is not None]
        outline = tuple([(k, _outline(v)) for k, v in variables.items() if type(v) is not Leaf])
        stacks = [(i, kind.shape) for i, kind in self._stacks.items()]
        asked = _frozen(query)
        self._key = (program.id, tuple(signature), outline, asked, along, *stacks, self._terms)
        key_bytes = _LEAF_BYTES * len(signature) + (len(asked) if isinstance(asked, str) else 0)
        self._entry = self._cache.find(self._key, key_bytes)

    @property
    def entry(self) -> Entry:
        """What is kept for this key: equal keys have the same, as long as it is."""
        return self._entry

    @property
    def compiled(self) -> bool:
        """Whether an executable is at hand; it may still prove to be of another path."""
        paths = self._entry.paths
        return bool(paths) and paths[0].knows(self._recurring.numbers)

    @property
    def seconds(self) -> float:
        """Predicted time of the replay, once compiled, with what is still to be computed once."""
        return self._executable(self._entry.paths[0]).seconds

    @property
    def peak_bytes(self) -> int:
        """Most bytes of arrays that the replay holds at once, once compiled."""
        return self._executable(self._entry.paths[0]).peak_bytes

    @property
    def answer_bytes(self) -> int:
        """Bytes of the arrays in the answer, once compiled."""
        return self._entry.paths[0].executable.output_bytes

    def compile(self, poll: Poll) -> None:
        """Make sure that there is an executable."""
        if not self._entry.paths:
            with self._entry.locked(poll):
                if not self._entry.paths:
                    self._record(self._variables, self._vectors, poll)
        self._compile_parts(self._entry.paths[0], poll)

    def replay(self, poll: Poll) -> Answer:
        """The answer. Where a guard fails on all recorded paths, the program is recorded anew."""
        answer = self._replayed(poll)
        if self._query.kind == "check":
            answer.checks = judged(answer.derivatives, self._query)
        return answer

    def _replayed(self, poll: Poll) -> Answer:
        """The same before what is to be compared is."""
        if not self._entry.paths:
            self.compile(poll)
        paths = self._entry.paths
        answer = self._first(paths, poll)
        if answer is not None:
            return answer
        with self._entry.locked(poll):
            answer = self._first([p for p in self._entry.paths if p not in paths], poll)
            if answer is not None:  # another thread has recorded this path meanwhile
                return answer
            compiled = self._record(self._variables, self._vectors, poll)
        return self._run_recorded(compiled, poll)

    def _first(self, paths: Sequence[Compiled], poll: Poll) -> Answer | None:
        """The answer of the first recording whose guards hold."""
        for compiled in paths:
            answer = self._run(compiled, poll)
            if isinstance(answer, Answer):
                self._entry.prefer(compiled)
                return answer
        return None

    def _run_recorded(self, compiled: Compiled, poll: Poll) -> Answer:
        """The answer of what was recorded for these very values."""
        answer = self._run(compiled, poll)
        if answer is WayUnknown:
            compiled = self._record(self._variables, self._vectors, poll, unroll=True)
            answer = self._run(compiled, poll)
        if not isinstance(answer, Answer):  # at a threshold, where optimising moved the last digit
            answer = self._run(compiled.unguarded(poll), poll)
        assert isinstance(answer, Answer)
        return answer

    def _record(
        self,
        variables: Mapping[str, Any],
        vectors: Sequence[Array | None] | None,
        poll: Poll,
        *,
        unroll: bool = False,
    ) -> Compiled:
        with gc_paused, np.errstate(all="ignore"):
            try:
                compiled = self._compiled(variables, vectors, poll, unroll=unroll)
            except WayUnknown:  # in what a decision needs
                return self._record(variables, vectors, poll, unroll=True)
        self._cache.add(self._key, self._entry, compiled)
        return compiled

    def _compiled(
        self,
        variables: Mapping[str, Any],
        vectors: Sequence[Array | None] | None,
        poll: Poll,
        *,
        unroll: bool,
    ) -> Compiled:
        given = self._program, variables, self._query, vectors, self._limits, self._backend, poll
        return compile_query(*given, self._stacks, unroll=unroll, told=self.told)

    def _exactly(self, compiled: Compiled, poll: Poll) -> Compiled:
        """The same by the operations as the program names them.

        Raises: ``OverBudget`` where these take too much.
        """

        def record() -> Compiled:
            query = replace(self._query, exact=True)
            given = self._program, self._variables, query, self._vectors, self._limits
            with gc_paused, np.errstate(all="ignore"):
                return compile_query(*given, self._backend, poll, self._stacks)

        exact = compiled.exactly(poll, record)
        self._cache.count(self._key, self._entry)
        check_budget(exact.executable, self._limits)
        return exact

    @property
    def _recurring(self) -> Recurring:
        """The residents that came together before: what is computed of them alone is kept."""
        if not self._digests:
            return NOTHING
        if self._found is None:
            self._found = self._entry.residents.recurring(self._digests)
            self._cache.count(self._key, self._entry)
        return self._found

    def _compile_parts(self, compiled: Compiled, poll: Poll) -> None:
        """Make sure that a recording is parted for the residents that recur."""
        residents = self._recurring.numbers
        if not compiled.knows(residents):
            with gc_paused, np.errstate(all="ignore"):
                compiled.part(residents, poll)
            self._cache.count(self._key, self._entry)

    def _executable(self, compiled: Compiled) -> Executable | Specialised:
        """What replays a recording: where residents recur, what is specialised for these."""
        parted = compiled.parted.get(self._recurring.numbers)
        if parted is None:
            return compiled.executable
        if parted not in self._specialised:
            asked = parted, self._recurring, self._limits.kept_bytes
            self._specialised[parted] = self._entry.residents.specialised(*asked)
            self._cache.count(self._key, self._entry)
        return self._specialised[parted] or compiled.executable

    def _run(self, compiled: Compiled, poll: Poll) -> Answer | type[GuardFailed]:
        """The answer by a recording, or the guard that fails."""
        replayed = self._outputs(compiled, poll)
        if replayed.guard is not None:
            return replayed.guard
        if replayed.finite:
            return compiled.answer(replayed.outputs)
        outputs = self._as_recorded(compiled, replayed.outputs, poll)
        answer = compiled.answer(outputs)
        if not all_finite(outputs):
            answer.nonfinite = self._nonfinite(compiled, poll)
        return answer

    def _as_recorded(self, compiled: Compiled, outputs: Sequence[Any], poll: Poll) -> Sequence[Any]:
        """What the operations as recorded give: near the ends of the range it may be finite."""
        if not compiled.executable.exact:
            with suppress(OverBudget):
                replayed = self._outputs(self._exactly(compiled, poll), poll)
                if replayed.guard is None:
                    return replayed.outputs
        return outputs

    def _outputs(self, compiled: Compiled, poll: Poll) -> Replayed:
        """What a recording gives; errors have their place in the program."""
        try:
            if self._digests:
                self._compile_parts(compiled, poll)
            return self._executable(compiled).replay(self.inputs, poll)
        except EngineError as error:
            if compiled.rolled:  # which of the expressions failed?
                return self._outputs(self._exactly(compiled, poll), poll)
            failed = compiled.executable.failed_at(error)
            error.at = error.at or (failed and self._program.place(failed.origin))
            raise
        except Exception as error:
            if compiled.rolled:
                return self._outputs(self._exactly(compiled, poll), poll)
            raise self._explained(compiled, error) from error

    def _nonfinite(self, compiled: Compiled, poll: Poll) -> dict[Direction, Nonfinite]:
        """Where the outputs stopped being finite: by the operations that the program names.

        Where these take too much memory to answer, they may stay finite; then by what replays.
        """
        tape, found = compiled.executable.tape, dict[int, NonfiniteResult]()
        with suppress(OverBudget):
            tape = self._exactly(compiled, poll).executable.tape
            found = nonfinite_results(tape, self.inputs, self._backend, poll)
        if found.keys().isdisjoint(tape.outputs):
            tape = compiled.executable.tape
            found = nonfinite_results(tape, self.inputs, self._backend, poll)
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
        """Where the client wrote what an instruction computes, or named the value it reads."""
        op = instruction.op
        if not isinstance(op, Input):
            return self._program.place(instruction.origin)
        variables = [
            path for path, leaf in flatten(self._variables) if not isinstance(leaf.value, str)
        ]
        sent = len(self.inputs) - len(self._stacks)
        variables += [""] * (sent - len(variables))
        variables += [variables[i] for i in self._stacks]
        if variables[op.index]:
            return Place(id=variables[op.index], pointer="/variables")
        field = VECTORS[self._query.kind]
        return Place(id=field, pointer=f"/{field}")

    def _explained(self, compiled: Compiled, error: Exception) -> EngineError:
        """A failure of a kernel in the terms of the program."""
        failed = compiled.executable.failed_at(error)
        if failed is None:
            raise error
        found = self._backend.explain(failed.op, error)
        if found is None:
            raise error
        found.at = self._program.place(failed.origin)
        return found


def in_order(vectors: Any) -> Sequence[Array | None] | None:
    """Nested cotangents or tangents one after the other; None stands for ones."""
    return None if vectors is None else leaves(vectors)


def _frozen(query: Query) -> Any:
    if query.outputs is query.target is query.sources is None and not query.batch:
        return query
    return repr(query)


def _outline(value: Any) -> Any:
    """The nesting of a variable, which its leaves' paths do not tell."""
    if isinstance(value, Leaf):
        return None
    if isinstance(value, Composite):
        return str(value)
    if isinstance(value, Mapping):
        return tuple([(key, _outline(item)) for key, item in value.items()])
    return len(value), *[_outline(item) for item in value]
