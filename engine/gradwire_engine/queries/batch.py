"""One query for many examples at once: recorded once for each path that examples take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradwire_engine.answer import Answer, Array, Leaf, Poll, Query
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.compile import Compiled
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.errors import EngineError, InputError, Place
from gradwire_engine.nesting import flatten, rebuild
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import Program
from gradwire_engine.queries.arguments import Arguments
from gradwire_engine.queries.call import PROGRAM_COMPILER, Call, Compiler, Context
from gradwire_engine.queries.stacking import Part, merged
from gradwire_engine.queries.values import received, received_vectors


def ask(
    context: Context,
    program: Program,
    variables: Mapping[str, Any],
    query: Query,
    vectors: Any,
    compiler: Compiler = PROGRAM_COMPILER,
) -> Call:
    """A query that is neither compiled nor run yet, for one point or a batch of them."""
    variables = received(variables)
    vectors = received_vectors(vectors, f"/{VECTORS.get(query.kind, '')}")
    if not query.batch:
        return Call(context, program, query, Arguments(variables, vectors), compiler)
    return BatchCall(context, program, query, Examples(variables, vectors, query), compiler)


class Piece(NamedTuple):
    """Some examples of a batch: which ones, their variables and vectors, axes of examples first."""

    took: Array
    variables: dict[str, Any]
    vectors: Any


class BatchCall(Call):
    """One query for many examples."""

    def __init__(
        self,
        context: Context,
        program: Program,
        query: Query,
        examples: Examples,
        compiler: Compiler,
    ) -> None:
        super().__init__(context, program, query, examples.arguments(), compiler)
        self._examples = examples

    def answer(self, poll: Poll) -> Answer:
        """The answers of all examples, stacked."""
        return self._examples.answer(self, poll)

    def asking(self, query: Query) -> Call:
        """Another query about the same examples."""
        return BatchCall(self.context, self.program, query, self._examples, self.compiler)

    def divided(self, count: int) -> tuple[Query, list[Piece]]:
        """The query about each of at most ``count`` pieces of the batch, and these."""
        query = self.query._replace(batch=dict.fromkeys(self.query.batch or {}, 0))
        return query, self._examples.divided(count)


class Examples:
    """Variables and vectors of which those that ``batch`` names have an axis of examples.

    The program is recorded for one example, by its decisions, and replayed for all; an answer is
    of those examples that decide alike, and the others are recorded anew.
    """

    def __init__(self, variables: Mapping[str, Any], vectors: Any, query: Query) -> None:
        self._variables, self._vectors = variables, vectors
        self._field = f"/{VECTORS.get(query.kind, '')}"
        self._leaves = flatten(variables)
        self._arrays: dict[str, Any] = {path: leaf.value for path, leaf in self._leaves}
        self._arrays.update(_arrays(vectors, self._field))
        self._stacks = _stacked(self._arrays, query.batch or {}, self._field)
        self._size = next(iter(self._stacks.values())).shape[0]

    def arguments(self) -> Arguments:
        """Those of the first example, and stacks of all."""
        inputs = [path for path, x in self._arrays.items() if type(x) is not str and x is not None]
        stacks = {inputs.index(path): stack for path, stack in self._stacks.items()}
        numbers = {path: number for number, path in enumerate([*inputs, *self._stacks])}
        residents = [(path, leaf.resident) for path, leaf in self._leaves]
        digests = {numbers[path]: digest for path, digest in residents if digest is not None}
        return Arguments(*self._example(0), stacks, digests)

    def divided(self, count: int) -> list[Piece]:
        """At most ``count`` pieces of about equally many examples."""
        pieces = []
        for examples in np.array_split(np.arange(self._size), min(count, self._size)):
            took = np.zeros(self._size, bool)
            took[examples] = True
            chosen = slice(int(examples[0]), int(examples[-1]) + 1)
            pieces.append(Piece(took, *self._example(chosen)))
        return pieces

    def _example(self, k: int | slice) -> tuple[dict[str, Any], Any]:
        """The variables and the vectors of one example, or of several."""
        variables = {name: self._chosen(value, name, k) for name, value in self._variables.items()}
        return variables, self._chosen(self._vectors, self._field, k)

    def _chosen(self, value: Any, path: str, k: int | slice) -> Any:
        if path in self._stacks:
            one = np.asarray(self._stacks[path][k])
            return value._replace(value=one, resident=None) if isinstance(value, Leaf) else one
        if isinstance(value, Composite):
            if any(f"{path}.{part}" in self._stacks for part in value):
                raise InputError(f"{value} has no examples", at=Place(id=path, pointer="/batch"))
            return value
        if isinstance(value, Mapping):
            return {key: self._chosen(item, f"{path}.{key}", k) for key, item in value.items()}
        if isinstance(value, list):
            return [self._chosen(item, f"{path}.{i}", k) for i, item in enumerate(value)]
        return value

    def answer(self, call: Call, poll: Poll) -> Answer:
        """The answers of all examples, stacked."""
        call.compile(poll)
        left = np.ones(self._size, bool)
        parts: list[Part] = []
        tried: list[Compiled] = []
        while True:
            paths = call.entry.paths
            for compiled in [path for path in paths if path not in tried]:
                parts += self._part(call, compiled, left, poll)
                if not left.any():
                    return merged(parts)
            first = int(np.argmax(left))
            compiled = call.record(Arguments(*self._example(first)), poll)
            tried = [*paths, compiled]
            found = self._part(call, compiled, left, poll)
            if not found:  # at a threshold, where optimising moved the last digit
                found = [self._alone(call, first, poll)]
                left[first] = False
            parts += found
            if not left.any():
                return merged(parts)

    def _part(self, call: Call, compiled: Compiled, left: Array, poll: Poll) -> list[Part]:
        """The answer for those of the examples ``left`` that decide as recorded; they are then not.

        Others only pass through, and may fail where they never would have gone.
        """
        try:
            replayed = call.outputs(compiled, poll)
            if replayed.guard is not None:
                return []
            outputs: Sequence[Any] = replayed.outputs
            finite = replayed.finite
            if not finite:
                outputs = call.as_recorded(compiled, outputs, poll)
        except EngineError:
            if compiled.decided is None:
                raise
            examples = np.flatnonzero(left)
            left[:] = False
            return [self._alone(call, int(k), poll) for k in examples]
        took = left.copy()
        if compiled.decided is not None:
            took &= outputs[compiled.decided]
        if not took.any():
            return []
        left &= ~took
        if not took.all():
            outputs = [np.asarray(x)[took] for x in outputs]
        answer = compiled.answer(outputs)
        if not finite and not all_finite(outputs):
            answer = answer._replace(nonfinite=call.nonfinite(compiled, poll))
        return [(took, answer)]

    def _alone(self, call: Call, k: int, poll: Poll) -> Part:
        """The answer of one example by itself."""
        query, arguments = call.query._replace(batch=None), Arguments(*self._example(k))
        one = Call(call.context, call.program, query, arguments, call.compiler)
        answer = one.answer(poll)

        def stacked(tree: Any) -> Any:
            return rebuild(tree, lambda x: x if x is None else np.asarray(x)[None])

        took = np.zeros(self._size, bool)
        took[k] = True
        of_one = answer._replace(
            value=stacked(answer.value),
            outputs=stacked(answer.outputs),
            derivatives=stacked(answer.derivatives),
            updates=stacked(answer.updates),
        )
        return took, of_one


def _arrays(vectors: Any, path: str) -> Iterator[tuple[str, Array | None]]:
    """Nested vectors with their dotted paths; None stands for ones."""
    if isinstance(vectors, Mapping | list):
        parts = vectors.items() if isinstance(vectors, Mapping) else enumerate(vectors)
        for key, item in parts:
            yield from _arrays(item, f"{path}.{key}")
    else:
        yield path, vectors


def _stacked(arrays: Mapping[str, Any], axes: Mapping[str, int], field: str) -> dict[str, Array]:
    """The examples of what ``axes`` names, their axis first: vectors by the request's field."""
    stacked: dict[str, Array] = {}
    for name, axis in axes.items():
        at = Place(id=name[:80], pointer="/batch")
        plain = re.sub(r"\[(\d+)\]", r".\1", name)
        if plain.partition(".")[0] == field[1:]:
            plain = f"/{plain}"
        found = [(p, x) for p, x in arrays.items() if p == plain or p.startswith(f"{plain}.")]
        if not found:
            raise InputError("there is nothing of this name to have examples", at=at)
        for path, array in found:
            if isinstance(array, str | None) or not -array.ndim <= axis < array.ndim:
                raise InputError(f"{path.lstrip('/')[:80]} has no axis {axis} of examples", at=at)
            stacked[path] = np.moveaxis(array, axis, 0) if axis else array
    sizes = {path: len(stack) for path, stack in stacked.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{path.lstrip('/')[:40]} {size}" for path, size in sizes.items())
        raise InputError(f"the numbers of examples differ: {listed}", at=Place(pointer="/batch"))
    if 0 in sizes.values():
        raise InputError("a batch needs at least one example", at=Place(pointer="/batch"))
    return stacked
