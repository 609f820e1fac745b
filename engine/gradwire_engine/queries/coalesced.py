"""Calls of one key, answered by one replay: what an instruction costs is paid once for all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import compress
from typing import Any

import numpy as np

from gradwire_engine.answer import Answer, Array, Leaf, Poll
from gradwire_engine.compile import Compiled
from gradwire_engine.ops.composites import Composite
from gradwire_engine.queries.arguments import Arguments
from gradwire_engine.queries.call import PROGRAM_COMPILER, Call

#: Most paths that are recorded for many: each replay of one computes all examples.
_MOST_PATHS = 4
#: Most bytes of arrays that one call may hold at once: what holds more costs by its elements.
_MOST_BYTES = 1 << 20


class JointCall:
    """As many queries as there are ``calls``, which have one entry in the cache.

    All inputs are stacked along a new first axis, but for residents that all calls have, and
    replayed as a batch is: recorded for one example, by its decisions. The last call is repeated up
    to a power of two, so that few lengths are compiled.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._count = len(calls)
        self._examples = [
            *[call.arguments for call in calls],
            *[calls[-1].arguments] * (padded(len(calls)) - len(calls)),
        ]
        first = calls[0]
        shared = dict(set.intersection(*[set(x.digests.items()) for x in self._examples]))
        if len(shared) == len(first.arguments.inputs):  # there have to be examples
            shared = {}
        inputs = zip(*[x.inputs for x in self._examples], strict=True)
        stacks = {i: np.array(each) for i, each in enumerate(inputs) if i not in shared}
        one = first.arguments
        arguments = Arguments(one.variables, one.vectors, stacks, shared)
        #: The joint executable of all of them.
        self.call = Call(first.context, first.program, first.query, arguments)

    @staticmethod
    def takes(call: Call) -> bool:
        """True if a compiled call may be one of several: that is the same for all of its key.

        Its answer is a row of arrays, and as good in another layout; an exact one is not, nor are
        a check's, slices, coordinates and a shard's part.
        """
        query, arguments = call.query, call.arguments
        listed = query.kind == "check" or query.format == "coo" or query.slices is not None
        alone = query.exact or listed or query.shard is not None
        return (
            call.compiler is PROGRAM_COMPILER
            and not (arguments.stacks or alone)
            and all(map(_is_plain, arguments.variables.values()))
            and len(arguments.digests) < len(arguments.inputs)
            and call.entry.paths[0].executable.peak_bytes <= _MOST_BYTES
        )

    def answers(self, poll: Poll) -> list[Answer | None]:
        """Each call's answer; None where it has to be asked alone.

        That is so where an answer is not finite, which only its own operations can explain, and
        where it decides as no other: then its path is recorded for those to come, up to a few.
        """
        call = self.call
        call.compile(poll)
        found: list[Answer | None] = [None] * len(self._examples)
        left = np.ones(len(found), bool)
        for compiled in call.entry.paths:
            self._take(compiled, left, found, poll)
            if not left.any():
                return found[: self._count]
        if len(call.entry.paths) < _MOST_PATHS:
            compiled = call.record(self._examples[int(np.argmax(left))], poll)
            self._take(compiled, left, found, poll)
        return found[: self._count]

    def _take(
        self, compiled: Compiled, left: Array, found: list[Answer | None], poll: Poll
    ) -> None:
        """Find the answers of those ``left`` that decide as recorded; they are then not."""
        replayed = self.call.outputs(compiled, poll)
        if replayed.guard is not None:
            return
        outputs = replayed.outputs
        took = left.copy()
        if compiled.decided is not None:
            took &= outputs[compiled.decided]
        left &= ~took
        if not replayed.finite:
            took &= reduce(np.logical_and, map(_finite_rows, outputs))
        rows = compress(enumerate(zip(*outputs, strict=True)), took)
        for k, row in rows:
            found[k] = compiled.answer(row)


def padded(count: int) -> int:
    """The power of two to which a joint call of ``count`` is filled up."""
    return 1 << (count - 1).bit_length()


def _finite_rows(x: Array) -> Array:
    """In which examples all is finite."""
    return np.asarray(np.isfinite(x).all(axis=tuple(range(1, x.ndim))))


def _is_plain(value: Any) -> bool:
    """True if there are neither strings nor tensors in parts in a variable."""
    if isinstance(value, Leaf):
        return not isinstance(value.value, str)
    parts = value.values() if isinstance(value, dict) else value
    return not isinstance(value, Composite) and all(map(_is_plain, parts))
