"""Does what is recorded for many examples at once give what a loop over them gives?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.autodiff.batching import batch
from gradwire_engine.check.recordings import Finding, Recording, check_results, interpret, trace
from gradwire_engine.tape import ArrayType

_EXAMPLES = 3
_TOLERANCES = {"float16": 3e-2, "float32": 2e-4, "complex64": 2e-4}
_TOLERANCE = 1e-9


def check_batching(recording: Recording, values: Sequence[Array], order: int) -> Iterator[Finding]:
    """Compare for examples that differ in all inputs, and in each by itself."""
    every = [*range(len(values))]
    for differing in [every, *[[i] for i in every if len(values) > 1]] if every else []:
        b, inputs, outputs = trace(recording, values)
        tape = b.tape(outputs)
        stacks = {i: _examples(values[i]) for i in differing}
        stacked = {inputs[i]: b.input(ArrayType(v.dtype, v.shape)) for i, v in stacks.items()}
        together = b.tape(batch(b, outputs, stacked))
        results = interpret(together, [*values, *stacks.values()])
        yield from check_results(b, results, order)
        for k in range(_EXAMPLES):
            one = [stacks[i][k] if i in stacks else v for i, v in enumerate(values)]
            looped = interpret(tape, one)
            for slot, output in zip(together.outputs, tape.outputs, strict=True):
                got, expected = results[slot][k], np.asarray(looped[output])
                if not _close(got, expected):
                    detail = f"example {k} of inputs {differing}: {got!r} instead of {expected!r}"
                    yield Finding("batched is a loop", order, detail)


def _examples(v: Array) -> Array:
    """Arrays like ``v`` along a new first axis: scaled a little, or integers in another order."""
    if v.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):  # an infinite complex number times a real one
            return np.stack([v * np.asarray(1 - k / 128, dtype=v.dtype) for k in range(_EXAMPLES)])
    rising = v.ndim == 1 and v.size > 0 and bool(np.all(v[1:] >= v[:-1]))
    other = np.full_like(v, v[0]) if rising else v[::-1] if v.ndim else v  # what rises has to rise
    return np.stack([v, other, v])


def _close(got: Any, expected: Array) -> bool:
    tolerance = _TOLERANCES.get(expected.dtype.name, _TOLERANCE)
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(got, expected))
    size = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return bool(np.allclose(got, expected, rtol=0, atol=tolerance * (1 + size), equal_nan=True))
