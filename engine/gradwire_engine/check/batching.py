"""Does a tape for many examples give what a loop over them gives?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array, Limits
from gradwire_engine.autodiff.batching import batch
from gradwire_engine.check.recordings import (
    Finding,
    Recording,
    check_results,
    interpret,
    trace,
)
from gradwire_engine.ops.builder import Builder
from gradwire_engine.tape import ArrayType

_EXAMPLES = 3
_TOLERANCES = {"float16": 3e-2, "float32": 2e-4, "complex64": 2e-4}
_TOLERANCE = 1e-9


def check_batching(recording: Recording, values: Sequence[Array], order: int) -> Iterator[Finding]:
    """Compare for examples that differ in all inputs, and in each by itself."""
    if not values:
        return
    b, _, outputs = trace(recording, values)
    tape = b.tape(outputs)
    several = [_examples(v) for v in values]
    every = [True] * len(values)
    alone = [[i == j for j in range(len(values))] for i in range(len(values))]
    for marks in [every, *alone] if len(values) > 1 else [every]:
        b = Builder(Limits())
        given = [v if own else v[0] for v, own in zip(several, marks, strict=True)]
        inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in given]
        found = batch(b, tape, inputs, marks, _EXAMPLES)
        results = interpret(b.tape(found), given)
        yield from check_results(b, results, order)
        for k in range(_EXAMPLES):
            one = [v[k if own else 0] for v, own in zip(several, marks, strict=True)]
            looped = interpret(tape, one)
            for together, slot in zip(found, tape.outputs, strict=True):
                got, expected = results[together.slot][k], np.asarray(looped[slot])
                if not _close(got, expected):
                    which = f"example {k} of inputs {[i for i, own in enumerate(marks) if own]}"
                    yield Finding(
                        "batched is a loop", order, f"{which}: {got!r} instead of {expected!r}"
                    )


def _examples(v: Array) -> Array:
    """Arrays like ``v`` along a new first axis: scaled a little, or with integers reversed."""
    if v.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):  # an infinite complex number times a real one
            return np.stack([v * np.asarray(1 - k / 128, dtype=v.dtype) for k in range(_EXAMPLES)])
    return np.stack([v, v[::-1] if v.ndim else v, v])


def _close(got: Any, expected: Array) -> bool:
    tolerance = _TOLERANCES.get(expected.dtype.name, _TOLERANCE)
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(got, expected))
    size = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return bool(np.allclose(got, expected, rtol=0, atol=tolerance * (1 + size), equal_nan=True))
