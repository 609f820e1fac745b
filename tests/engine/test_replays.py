"""Replays of random programs: exact ones give the bits of a walk, others its digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from gradwire_engine.answer import Kind
from gradwire_engine.backends.staged import Specialised
from gradwire_engine.backends.walk import contraction, steps
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.compile import Compilation, Compiled, compile_query
from gradwire_engine.nesting import leaves
from gradwire_engine.ops.arrays.indexing import Indexed
from gradwire_engine.ops.arrays.shape import View
from gradwire_engine.ops.base import Op
from gradwire_engine.ops.constants import Constant, Identity, Input
from gradwire_engine.ops.pointwise.selection import Where
from gradwire_engine.ops.reductions.reductions import Extreme
from gradwire_engine.tape import ArrayType, Tape
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples

SHAPES: dict[str, tuple[int, ...]] = {"a": (), "v": (9,), "w": (3,), "m": (3, 9), "s": (9, 9)}
UNARY = ["sin({})", "tanh({})", "exp(-{0} * {0})", "log(1 + {}**2)", "{}**3", "{}**2", "{}**4"]
UNARY += ["sqrt(1 + {0} * {0})", "-{}", "abs({})", "sigmoid({})", "{} * 2", "{} / 3 + 1"]
BINARY = ["{} + {}", "{} * {}", "{} - {}", "{} / (2 + {}**2)", "maximum({}, {})", "hypot({}, {})"]
BINARY += ["where({0} > 0.1, {1}, {0})", "({0} * {1}) * {0}", "-({0} * {1})"]
#: What gives elements of its operands as they are.
CHOOSING = (Extreme, Identity, View, Where)
#: What a replay may be off beside, in what rounding in the last place does to a walk.
MOST_ROUNDINGS = 10
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
    # Neither step is chaotic: of what is, few moves at random do not tell how far it goes.
    step = draw(st.sampled_from(["tanh(p * 0.9 + {})", "0.9 * p - 0.1 * exp(sin(p)) * tanh({})"]))
    return f"fori_loop(0, {passes}, lambda i, p: {step.format(x)}, {x})", shapes[x]


KINDS: list[Callable[..., Any]] = [unary, unary, binary, binary, reduced, product, part, view, loop]


def together(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        return None


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Statements over the variables: ``z`` is what the last gives, ``y`` depends on all of them."""
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
    return "\n".join([*lines, f"z = {[*shapes][-1]}", f"y = {' + '.join(parts)}"])


def values_of(seed: int, *leading: int) -> list[Any]:
    """Values of the variables, of as many examples as ``leading`` says."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*leading, *shape)) for shape in SHAPES.values()]


def go_on() -> None:
    """Nothing here has a deadline."""


def compiled(text: str, kind: Kind, values: Sequence[Any], **asked: Any) -> tuple[Compiled, Tape]:
    """The executable of a query, and its tape before it was optimised.

    Values with an axis more than the variables have are of examples.
    """
    tapes: dict[str, Tape] = {}
    variables, stacks = {}, {}
    for i, (name, shape) in enumerate(SHAPES.items()):
        variables[name] = Leaf(values[i] if values[i].shape == shape else values[i][0])
        if values[i].shape != shape:
            stacks[i] = ArrayType(values[i].dtype, values[i].shape)
    query = Query(kind, unconnected="zero", **asked)
    given = Engine().parse(text), variables, query, None, Limits(), Engine.backend, go_on, stacks
    found = compile_query(Compilation(*given, on_tape=tapes.__setitem__))
    return found, tapes["batched"]


def walked(
    tape: Tape, inputs: Sequence[Any], seen: Callable[[Op, Any], Any] = lambda op, x: x
) -> list[Any]:
    """NumPy's results, one operation after the other, of inputs as they are ``seen``."""
    made: list[Any] = []
    depends: list[bool] = []
    with np.errstate(all="ignore"):
        for op, args, _, _ in tape.instructions:
            if isinstance(op, Input):
                value = inputs[op.index][()]
            else:
                value = NUMPY_BACKEND.compute(op, go_on, *[made[a] for a in args])
            depends.append(isinstance(op, Input) or any(depends[a] for a in args))
            made.append(seen(op, value) if depends[-1] else value)
    return [made[slot] for slot in tape.outputs]


def inputs_of(values: Sequence[Any]) -> list[Any]:
    """The inputs of an executable: of a batch the first example, then the stacks."""
    stacked = [x for x, shape in zip(values, SHAPES.values(), strict=True) if x.shape != shape]
    return [*[x[0] if len(stacked) else x for x in values], *stacked]


ASKED: dict[str, tuple[Kind, dict[str, Any]]] = {
    "evaluate": ("evaluate", {"outputs": ["y", "z"]}),
    "gradient": ("gradient", {}),
    "jacobian": ("jacobian", {"target": "z", "sources": ["v", "m"]}),
    "hessian": ("hessian", {"sources": ["a", "v", "w"]}),
    "batch": ("gradient", {}),
}
EVERY_KIND = pytest.mark.parametrize("kind", ASKED)
SEEDS = st.integers(0, 2**32 - 1)


#: Of the variables those that are resident.
NAMES = st.sets(st.sampled_from([*SHAPES]), min_size=1)


def recorded(
    kind: str,
    text: str,
    seed: int,
    *,
    exact: bool,
    dtype: str = "float64",
    names: Set[str] = frozenset(),
) -> Any:
    """The executable, the tape as it was recorded, and inputs of both.

    For the variables of these ``names`` it is specialised, as they are and as stacks, if that is
    any use: all others come with other values in a second set of inputs.
    """
    query, asked = ASKED[kind]
    shape = (3,) if kind == "batch" else ()
    drawn = [values_of(seed, *shape), values_of(seed + 1, *shape)]
    first, second = ([np.asarray(x, dtype) for x in values] for values in drawn)
    numbers = [i for i, name in enumerate(SHAPES) if name in names]
    resident = frozenset([*numbers, *[len(SHAPES) + i for i in numbers if shape]])
    found, tape = compiled(text, query, first, exact=exact, **asked)
    found.tiers.stage(resident, go_on)
    parts = found.tiers.staged.get(resident)
    replayed = found.executable if parts is None else Specialised(parts)
    inputs = inputs_of(first)
    pairs = zip(inputs, inputs_of(second), strict=True)
    others = [x if i in resident else y for i, (x, y) in enumerate(pairs)]
    return replayed, tape, [inputs, others] if names else [inputs]


@EVERY_KIND
@examples(30)
@given(text=programs(), seed=SEEDS)
def test_an_exact_replay_gives_the_bits_of_a_walk(kind, text, seed):
    gives_the_bits(*recorded(kind, text, seed, exact=True))


@EVERY_KIND
@examples(30)
@given(text=programs(), seed=SEEDS, names=NAMES)
def test_an_exact_replay_with_residents_gives_the_bits_of_a_walk(kind, text, seed, names):
    gives_the_bits(*recorded(kind, text, seed, exact=True, names=names))


def gives_the_bits(
    executable: WalkExecutable | Specialised, tape: Tape, sets: Sequence[Sequence[Any]]
) -> None:
    for inputs in sets:
        expected = walked(tape, inputs)
        for _ in range(3):
            for one, other in zip(executable.replay(inputs, go_on).outputs, expected, strict=True):
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def uncertain(tape: Tape, inputs: Sequence[Any], expected: Sequence[Any], seed: int) -> list[Any]:
    """The errors of outputs where every value on the way is off in its last place, at random.

    Whole numbers that arithmetic gives are exponents, seeds and masks, and right.
    Source: Parker, Monte Carlo Arithmetic (1997).
    """
    rng = np.random.default_rng(seed)

    def moved(op: Op, x: Any) -> Any:
        if isinstance(op, CHOOSING) or getattr(x, "dtype", np.dtype(int)).kind != "f":
            return x
        off = x * (1 + np.finfo(x.dtype).eps * rng.choice([-1, 1], x.shape)).astype(x.dtype)
        return np.where(x == np.round(x), x, off)[()] if op.template else off

    runs = [walked(tape, inputs, moved) for _ in range(8)]
    return [max(distance(run[i], value) for run in runs) for i, value in enumerate(expected)]


def distance(one: Any, other: Any) -> Any:
    """The largest difference of two arrays' elements."""
    return np.max(np.abs(one - other), initial=0)


@contextmanager
def all_as_large() -> Iterator[None]:
    """Have what is meant for large arrays and long loops done to all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "POOLED_BYTES", 1)
        patch.setattr(contraction, "_MANY", 2)
        patch.setattr(contraction, "_LARGE", 2)
        costs = Engine.backend.costs._replace(recomputed_bytes=1)
        patch.setattr(type(Engine.backend), "costs", costs)
        contraction.lowered.cache_clear()
        yield
    contraction.lowered.cache_clear()


#: Of which dtype, and whether all arrays are taken for large ones.
FORMS: dict[str, tuple[str, float, Callable[[], AbstractContextManager[None]]]] = {
    "float64": ("float64", 1e-12, nullcontext),
    "float32": ("float32", 1e-5, nullcontext),
    "float64, all as large": ("float64", 1e-12, all_as_large),
    "float32, all as large": ("float32", 1e-5, all_as_large),
}


@EVERY_KIND
@pytest.mark.parametrize("form", FORMS)
@examples(15)
@given(text=programs(), seed=SEEDS)
def test_a_replay_gives_the_digits_of_a_walk(kind, form, text, seed):
    gives_the_digits(kind, form, text, seed)


@pytest.mark.thorough
@EVERY_KIND
@examples(40)
@given(text=programs(), seed=SEEDS, names=NAMES, form=st.sampled_from([*FORMS]))
def test_a_replay_with_residents_gives_the_digits_of_a_walk(kind, text, seed, names, form):
    gives_the_digits(kind, form, text, seed, names=names)


def gives_the_digits(kind: str, form: str, text: str, seed: int, **more: Any) -> None:
    dtype, rtol, large = FORMS[form]
    with large():
        executable, tape, sets = recorded(kind, text, seed, exact=False, dtype=dtype, **more)
        replays = [[executable.replay(inputs, go_on).outputs for _ in range(3)] for inputs in sets]
    for inputs, runs in zip(sets, replays, strict=True):
        expected = walked(tape, inputs)
        unsure = uncertain(tape, inputs, expected, seed)
        for replay in runs:
            for found, value, d in zip(replay, expected, unsure, strict=True):
                assert (found.dtype, found.shape) == (value.dtype, value.shape)
                most = rtol * np.max(np.abs(value), initial=0) + MOST_ROUNDINGS * d
                assert distance(found, value) <= most


@EVERY_KIND
@examples(20)
@given(text=programs(), seed=SEEDS, names=NAMES, exact=st.booleans())
def test_only_views_of_residents_are_computed_again(kind, text, seed, names, exact):
    replayed, tape, _ = recorded(kind, text, seed, exact=exact, names=names)
    made = replayed._staged.residual.tape if isinstance(replayed, Specialised) else replayed.tape
    numbers = [i for i, name in enumerate(SHAPES) if name in names]
    same = {*numbers, *[len(SHAPES) + i for i in numbers]}
    whole = len(tape.inputs)
    standing: list[bool] = []
    for op, args, _, _ in made.instructions:
        given_again = isinstance(op, Input) and op.index < whole and op.index not in same
        standing.append(not given_again and all(standing[arg] for arg in args))
        if standing[-1]:
            assert isinstance(op, Constant | Identity | Indexed | Input | View), str(op)


EXTREMES = [0.0, -0.0, 1.0, -2.5, 5e-324, 1e-200, -1e200, 1e308, np.inf, -np.inf, np.nan]


@pytest.mark.thorough
@EVERY_KIND
@examples(25)
@given(text=programs(), seed=SEEDS, names=st.just(set()) | NAMES)
def test_an_answer_that_is_not_finite_is_that_of_what_was_recorded(kind, text, seed, names):
    engine, rng, (query, asked) = Engine(), np.random.default_rng(seed), ASKED[kind]
    drawn = values_of(seed, 2) if kind == "batch" else values_of(seed)
    extreme = [rng.choice([x.flat[0], *EXTREMES], x.shape) for x in drawn]
    values = {
        name: Leaf(np.asarray(x), resident=name if name in names else None)
        for name, x in zip(SHAPES, extreme, strict=True)
    }
    batch = dict.fromkeys(SHAPES, 0) if kind == "batch" else None

    def answered(*, exact: bool) -> list[Any]:
        question = Query(query, unconnected="zero", batch=batch, exact=exact, **asked)
        answer = engine.call(engine.parse(text), values, question).replay(go_on)
        return leaves([answer.value, answer.derivatives])

    expected = answered(exact=True)
    for _ in range(3):
        found = answered(exact=False)
        if not all(np.isfinite(x).all() for x in found):
            for one, other in zip(found, expected, strict=True):
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
