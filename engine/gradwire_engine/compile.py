"""Program and query → executable: record, differentiate, optimise, lower."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Leaf, Limits, Notice, Poll, Query, Unconnected
from gradwire_engine.autodiff.paths import Cut, cut_between, dtype_reason
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.backends.numpy.executable import Executable
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.errors import (
    BadArgument,
    EngineError,
    InputError,
    OverBudget,
    Place,
    UnknownName,
)
from gradwire_engine.ops.builder import Builder, Var, check_nesting, describe
from gradwire_engine.ops.constants import Copy, Guard
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.program import Program
from gradwire_engine.record.calculus import leaves, rebuild
from gradwire_engine.record.concrete import Concrete
from gradwire_engine.record.recorder import Recorder
from gradwire_engine.record.scope import State
from gradwire_engine.record.variables import flatten, lay_out, member
from gradwire_engine.tape import ArrayType


@dataclass(frozen=True, slots=True)
class Template:
    """A nested structure whose integer leaves number outputs; None leaves stay None."""

    nested: Any

    def fill(self, outputs: Sequence[Any]) -> Any:
        """The structure with arrays for numbers."""
        if isinstance(self.nested, int):
            return outputs[self.nested]
        return rebuild(self.nested, lambda leaf: None if leaf is None else outputs[leaf])


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable with what turns its outputs into an answer."""

    executable: Executable
    value: Template
    outputs: Template | None
    gradients: Template | None
    updates: Mapping[str, int]
    unconnected: Mapping[str, Unconnected]
    warnings: Sequence[Notice]

    def unguarded(self) -> Compiled:
        """The same without guards: for the very values it was recorded with."""
        tape = self.executable.tape
        bare = [i._replace(op=Copy()) if isinstance(i.op, Guard) else i for i in tape.instructions]
        return replace(self, executable=Executable(replace(tape, instructions=tuple(bare))))


def compile_query(
    program: Program,
    variables: Mapping[str, Any],
    query: Query,
    seeds: Sequence[Array | None] | None,
    limits: Limits,
    poll: Poll,
) -> Compiled:
    """Record ``program`` for these values and compile what ``query`` asks of it."""
    inputs = [leaf.value for _, leaf in flatten(variables) if not isinstance(leaf.value, str)]
    b = Builder(limits, strict=query.promotion == "strict", poll=poll)
    state = State()
    tree = lay_out(b, variables, state)
    concrete = Concrete(b, inputs, NUMPY)
    recorder = Recorder(program, b, tree, state, concrete, poll)
    asked = _Query(recorder, variables, query, seeds)
    compiled = asked.compile()
    executable = compiled.executable
    if executable.peak_bytes > limits.total_bytes:
        raise OverBudget(f"the program needs {executable.peak_bytes} bytes at once")
    if executable.flops > limits.flops:
        raise OverBudget(f"the program needs {executable.flops} arithmetic operations")
    return compiled


class _Query:
    """One query's outputs, gathered as they are resolved."""

    def __init__(
        self,
        recorder: Recorder,
        variables: Mapping[str, Any],
        query: Query,
        seeds: Sequence[Array | None] | None,
    ) -> None:
        self.r = recorder
        self.b = recorder.b
        self.variables = variables
        self.query = query
        self.seeds = seeds
        self.outputs: list[Var] = []
        self.unconnected: dict[str, Unconnected] = {}

    def compile(self) -> Compiled:
        query = self.query
        asked = query.outputs if query.kind == "evaluate" else query.target
        result = self.r.record(default=asked is None)
        outputs = None
        if query.outputs is not None:
            asked = self._values(query.outputs, "/outputs")
            outputs = self._checked(asked, Place(pointer="/outputs"))
        if query.kind == "evaluate" and outputs is not None:
            targets, outputs = outputs, None
        elif query.target is not None:
            asked = self._values(query.target, "/target")
            targets = self._checked(asked, Place(pointer="/target"))
        else:
            targets = self._checked(result, self.r.program.output_place)
        gradients = None
        if query.kind == "gradient":
            gradients = Template(self._gradients(leaves(targets)))
        updates = {
            path: self._output(versions[-1])
            for path, versions in self.r.state.versions.items()
            if len(versions) > 1
        }
        value = Template(rebuild(targets, self._output))
        further = None if outputs is None else Template(rebuild(outputs, self._output))
        tape = optimize(self.b.tape(self.outputs), NUMPY, self.b.poll)
        return Compiled(
            Executable(tape), value, further, gradients, updates, self.unconnected, self.r.warnings
        )

    def _checked(self, value: Any, place: Place | None) -> Any:
        """A value that is to be returned, as variables in lists and dicts."""
        try:
            check_nesting(value)
            return self._returned(value)
        except EngineError as error:
            error.at = error.at or place
            raise

    def _output(self, var: Var) -> int:
        self.outputs.append(var)
        return len(self.outputs) - 1

    def _returned(self, value: Any) -> Any:
        """What is returned, its sequences as lists and its leaves as variables."""
        if isinstance(value, dict):
            return {key: self._returned(item) for key, item in value.items()}
        if isinstance(value, list | tuple | range):
            return [self._returned(item) for item in self.r.items(value)]
        if not isinstance(value, Var | bool | int | float | complex):
            raise BadArgument(f"{describe(value)} is not a value that can be returned")
        return self.b.array(value)

    def _values(self, names: Any, at: str) -> Any:
        """The values that nested names of the request mean."""
        if isinstance(names, str):
            return self._named(names, at)
        if isinstance(names, Mapping):
            return {key: self._values(name, f"{at}/{key}") for key, name in names.items()}
        if isinstance(names, Sequence):
            return [self._values(name, f"{at}/{i}") for i, name in enumerate(names)]
        raise InputError("expected a name", at=Place(pointer=at))

    def _named(self, name: str, at: str) -> Any:
        root, _, path = re.sub(r"\[(\d+)\]", r".\1", name).partition(".")
        try:
            if not root:
                raise UnknownName("a name is not empty")
            value = self.r.lookup(root)
            return member(value, path) if path else value
        except EngineError as error:
            error.at = Place(id=name[:80], pointer=at)
            raise

    # Gradients

    def _gradients(self, targets: Sequence[Var]) -> Any:
        sources: list[tuple[str, list[Var], Leaf | None]] = []
        if self.query.sources is None:
            nested = self._default_sources(sources)
        else:
            nested = self._sources(self.query.sources, "/sources", sources)
        every = [leaf for _, group, _ in sources for leaf in group]
        if self.seeds is not None and len(self.seeds) != len(targets):
            message = f"{len(targets)} targets, but {len(self.seeds)} output gradients"
            raise InputError(message, at=Place(pointer="/output_gradients"))
        seeds = [self._seed(t, i) for i, t in enumerate(targets)]
        found = iter(pullback(self.b, targets, seeds, every))
        results = [
            self._gradient(path, group, [next(found) for _ in group], leaf, targets)
            for path, group, leaf in sources
        ]
        return rebuild(nested, lambda number: None if number is None else results[number])

    def _gradient(
        self,
        path: str,
        group: Sequence[Var],
        bars: Sequence[Var | None],
        leaf: Leaf | None,
        targets: Sequence[Var],
    ) -> int | None:
        """The number of the output that is this source's gradient, or None with its reason."""
        if not group:
            self.unconnected[path] = Unconnected("string_dtype", "strings have no gradient")
            return None
        cut = dtype_reason(group[0].dtype)
        if cut is None and leaf is not None and not leaf.trainable:
            cut = Cut("not_trainable", "the variable is not trainable")
        connected = [bar for bar in bars if bar is not None]
        if cut is None and connected:
            total = connected[0]
            for bar in connected[1:]:
                total = bar + total
            return self._output(total)
        reason = cut or cut_between(self.b, group, targets)
        node = None if reason.origin is None else self.r.program.place(reason.origin)
        self.unconnected[path] = Unconnected(reason.reason, reason.detail, node)
        if self.query.unconnected == "none":
            return None
        return self._output(self.b.full(0, ArrayType(group[0].dtype, group[0].shape)))

    def _seed(self, target: Var, number: int) -> Var:
        kind = ArrayType(target.dtype, target.shape)
        seed = self.seeds[number] if self.seeds else None
        if seed is None:
            return self.b.full(1, kind)
        var = self.b.input(ArrayType(seed.dtype, seed.shape))
        if seed.shape != kind.shape or not np.can_cast(seed.dtype, kind.dtype, "same_kind"):
            at = Place(pointer="/output_gradients")
            raise InputError(f"the target is {kind}, its output gradient {var.type}", at=at)
        return self.b.cast(var, kind.dtype)

    def _default_sources(self, sources: list[tuple[str, list[Var], Leaf | None]]) -> Any:
        """All variables, in their structure."""
        numbers: dict[str, int] = {}
        for path, leaf in flatten(self.variables):
            numbers[path] = len(sources)
            sources.append((path, self.r.state.versions.get(path, []), leaf))
        following = iter(numbers.values())
        return _structure(self.variables, lambda: next(following))

    def _sources(self, names: Any, at: str, sources: list[Any]) -> Any:
        if names is None:
            return None
        if isinstance(names, str):
            return self._source(self._named(names, at), names, at, sources)
        if isinstance(names, Mapping):
            return {k: self._sources(n, f"{at}/{k}", sources) for k, n in names.items()}
        return [self._sources(n, f"{at}/{i}", sources) for i, n in enumerate(names)]

    def _source(self, value: Any, path: str, at: str, sources: list[Any]) -> Any:
        """Number a source, or the sources below a nested one."""
        if isinstance(value, dict):
            return {k: self._source(v, f"{path}.{k}", at, sources) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._source(v, f"{path}.{i}", at, sources) for i, v in enumerate(value)]
        if isinstance(value, str):
            sources.append((path, [], None))
            return len(sources) - 1
        if not isinstance(value, Var | bool | int | float | complex):
            raise BadArgument(f"{describe(value)} is not a source", at=Place(pointer=at))
        var = self.b.array(value)
        owner = self.r.state.owners.get(var.slot)
        leaf = None if owner is None else dict(flatten(self.variables))[owner[0]]
        sources.append((path, self.r.state.leaves(var), leaf))
        return len(sources) - 1


def _structure(variables: Any, number: Callable[[], int]) -> Any:
    if isinstance(variables, Leaf):
        return number()
    if isinstance(variables, Mapping):
        return {key: _structure(value, number) for key, value in variables.items()}
    return [_structure(value, number) for value in variables]
