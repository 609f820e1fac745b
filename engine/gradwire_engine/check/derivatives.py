"""Do the derivatives of a recording agree with differences, and with each other?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.check.batching import check_batching
from gradwire_engine.check.recordings import (
    Finding,
    Recorded,
    Recording,
    check_results,
    interpret,
)
from gradwire_engine.ops.builder import Var
from gradwire_engine.tape import FLOATING

_TOLERANCES = {"float16": 3e-2, "bfloat16": 2.5e-1, "float32": 1e-4, "complex64": 1e-4}
_TOLERANCE = 1e-7
_STEP = 1e-4


def check(
    recording: Recording, values: Sequence[Array], *, order: int = 2, seed: int = 0
) -> list[Finding]:
    """The faults of ``recording`` at ``values``: nothing, if all is right.

    The function must be smooth near ``values``. Differences are taken in double precision, also
    for samples of less.
    """
    return examine(Recorded(recording, values), order=order, seed=seed)


def examine(recorded: Recorded, *, order: int = 2, seed: int = 0) -> list[Finding]:
    """The same of what is recorded already."""
    outputs, values = recorded.outputs, [*recorded.values]
    findings = list(check_results(recorded.b, recorded.found, 0))
    batched = [outputs]
    doubled = [_doubled(v) for v in values]
    in_doubles = all(v is x for v, x in zip(values, doubled, strict=True))
    wide = recorded if in_doubles or findings else Recorded(recorded.recording, doubled)
    wide_outputs = wide.outputs
    sources = [i for i, x in enumerate(recorded.inputs) if x.type.differentiable]
    rng = np.random.default_rng(seed)
    for n in range(1, order + 1):
        outputs, wide_outputs = _differentiable(outputs), _differentiable(wide_outputs)
        if findings or not sources or not outputs:
            break
        direction = {i: _random(rng, values[i]) for i in sources}
        weights = [_random(rng, np.zeros(y.shape, y.dtype)) for y in outputs]
        slopes = _slopes(wide, wide_outputs, direction)
        bars = _cotangents(recorded, outputs, weights, sources)
        findings += _check_derivative(recorded, outputs, bars, n, direction, weights, slopes)
        if wide is recorded:
            wide_bars = bars
        else:
            wide_bars = _cotangents(wide, wide_outputs, [_doubled(w) for w in weights], sources)
        outputs = [bar for bar in bars if bar is not None]
        wide_outputs = [bar for bar in wide_bars if bar is not None]
        if n == 1:
            batched.append(outputs)
    return findings or [*check_batching(recorded, batched)]


def _check_derivative(
    recorded: Recorded,
    outputs: Sequence[Var],
    bars: Sequence[Var | None],
    order: int,
    direction: Mapping[int, Array],
    weights: Sequence[Array],
    slopes: Sequence[Array],
) -> Iterator[Finding]:
    """Compare both modes with the slopes along a direction, and with each other."""
    b, sources = recorded.b, [recorded.inputs[i] for i in direction]
    dots = pushforward(b, outputs, sources, [b.constant(d) for d in direction.values()])
    new = recorded.compute([part for part in (*dots, *bars) if part is not None])
    yield from check_results(b, new, order)
    tangents = _with_zeros(recorded.known, dots, slopes)
    cotangents = _with_zeros(recorded.known, bars, [*direction.values()])
    names = {array.dtype.name for array in (*direction.values(), *weights)}
    tolerance = max(_TOLERANCES.get(name, _TOLERANCE) for name in names)
    for i, (tangent, slope) in enumerate(zip(tangents, slopes, strict=True)):
        error = np.max(np.abs(tangent - slope), initial=0.0)
        if not error <= tolerance * (1 + np.max(np.abs(slope), initial=0.0)):
            yield Finding(
                "tangent is the slope", order, f"output {i}: {tangent!r} instead of {slope!r}"
            )
    size = 1 + sum(float(np.sum(np.abs(w * s))) for w, s in zip(weights, slopes, strict=True))
    paired = _inner(cotangents, [*direction.values()])
    for claim, other, allowed in (
        ("cotangent is the slope", _inner(weights, slopes), tolerance),
        ("both modes agree", _inner(weights, tangents), tolerance / 10),
    ):
        if not abs(paired - other) <= allowed * size:
            yield Finding(claim, order, f"{paired!r} instead of {other!r}")


def _cotangents(
    recorded: Recorded, outputs: Sequence[Var], weights: Sequence[Array], sources: Sequence[int]
) -> list[Var | None]:
    """Record the cotangents of all sources for fixed ones of the outputs."""
    bars = [recorded.b.constant(w) for w in weights]
    return pullback(recorded.b, outputs, bars, [recorded.inputs[i] for i in sources])


def _slopes(
    recorded: Recorded, outputs: Sequence[Var], direction: Mapping[int, Array]
) -> list[Array]:
    """Derivatives of floating outputs along ``direction``, by differences of fourth order.

    Source: DLMF 3.4.15.
    """
    tape = recorded.b.tape(outputs)

    def at(step: float) -> list[Array]:
        moved = {i: recorded.values[i] + step * _doubled(d) for i, d in direction.items()}
        results = interpret(tape, recorded.replaced(moved))
        return [np.asarray(results[y.slot]) for y in outputs]

    h = _STEP
    steps = zip(at(h), at(-h), at(2 * h), at(-2 * h), strict=True)
    return [
        (8 * (right - left) - (far_right - far_left)) / (12 * h)
        for right, left, far_right, far_left in steps
    ]


def _differentiable(outputs: Sequence[Var]) -> list[Var]:
    return [y for y in outputs if y.type.differentiable]


def _doubled(v: Array) -> Array:
    if v.dtype.kind == "c":
        return v.astype(np.complex128, copy=False)
    return v.astype(np.float64, copy=False) if v.dtype.kind in FLOATING else v


def _random(rng: np.random.Generator, like: Array) -> Array:
    """Normal numbers of the shape and dtype of ``like``."""
    x = rng.normal(size=like.shape)
    if like.dtype.kind == "c":
        return np.asarray(x + 1j * rng.normal(size=like.shape), dtype=like.dtype)
    return np.asarray(x, dtype=like.dtype)


def _inner(xs: Sequence[Array], ys: Sequence[Array]) -> float:
    """``Re sum(x* y)`` in double precision."""
    pairs = zip(xs, ys, strict=True)
    return sum(float(np.real(np.sum(np.conj(_doubled(x)) * _doubled(y)))) for x, y in pairs)


def _with_zeros(
    results: Mapping[int, Any], parts: Sequence[Var | None], likes: Sequence[Array]
) -> list[Array]:
    """The results of ``parts``, with zeros where there is no path."""
    return [
        np.zeros_like(like) if part is None else np.asarray(results[part.slot])
        for part, like in zip(parts, likes, strict=True)
    ]
