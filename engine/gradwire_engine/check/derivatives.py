"""Do the derivatives of a recording agree with differences, and with each other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradwire_engine.answer import Array
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.check.batching import check_batching
from gradwire_engine.check.recordings import (
    Finding,
    Recording,
    check_types,
    evaluate,
    interpret,
    trace,
    variables,
)
from gradwire_engine.ops.builder import Builder, Var

_TOLERANCES = {"float16": 3e-2, "float32": 1e-4, "complex64": 1e-4}
_TOLERANCE = 1e-7
_STEP = 1e-4


def check(
    recording: Recording, values: Sequence[Array], *, order: int = 2, seed: int = 0
) -> list[Finding]:
    """What is wrong with ``recording`` at ``values``: nothing, if all is right.

    The function must be smooth near ``values``. Differences are taken in double precision, also
    for samples of less.
    """
    findings = list(check_types(recording, values, 0))
    findings += [] if findings else check_batching(recording, values, 0)
    rng = np.random.default_rng(seed)
    for n in range(1, order + 1):
        if findings:
            break
        findings += _check_derivative(recording, values, n, rng)
        recording = _gradient_of(recording, seed)
        if n == 1:
            findings += check_batching(recording, values, n)
    return findings


def _check_derivative(
    recording: Recording, values: Sequence[Array], order: int, rng: np.random.Generator
) -> Iterator[Finding]:
    """Compare both modes with differences along a random direction, and with each other."""
    _, inputs, outputs = trace(recording, values)
    sources = [i for i, v in enumerate(inputs) if v.type.differentiable]
    targets = [i for i, v in enumerate(outputs) if v.type.differentiable]
    if not sources or not targets:
        return
    direction = [_random(rng, values[i]) for i in sources]
    weights = [_random(rng, np.zeros(outputs[i].shape, outputs[i].dtype)) for i in targets]

    def forward(b: Builder, *xs: Var) -> list[Var | None]:
        ys = list(variables(recording(b, *xs)))
        dots = [b.constant(d) for d in direction]
        return pushforward(b, [ys[i] for i in targets], [xs[i] for i in sources], dots)

    def backward(b: Builder, *xs: Var) -> list[Var | None]:
        ys = list(variables(recording(b, *xs)))
        bars = [b.constant(w) for w in weights]
        return pullback(b, [ys[i] for i in targets], bars, [xs[i] for i in sources])

    for derivative in (forward, backward):
        yield from check_types(derivative, values, order)
    expected = _slopes(recording, values, dict(zip(sources, direction, strict=True)))
    tangents = _with_zeros(forward, values, expected)
    cotangents = _with_zeros(backward, values, direction)
    names = {values[i].dtype.name for i in sources} | {w.dtype.name for w in weights}
    tolerance = max(_TOLERANCES.get(name, _TOLERANCE) for name in names)
    for i, (tangent, slope) in enumerate(zip(tangents, expected, strict=True)):
        error = np.max(np.abs(tangent - slope), initial=0.0)
        if not error <= tolerance * (1 + np.max(np.abs(slope), initial=0.0)):
            yield Finding(
                "tangent is the slope", order, f"output {i}: {tangent!r} instead of {slope!r}"
            )
    size = 1 + sum(float(np.sum(np.abs(w * s))) for w, s in zip(weights, expected, strict=True))
    paired = _inner(cotangents, direction)
    for claim, other, allowed in (
        ("cotangent is the slope", _inner(weights, expected), tolerance),
        ("both modes agree", _inner(weights, tangents), tolerance / 10),
    ):
        if not abs(paired - other) <= allowed * size:
            yield Finding(claim, order, f"{paired!r} instead of {other!r}")


def _gradient_of(recording: Recording, seed: int) -> Recording:
    """Record the cotangents of all inputs for fixed random cotangents of the outputs."""

    def gradient(b: Builder, *xs: Var) -> list[Var]:
        rng = np.random.default_rng(seed)
        ys = [y for y in variables(recording(b, *xs)) if y.type.differentiable]
        bars = [b.constant(_random(rng, np.zeros(y.shape, y.dtype))) for y in ys]
        sources = [x for x in xs if x.type.differentiable]
        return [bar for bar in pullback(b, ys, bars, sources) if bar is not None]

    return gradient


def _slopes(
    recording: Recording, values: Sequence[Array], direction: dict[int, Array]
) -> list[Array]:
    """Derivatives of floating outputs along ``direction``, by differences of fourth order.

    Source: DLMF 3.4.15.
    """
    doubled = [_doubled(v) for v in values]

    def at(step: float) -> list[Any]:
        moved = list(doubled)
        for i, d in direction.items():
            moved[i] = doubled[i] + step * _doubled(d)
        return [np.asarray(y) for y in evaluate(recording, moved)]

    h = _STEP
    steps = zip(at(h), at(-h), at(2 * h), at(-2 * h), strict=True)
    return [
        (8 * (right - left) - (far_right - far_left)) / (12 * h)
        for right, left, far_right, far_left in steps
        if right.dtype.kind in "fc"
    ]


def _doubled(v: Array) -> Array:
    if v.dtype.kind == "c":
        return v.astype(np.complex128)
    return v.astype(np.float64) if v.dtype.kind == "f" else v


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
    derivative: Recording, values: Sequence[Array], likes: Sequence[Array]
) -> list[Array]:
    """Values of ``derivative``, with zeros where there is no path."""
    b, inputs, _ = trace(lambda *_: (), values)
    parts = derivative(b, *inputs)
    results = interpret(b.tape([p for p in parts if p is not None]), values)
    return [
        np.zeros_like(like) if part is None else np.asarray(results[part.slot])
        for part, like in zip(parts, likes, strict=True)
    ]
