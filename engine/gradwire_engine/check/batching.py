"""Does what is recorded for many examples at once give what a loop over them gives?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.batching.batch import batch
from gradwire_engine.check.recordings import Finding, Recorded, check_results, interpret
from gradwire_engine.ops.builder import Var
from gradwire_engine.tape import INEXACT

_TOLERANCES = {"float16": 3e-2, "bfloat16": 2.5e-1, "float32": 2e-4, "complex64": 2e-4}
_TOLERANCE = 1e-9


def check_batching(recorded: Recorded, outputs: Sequence[Sequence[Var]]) -> Iterator[Finding]:
    """Compare for two examples that differ in all inputs, and in each by itself.

    ``outputs``, all computed, are those of the function, and of its derivatives by their order.
    """
    inputs, most = recorded.inputs, len(outputs) - 1
    values = recorded.values[: len(inputs)]
    flat = [(order, output) for order, part in enumerate(outputs) for output in part]
    tape = recorded.b.tape([output for _, output in flat])
    every = [*range(len(values))]
    for differing in [every, *[[i] for i in every if len(values) > 1]] if every else []:
        others = {i: _other(values[i]) for i in differing}
        stacks = {i: np.stack([values[i], other]) for i, other in others.items()}
        stacked = {inputs[i]: recorded.input(stack) for i, stack in stacks.items()}
        together = batch(recorded.b, [output for _, output in flat], stacked)
        yield from check_results(recorded.b, recorded.compute(together), most)
        looped = recorded.known, interpret(tape, recorded.replaced(others))
        for (order, output), batched in zip(flat, together, strict=True):
            if order > most:
                break  # what is wrong with a function is wrong with its derivatives
            for k, results in enumerate(looped):
                got, expected = recorded.known[batched.slot][k], np.asarray(results[output.slot])
                if not _close(got, expected):
                    detail = f"example {k} of inputs {differing}: {got!r} instead of {expected!r}"
                    yield Finding("batched is a loop", order, detail)
                    most = order


def _other(v: Array) -> Array:
    """An array like ``v``: scaled a little, or of its integers in another order."""
    if v.dtype.kind in INEXACT:
        with np.errstate(invalid="ignore"):  # an infinite complex number times a real one
            return np.asarray(v * np.asarray(1 - 1 / 64, dtype=v.dtype))
    rising = v.ndim == 1 and v.size > 0 and bool(np.all(v[1:] >= v[:-1]))
    if rising:  # what rises has to rise
        return np.full_like(v, v[0])
    return v[::-1] if v.ndim else v


def _close(got: Any, expected: Array) -> bool:
    if np.shape(got) == expected.shape and (got == expected).all():
        return True
    if expected.dtype.kind not in INEXACT:
        return False
    tolerance = _TOLERANCES.get(expected.dtype.name, _TOLERANCE)
    size = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return bool(np.allclose(got, expected, rtol=0, atol=tolerance * (1 + size), equal_nan=True))
