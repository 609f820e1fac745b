"""Does what is recorded for many examples at once give what a loop over them gives?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.autodiff.batching import batch
from gradwire_engine.check.recordings import Finding, Recorded, check_results, interpret
from gradwire_engine.ops.builder import Var
from gradwire_engine.tape import INEXACT

_EXAMPLES = 3
_TOLERANCES = {"float16": 3e-2, "bfloat16": 2.5e-1, "float32": 2e-4, "complex64": 2e-4}
_TOLERANCE = 1e-9


def check_batching(recorded: Recorded, outputs: Sequence[Var], order: int) -> Iterator[Finding]:
    """Compare for examples that differ in all inputs, and in each by itself."""
    inputs = recorded.inputs
    values = recorded.values[: len(inputs)]
    tape = recorded.b.tape(outputs)
    alone = interpret(tape, values)
    every = [*range(len(values))]
    for differing in [every, *[[i] for i in every if len(values) > 1]] if every else []:
        stacks = {i: _examples(values[i]) for i in differing}
        stacked = {inputs[i]: recorded.input(stack) for i, stack in stacks.items()}
        together = batch(recorded.b, outputs, stacked)
        results = recorded.results(together)
        yield from check_results(recorded.b, results, order)
        for k in range(_EXAMPLES):
            one = recorded.replaced({i: stack[k] for i, stack in stacks.items()})
            looped = interpret(tape, one) if k else alone
            for batched, output in zip(together, outputs, strict=True):
                got, expected = results[batched.slot][k], np.asarray(looped[output.slot])
                if not _close(got, expected):
                    detail = f"example {k} of inputs {differing}: {got!r} instead of {expected!r}"
                    yield Finding("batched is a loop", order, detail)


def _examples(v: Array) -> Array:
    """Arrays like ``v`` along a new first axis, the first of them ``v`` itself.

    The others are scaled a little, or hold integers in another order.
    """
    if v.dtype.kind in INEXACT:
        with np.errstate(invalid="ignore"):  # an infinite complex number times a real one
            scales = [np.asarray(1 - k / 128, dtype=v.dtype) for k in range(1, _EXAMPLES)]
            return np.stack([v, *[v * scale for scale in scales]])
    rising = v.ndim == 1 and v.size > 0 and bool(np.all(v[1:] >= v[:-1]))
    other = np.full_like(v, v[0]) if rising else v[::-1] if v.ndim else v  # what rises has to rise
    return np.stack([v, other, v])


def _close(got: Any, expected: Array) -> bool:
    if np.shape(got) == expected.shape and (got == expected).all():
        return True
    if expected.dtype.kind not in INEXACT:
        return False
    tolerance = _TOLERANCES.get(expected.dtype.name, _TOLERANCE)
    size = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return bool(np.allclose(got, expected, rtol=0, atol=tolerance * (1 + size), equal_nan=True))
