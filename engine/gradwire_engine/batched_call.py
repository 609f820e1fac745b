"""One query for many examples at once: recorded once for each path that examples take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradwire_engine.answer import Answer, Array, Leaf, Poll, Query
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.cache import Context
from gradwire_engine.call import Call, in_order
from gradwire_engine.compile import Compiled
from gradwire_engine.compile.derivatives import VECTORS
from gradwire_engine.errors import EngineError, InputError, Place
from gradwire_engine.ops.composites import Composite
from gradwire_engine.program import Program
from gradwire_engine.record.calculus import rebuild
from gradwire_engine.record.variables import flatten
from gradwire_engine.stacking import Part, merged
from gradwire_engine.tape import ArrayType


class BatchedCall(Call):
    """A query whose ``batch`` names variables and vectors that have an axis of examples.

    The program is recorded for one example, by its decisions, and replayed for all; an answer is
    of those examples that decide alike, and the others are recorded anew.
    """

    def __init__(
        self,
        context: Context,
        program: Program,
        variables: Mapping[str, Any],
        query: Query,
        vectors: Any,
    ) -> None:
        self._given, self._along = variables, vectors
        self._field = f"/{VECTORS.get(query.kind, '')}"
        arrays: dict[str, Any] = {path: leaf.value for path, leaf in flatten(variables)}
        arrays |= _arrays(vectors, self._field)
        stacked = self._all = _stacked(arrays, query.batch or {}, self._field)
        self._size = next(iter(stacked.values())).shape[0]
        inputs = [path for path, array in arrays.items() if not isinstance(array, str | None)]
        self._stacks = {
            inputs.index(path): ArrayType(stack.dtype, stack.shape)
            for path, stack in stacked.items()
        }
        variables, vectors = self._example(0)
        held = {path: leaf.resident for path, leaf in flatten(self._given) if path in stacked}
        super().__init__(context, program, variables, query, vectors)
        for path, stack in stacked.items():
            if (digest := held.get(path)) is not None:
                self._digests[len(self.inputs)] = digest
            self.inputs.append(stack)

    def _example(self, k: int) -> tuple[dict[str, Any], Any]:
        """The variables and the vectors of one example."""
        variables = {name: self._chosen(value, name, k) for name, value in self._given.items()}
        return variables, self._chosen(self._along, self._field, k)

    def _chosen(self, value: Any, path: str, k: int) -> Any:
        if path in self._all:
            one = np.asarray(self._all[path][k])
            return value._replace(value=one, resident=None) if isinstance(value, Leaf) else one
        if isinstance(value, Composite):
            if any(f"{path}.{part}" in self._all for part in value):
                raise InputError(f"{value} has no examples", at=Place(id=path, pointer="/batch"))
            return value
        if isinstance(value, Mapping):
            return {key: self._chosen(item, f"{path}.{key}", k) for key, item in value.items()}
        if isinstance(value, list):
            return [self._chosen(item, f"{path}.{i}", k) for i, item in enumerate(value)]
        return value

    def _replayed(self, poll: Poll) -> Answer:
        """The answers of all examples, stacked."""
        self.compile(poll)
        left = np.ones(self._size, bool)
        parts: list[Part] = []
        tried: list[Compiled] = []
        while True:
            paths = self._entry.paths
            for compiled in [p for p in paths if p not in tried]:
                parts += self._part(compiled, left, poll)
                if not left.any():
                    return merged(parts)
            tried = [*paths]
            first = int(np.argmax(left))
            with self._entry.locked(poll):
                variables, vectors = self._example(first)
                compiled = self._record(variables, in_order(vectors), poll)
            tried.append(compiled)
            found = self._part(compiled, left, poll)
            if not found:  # at a threshold, where optimising moved the last digit
                found = self._alone(first, poll)
                left[first] = False
            parts += found
            if not left.any():
                return merged(parts)

    def _part(self, compiled: Compiled, left: Array, poll: Poll) -> list[Part]:
        """The answer for those of the examples ``left`` that decide as recorded; they are then not.

        Others only pass through, and may fail where they never would have gone.
        """
        try:
            replayed = self._outputs(compiled, poll)
            if replayed.guard is not None:
                return []
            outputs: Sequence[Any] = replayed.outputs
            finite = replayed.finite
            if not finite:
                outputs = self._as_recorded(compiled, outputs, poll)
        except EngineError:
            if compiled.decided is None:
                raise
            examples = np.flatnonzero(left)
            left[:] = False
            return [part for k in examples for part in self._alone(int(k), poll)]
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
            answer.nonfinite = self._nonfinite(compiled, poll)
        return [(took, answer)]

    def _alone(self, k: int, poll: Poll) -> list[Part]:
        """The answer of one example by itself."""
        variables, vectors = self._example(k)
        answer = self._one(variables, replace(self._query, batch=None), vectors)._replayed(poll)

        def stacked(tree: Any) -> Any:
            return rebuild(tree, lambda x: x if x is None else np.asarray(x)[None])

        took = np.zeros(self._size, bool)
        took[k] = True
        of_one = replace(
            answer,
            value=stacked(answer.value),
            outputs=stacked(answer.outputs),
            derivatives=stacked(answer.derivatives),
            updates=stacked(answer.updates),
        )
        return [(took, of_one)]

    def _one(self, variables: Mapping[str, Any], query: Query, vectors: Any) -> Call:
        return Call(self._context, self._program, variables, query, vectors)


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
            stacked[path] = np.moveaxis(array, axis, 0)
    sizes = {path: len(stack) for path, stack in stacked.items()}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{path.lstrip('/')[:40]} {size}" for path, size in sizes.items())
        raise InputError(f"the numbers of examples differ: {listed}", at=Place(pointer="/batch"))
    if 0 in sizes.values():
        raise InputError("a batch needs at least one example", at=Place(pointer="/batch"))
    return stacked
