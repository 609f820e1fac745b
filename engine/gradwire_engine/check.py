"""The checker: does what an operation or a program claims about types and derivatives hold?

Given a function that records on a builder, and sample arrays, it compares predicted with computed
types, tangents and cotangents with central differences, and both with each other; then the same
for the gradient, to the order asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradwire_engine.answer import Array, Limits
from gradwire_engine.autodiff.forward import pushforward
from gradwire_engine.autodiff.reverse import pullback
from gradwire_engine.backends.numpy.namespace import NUMPY
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder, Var
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import ArrayType, Tape, TupleType, Type

#: Records on a builder what the checker examines: one variable, or several in lists and tuples.
Recording: TypeAlias = Callable[..., Any]

_TOLERANCES = {"float16": 3e-2, "float32": 1e-4, "complex64": 1e-4}
_TOLERANCE = 1e-7
_STEP = 1e-4


class Finding(NamedTuple):
    """One claim that does not hold, found on the derivative of the given order."""

    claim: str
    order: int
    detail: str


@dataclass(frozen=True, eq=False)
class Call:
    """A function that programs can call, with arguments; its arrays, also in lists, are inputs."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, function: str, *args: Any, **kwargs: Any) -> Call:
        """Write a call as it is written in a program."""
        return cls(function, args, kwargs)

    @property
    def values(self) -> list[Array]:
        """The arrays among the arguments, in order."""
        return list(_arrays((self.args, list(self.kwargs.values()))))

    def record(self, b: Builder, *inputs: Var) -> Any:
        """Record the call with ``inputs`` in place of the arrays."""
        rest = iter(inputs)
        args = _replaced(self.args, rest)
        kwargs = {key: _replaced(value, rest) for key, value in self.kwargs.items()}
        return FUNCTIONS[self.function].record(b, *args, **kwargs)

    def __str__(self) -> str:
        shown = [str(v.dtype) if isinstance(v, np.ndarray) else repr(v) for v in self.args]
        shown += [f"{key}={value!r}" for key, value in self.kwargs.items()]
        return f"{self.function}({', '.join(shown)})"


def interpret(tape: Tape, values: Sequence[Array]) -> list[Any]:
    """Results of all instructions that the outputs need, computed one kernel at a time."""
    needed = bytearray(len(tape.instructions))
    for slot in tape.outputs:
        needed[slot] = 1
    for slot in range(len(needed) - 1, -1, -1):
        if needed[slot]:
            for arg in tape.instructions[slot].args:
                needed[arg] = 1
    results: list[Any] = [None] * len(needed)
    with np.errstate(all="ignore"):
        for slot, (op, args, _, _) in enumerate(tape.instructions):
            if isinstance(op, Input):
                results[slot] = values[op.index]
            elif needed[slot]:
                results[slot] = op.kernel(NUMPY, *[results[a] for a in args])
    return results


def trace(recording: Recording, values: Sequence[Array]) -> tuple[Builder, list[Var], list[Var]]:
    """Record for inputs of the values' types: the builder, its inputs, and the outputs in order."""
    b = Builder(Limits())
    inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in values]
    return b, inputs, list(_variables(recording(b, *inputs)))


def evaluate(recording: Recording, values: Sequence[Array]) -> list[Any]:
    """The values of what ``recording`` gives."""
    b, _, outputs = trace(recording, values)
    results = interpret(b.tape(outputs), values)
    return [results[v.slot] for v in outputs]


def check(
    recording: Recording, values: Sequence[Array], *, order: int = 2, seed: int = 0
) -> list[Finding]:
    """What is wrong with ``recording`` at ``values``: nothing, if all is right.

    The function must be smooth near ``values``. Differences are taken in double precision, also
    for samples of less.
    """
    findings = list(_check_types(recording, values, 0))
    rng = np.random.default_rng(seed)
    for n in range(1, order + 1):
        if findings:
            break
        findings += _check_derivative(recording, values, n, rng)
        recording = _gradient_of(recording, seed)
    return findings


def _check_types(recording: Recording, values: Sequence[Array], order: int) -> Iterator[Finding]:
    b, _, outputs = trace(recording, values)
    results = interpret(b.tape(outputs), values)
    for slot, (instruction, result) in enumerate(zip(b.instructions, results, strict=True)):
        if result is not None and not _has_type(result, instruction.type):
            yield Finding(
                "types",
                order,
                f"%{slot} = {instruction.op} gives {_described(result)}, not {instruction.type}",
            )


def _has_type(result: Any, kind: Type) -> bool:
    if isinstance(kind, TupleType):
        pairs = zip(result, kind.items, strict=True)
        return all(_has_type(item, expected) for item, expected in pairs)
    array = np.asarray(result)
    return array.dtype == kind.dtype and array.shape == kind.shape


def _described(result: Any) -> str:
    array = np.asarray(result)
    return f"{array.dtype.name}{list(array.shape)}"


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
        ys = list(_variables(recording(b, *xs)))
        dots = [b.constant(d) for d in direction]
        return pushforward(b, [ys[i] for i in targets], [xs[i] for i in sources], dots)

    def backward(b: Builder, *xs: Var) -> list[Var | None]:
        ys = list(_variables(recording(b, *xs)))
        bars = [b.constant(w) for w in weights]
        return pullback(b, [ys[i] for i in targets], bars, [xs[i] for i in sources])

    for derivative in (forward, backward):
        yield from _check_types(derivative, values, order)
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
        ys = [y for y in _variables(recording(b, *xs)) if y.type.differentiable]
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


def _variables(x: Any) -> Iterator[Var]:
    """The variables nested in lists and tuples, in order."""
    if isinstance(x, Var):
        yield x
    elif isinstance(x, list | tuple):
        for item in x:
            yield from _variables(item)


def _arrays(x: Any) -> Iterator[Array]:
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, list | tuple):
        for item in x:
            yield from _arrays(item)


def _replaced(x: Any, rest: Iterator[Var]) -> Any:
    if isinstance(x, np.ndarray):
        return next(rest)
    if isinstance(x, list | tuple):
        return type(x)(_replaced(item, rest) for item in x)
    return x
