"""One query about one program: recorded, differentiated, optimised, lowered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from gradwire_engine import hints
from gradwire_engine.answer import Array, Limits, Poll, Query, Shard, Unconnected
from gradwire_engine.backends.base import Backend, Executable
from gradwire_engine.backends.staged import prepared
from gradwire_engine.backends.tiers import Tiers
from gradwire_engine.batching.batch import batch
from gradwire_engine.compile.compiled import Compiled, Summed, template
from gradwire_engine.compile.connections import Connections, Unreached
from gradwire_engine.compile.derivatives import ALONG, VECTORS, Derivatives
from gradwire_engine.compile.names import Names, Sources, Watching
from gradwire_engine.compile.shards import (
    BuilderOfAllRows,
    PartOfAll,
    check_kind,
    divided,
    of_all_rows,
)
from gradwire_engine.errors import BadArgument, EngineError, InputError, OverBudget, Place
from gradwire_engine.nesting import flatten, leaves, rebuild
from gradwire_engine.ops.builder import Builder, Var, check_nesting, describe
from gradwire_engine.ops.composites import Composite
from gradwire_engine.ops.constants import UnrecordedPath
from gradwire_engine.ops.pointwise.comparison import LogicalAnd
from gradwire_engine.optimize.partial_evaluation import residual_tape
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.program import Program
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.recording import Recording
from gradwire_engine.record.scope import State, lay_out
from gradwire_engine.tape import ArrayType, TapeListener


class Compilation(NamedTuple):
    """A query to be compiled: about a program, for the types and decisions of its values.

    ``vectors`` are what its derivatives are multiplied by: cotangents or tangents, in order.
    ``stacks`` are the types of further inputs: what the inputs of these numbers are for many
    examples, of which ``variables`` are one. ``on_tape`` hears of every tape on the way. Loops are
    to ``unroll`` where their values take paths that cannot be recorded otherwise. Both branches of
    decisions are recorded where there are many of them: that ``merges`` them.
    """

    program: Program
    variables: Mapping[str, Any]
    query: Query
    vectors: Sequence[Array | None] | None
    limits: Limits
    backend: Backend
    poll: Poll
    stacks: Mapping[int, ArrayType]
    on_tape: TapeListener | None = None
    unroll: bool = False
    merges: bool = False


def compile_query(asked: Compilation, watching: Watching | None = None) -> Compiled:
    """Record a program and compile what is asked of it; sources are what is watched, if not all."""
    query = asked.query
    if query.shard is not None:
        check_kind(query, query.shard, asked.vectors)
    recorder = new_recorder(asked)
    try:
        result = recorder.record(default=is_default(query))
        watched = watching and watching.of(recorder, asked.variables).slots(recorder)
        return Question(recorder, asked, watched).compile(result)
    finally:
        recorder.b.forget()


def is_default(query: Query) -> bool:
    """True if what the program returns is evaluated, or differentiated: nothing else is named."""
    return (query.outputs if query.kind == "evaluate" else query.target) is None


def new_recorder(asked: Compilation) -> Recording:
    """A recorder of a program, the variables laid out on its tape."""
    variables, shard, poll = asked.variables, asked.query.shard, asked.poll
    arrays = [(p, leaf.value) for p, leaf in flatten(variables) if not isinstance(leaf.value, str)]
    inputs: list[Array | None] = [array for _, array in arrays]
    strict = asked.query.promotion == "strict"
    if shard is None:
        b = Builder(asked.limits, strict=strict, poll=poll)
    else:
        paths = divided(shard, variables)
        inputs = [None if path in paths else array for path, array in arrays]
        variables = of_all_rows(variables, paths, shard.rows)
        b = BuilderOfAllRows(asked.limits, shard.rows, strict=strict, poll=poll)
    state = State()
    tree = lay_out(b, variables, state)
    concrete = Concrete(b, asked.backend, inputs)
    given = asked.program, b, tree, state, concrete, poll
    return Recording(*given, unroll=asked.unroll, merges=asked.merges)


def check_budget(executable: Executable, limits: Limits, *, answers: bool = True) -> None:
    """Refuse what would need more than is allowed, or would give more where that ``answers``."""
    check_work(executable.peak_bytes + executable.constant_bytes, executable.flops, limits)
    if answers:
        given, hint = executable.output_bytes, "name fewer outputs, or parts of them"
        _refuse_more(limits.answer_bytes, given, f"the answer has {given:,} bytes", hint)


def check_work(nbytes: int, flops: int, limits: Limits) -> None:
    """Refuse what would hold more at once, or compute more, than is allowed."""
    _refuse_more(limits.total_bytes, nbytes, f"the program needs {nbytes:,} bytes at once")
    _refuse_more(limits.flops, flops, f"the program needs {flops:,} arithmetic operations")


def _refuse_more(most: int, needed: int, message: str, hint: str = hints.OF_LIMITS) -> None:
    if needed > most:
        raise OverBudget(f"{message}: more than the {most:,} allowed", hint=hint)


class Question:
    """One query about what was recorded; its outputs are gathered as they are resolved.

    ``watched`` are the slots that may be sources, all where it is None.
    """

    def __init__(
        self, recorder: Recording, asked: Compilation, watched: frozenset[int] | None = None
    ) -> None:
        self.r = recorder
        self.b = recorder.b
        self.asked = asked
        self.names = Names(recorder, asked.variables)
        self.watched = watched
        self.outputs: list[Var] = []

    def compile(self, result: Any, kept: int = 0) -> Compiled:
        """Compile what is asked of a program that returned ``result``.

        The values of the first slots may be ``kept``: then only what follows them is compiled.
        """
        asked, query, stacks = self.asked, self.asked.query, self.asked.stacks
        targets, outputs = self.targets(result)
        self._tell("recorded", targets)
        derivatives: dict[str, Any] = {}
        unconnected: dict[str, Unconnected] = {}
        sources = self.sources()
        if query.shard is not None:
            targets, outputs, sources = self._divide(query.shard, targets, outputs, sources)
        if query.kind != "evaluate":
            wanted = Derivatives(self.r, query, targets, sources, asked.vectors, self.watched)
            derivatives = {name: self._numbered(x) for name, x in wanted.record().items()}
            unconnected = wanted.unconnected
        unreached = self._unreached(targets, sources) if asked.merges else None
        updates = {
            path: self._output(versions[-1])
            for path, versions in self.r.state.versions.items()
            if len(versions) > 1
        }
        value, further = self._numbered(targets), self._numbered(outputs)
        if stacks and query.slices == "summed":
            hint = "true lists them as they were read, as many in each example"
            place = Place(pointer="/sparse_gradients")
            raise InputError("slices are added up in one example", at=place, hint=hint)
        self._tell("differentiated", self.outputs)
        decided = self._for_examples(stacks) if stacks else None
        self._tell("batched", self.outputs)
        tape, known = self.b.tape(self.outputs), None
        if kept:
            tape, known = residual_tape(tape, kept, asked.poll)
        better = optimize(tape, asked.backend, asked.poll, asked.on_tape, exact=query.exact)
        executable = prepared(asked.backend, better, asked.limits, asked.poll, exact=query.exact)
        check_budget(executable, asked.limits)
        limits = asked.limits if self.watched is None else None
        return Compiled(
            Tiers(executable, tape, asked.backend, limits),
            template(value),
            template(further),
            template(derivatives),
            template(updates),
            unconnected,
            self.r.warnings,
            decided,
            known,
            unreached=unreached,
            early=self.b.early,
        )

    def _unreached(self, targets: Any, sources: Sources) -> Unreached | None:
        """The rule by which gradients are null, if that depends on the branches values take."""
        groups = [source.group for source in sources.items]
        connections = Connections(self.b, leaves(targets), groups)
        if connections.ends or not all(x.type.differentiable for x in leaves(targets)):
            raise UnrecordedPath
        if not connections.choices:
            return None
        outputs, zeros = [*map(self._output, connections.choices)], self.asked.query.unconnected
        why = "no_path", "only a decision depends on this source"
        decisions = [
            (Unconnected(*why, self.r.program.place(origin)), by_path)
            for origin, by_path in connections.decisions()
        ]
        given = sources.nested, sources.items, decisions, zeros == "zero"
        return Unreached(connections, outputs, *given)

    def targets(self, result: Any) -> tuple[Any, Any]:
        """The values that are differentiated, or evaluated, and those evaluated beside them.

        By default the former is the program's ``result``.
        """
        query = self.asked.query
        outputs = None if query.outputs is None else self._named(query.outputs, "/outputs")
        if query.kind == "evaluate" and outputs is not None:
            return outputs, None
        if query.target is not None:
            return self._named(query.target, "/target"), outputs
        return self._checked(result, self.r.program.output_place), outputs

    def sources(self) -> Sources:
        """The sources of derivatives; of an evaluation none."""
        query = self.asked.query
        if query.kind == "evaluate":
            return Sources((), [])
        at = f"/{VECTORS[query.kind]}" if query.kind in ALONG else "/sources"
        return self.names.sources(query.sources, at)

    def _divide(
        self, shard: Shard, targets: Any, outputs: Any, sources: Sources
    ) -> tuple[Any, Any, Sources]:
        """The same, computed for the rows of a shard."""
        asked = self.asked
        part = PartOfAll(self.r, shard, asked.variables, asked.limits)
        part.record([*leaves(targets), *([] if outputs is None else leaves(outputs))], sources)
        targets = rebuild(targets, part.residual if shard.residuals else part.term)
        outputs = None if outputs is None else rebuild(outputs, part.term)
        self._tell("sharded", targets)
        return targets, outputs, part.sources(sources, asked.query.kind)

    def _tell(self, made: str, outputs: Any) -> None:
        if self.asked.on_tape is not None:
            self.asked.on_tape(made, self.b.tape(leaves(outputs)))

    def _for_examples(self, stacks: Mapping[int, ArrayType]) -> int | None:
        """Make the outputs those of all examples; where decisions differ, say for which."""
        b = self.b
        examples = {b.vars[b.inputs[i]]: b.input(kind) for i, kind in stacks.items()}
        decisions: list[Var] = []
        self.outputs = batch(b, self.outputs, examples, decisions)
        return self._output(reduce(LogicalAnd(), decisions)) if decisions else None

    def _numbered(self, nested: Any) -> Any:
        """The structure, its variables numbered as outputs."""

        def numbered(x: Any) -> Any:
            if isinstance(x, Summed):
                return Summed(rebuild(x.parts, self._output))
            return None if x is None else self._output(x)

        return rebuild(nested, numbered)

    def _output(self, var: Var) -> int:
        self.outputs.append(var)
        return len(self.outputs) - 1

    def _named(self, names: Any, at: str) -> Any:
        return self._checked(self.names.values(names, at), Place(pointer=at))

    def _checked(self, value: Any, place: Place | None) -> Any:
        """A value that is to be returned, as variables in lists and dicts."""
        try:
            check_nesting(value)
            return self._returned(value)
        except EngineError as error:
            error.at = error.at or place
            raise

    def _returned(self, value: Any) -> Any:
        """The returned value, its sequences as lists and its leaves as variables."""
        if isinstance(value, Composite):
            return value.fields(self.b)
        if isinstance(value, dict):
            return {key: self._returned(item) for key, item in value.items()}
        if isinstance(value, list | tuple | range):
            return [self._returned(item) for item in self.r.items(value)]
        if not isinstance(value, Var | bool | int | float | complex):
            kind = describe(value)
            message = f"{kind} is not a value that can be returned"
            raise BadArgument(message, hint=hints.for_value(value, kind))
        return self.b.array(value)
