"""Replays of random programs: exact ones give the bits of a walk, others its digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.answer import Kind
from gradwire_engine.backends.numpy.loops import bound
from gradwire_engine.compile import Compiled, compile_query
from gradwire_engine.ops.constants import Input
from gradwire_engine.tape import ArrayType, Tape
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES: dict[str, tuple[int, ...]] = {"a": (), "v": (9,), "w": (3,), "m": (3, 9), "s": (9, 9)}
UNARY = ["sin({})", "tanh({})", "exp(-{0} * {0})", "log(1 + {}**2)", "{}**3", "{}**2", "{}**4"]
UNARY += ["sqrt(1 + {0} * {0})", "-{}", "abs({})", "sigmoid({})", "{} * 2", "{} / 3 + 1"]
BINARY = ["{} + {}", "{} * {}", "{} - {}", "{} / (2 + {}**2)", "maximum({}, {})", "hypot({}, {})"]
BINARY += ["where({0} > 0.1, {1}, {0})", "({0} * {1}) * {0}", "-({0} * {1})"]
REDUCED = ["sum({})", "mean({})", "logsumexp({})", "sum({}, axis=0)", "max({}, axis=-1)"]


def unary(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    return draw(st.sampled_from(UNARY)).format(x), shapes[x]


def binary(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    pairs = [(y, together(shapes[x], shapes[y])) for y in shapes]
    y, shape = draw(st.sampled_from([pair for pair in pairs if pair[1] is not None]))
    return draw(st.sampled_from(BINARY)).format(x, y), shape


def reduced(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    shape = shapes[x]
    form = draw(st.sampled_from(REDUCED if shape else REDUCED[:3]))
    left = shape[1:] if "axis=0" in form else shape[:-1] if "axis=-1" in form else ()
    return form.format(x), left


def product(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    fitting = [y for y in shapes if shapes[x] and shapes[y][:1] == shapes[x][-1:]]
    if fitting:
        y = draw(st.sampled_from(fitting))
        return f"tanh({x} @ {y})", shapes[x][:-1] + shapes[y][1:]
    return None


def part(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    count, *rest = shapes[x] or (0,)
    if count > 1:
        form, left = draw(st.sampled_from([("[1:]", count - 1), ("[::-1]", count), ("[::2]", 0)]))
        return f"{x}{form}", (left or (count + 1) // 2, *rest)
    return None


def view(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    shape = shapes[x]
    if len(shape) == 2:
        forms = [("{}.T", shape[::-1]), ("reshape({}.T, -1)", (math.prod(shape),))]
        form, viewed = draw(st.sampled_from(forms))
        return form.format(x), viewed
    if len(shape) == 1:
        return f"diag({x}) * {x}", (*shape, *shape)
    return None


def loop(draw: st.DrawFn, x: str, shapes: dict[str, tuple[int, ...]]) -> Any:
    passes = draw(st.sampled_from([2, 12]))
    step = draw(st.sampled_from(["tanh(p * 0.9 + {})", "p - 0.1 * exp(sin(p)) * {}"]))
    return f"fori_loop(0, {passes}, lambda i, p: {step.format(x)}, {x})", shapes[x]


KINDS: list[Callable[..., Any]] = [unary, unary, binary, binary, reduced, product, part, view, loop]


def together(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        return None


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Statements over the variables; ``y`` at the end depends on all of them."""
    lines: list[str] = []
    shapes = dict(SHAPES)
    for _ in range(draw(st.integers(1, 8))):
        x = draw(st.sampled_from(sorted(shapes)))
        made = draw(st.sampled_from(KINDS))(draw, x, shapes)
        if made is not None:
            name = f"t{len(lines)}"
            lines.append(f"{name} = {made[0]}")
            shapes[name] = made[1]
    parts = [f"sum(tanh({name}))" for name in shapes]
    return "\n".join([*lines, f"y = {' + '.join(parts)}"])


def values_of(seed: int, *leading: int) -> list[Any]:
    """Values of the variables, of as many examples as ``leading`` says."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*leading, *shape)) for shape in SHAPES.values()]


def go_on() -> None:
    """Nothing here has a deadline."""


def compiled(text: str, kind: Kind, values: Sequence[Any], **asked: Any) -> tuple[Compiled, Tape]:
    """What answers a query, and the tape that it was before it was optimised.

    Values with an axis more than the variables have are of examples.
    """
    tapes: dict[str, Tape] = {}
    leaves, stacks = {}, {}
    for i, (name, shape) in enumerate(SHAPES.items()):
        leaves[name] = Leaf(values[i] if values[i].shape == shape else values[i][0])
        if values[i].shape != shape:
            stacks[i] = ArrayType(values[i].dtype, values[i].shape)
    query = Query(kind, unconnected="zero", **asked)
    told = compile_query(
        *(Engine().parse(text), leaves, query, None, Limits(), go_on, stacks),
        told=tapes.__setitem__,
    )
    return told, tapes["batched"]


def walked(tape: Tape, inputs: Sequence[Any]) -> list[Any]:
    """What NumPy gives, one operation after the other."""
    made: list[Any] = []
    with np.errstate(all="ignore"):
        for op, args, _, _ in tape.instructions:
            if isinstance(op, Input):
                made.append(inputs[op.index][()])
            else:
                made.append(bound(op, go_on, quick=False)(*[made[a] for a in args]))
    return [made[slot] for slot in tape.outputs]


def inputs_of(values: Sequence[Any]) -> list[Any]:
    """What an executable takes: of a batch the first example, then the stacks."""
    stacked = [x for x, shape in zip(values, SHAPES.values(), strict=True) if x.shape != shape]
    return [*[x[0] if len(stacked) else x for x in values], *stacked]


ASKED = ["evaluate", "gradient", "jacobian", "hessian", "batch"]


def asked_of(kind: str, seed: int) -> tuple[Kind, list[Any], dict[str, Any]]:
    if kind == "batch":
        return "gradient", values_of(seed, 3), {}
    return kind, values_of(seed), {"sources": ["a", "v", "m"]} if kind == "hessian" else {}  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ASKED)
@settings(max_examples=40)
@given(text=programs(), seed=st.integers(0, 2**32 - 1))
def test_an_exact_replay_gives_the_bits_of_a_walk(kind, text, seed):
    query, values, asked = asked_of(kind, seed)
    found, tape = compiled(text, query, values, exact=True, **asked)
    inputs = inputs_of(values)
    expected = walked(tape, inputs)
    for _ in range(3):
        for one, other in zip(found.executable.run(inputs, go_on), expected, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
