"""Calls of kernels: what they say of finiteness, operands in any layout, large arrays by pieces."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Limits, Query
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from tests.engine.conftest import called

pytest.importorskip("llvmlite")

from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.backends.llvm.spans import STEPS_BETWEEN_POLLS
from gradwire_engine.backends.walk.buffers import POOLED_BYTES
from gradwire_engine.ops.reductions.reductions import Max, Sum

from tests.engine.kernels.tapes import (
    Writer,
    apply,
    both,
    go_on,
    kernels,
    native,
)

#: Around the size from which on kernels themselves tell whether results are finite.
SIZES = [POOLED_BYTES // 8 + k for k in (-8, -1, 0, 1, 7, 8, 13)]


@cache
def negated_twice(size: int, dtype: str) -> Any:
    w = Writer()
    y = apply("negative", w.input(np.ones(size, dtype)))
    return native(w.tape(apply("add", y, y)))


@cache
def products(shape: tuple[int, ...]) -> Any:
    """Of rows, and what these come to along the first axis and the last."""
    w = Writer()
    z = apply("multiply", apply("negative", w.input(np.ones(shape))), w.input(np.ones(shape[-1])))
    return native(w.tape(z, Sum((0,))(z), Max((len(shape) - 1,))(z)))


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("n", SIZES)
@examples(40)
@given(data=st.data())
def test_kernels_tell_whether_results_are_finite(dtype, n, data):
    size = n * 8 // np.dtype(dtype).itemsize
    places = st.sampled_from([0, 1, 7, 8, *range(size - 9, size)]) | st.integers(0, size - 1)
    x, run = np.ones(size, dtype), negated_twice(size, dtype)
    for _ in range(data.draw(st.integers(0, 2))):
        x[data.draw(places)] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 1e30]))
    replayed = run.replay([x], go_on)
    assert kernels(run)
    assert kernels(run)[0].checked == {0}
    assert replayed.finite == bool(np.isfinite(x).all())
    assert_array_equal(replayed.outputs[0], -x + -x)


@pytest.mark.parametrize("shape", [(3, SIZES[-1]), (SIZES[-1], 3), (5, 7, 499), (17, 1001)])
@examples(30)
@given(data=st.data())
def test_finiteness_of_arrays_with_several_axes(shape, data):
    x, run = np.ones(shape), products(shape)
    whole = data.draw(st.booleans())
    if not whole:
        x.flat[data.draw(st.integers(0, x.size - 1))] = np.nan
    replayed = run.replay([x, np.ones(shape[-1])], go_on)
    assert replayed.finite == whole
    assert 0 in kernels(run)[0].checked


def test_all_large_results_are_looked_at():
    for bad in range(3):
        w = Writer()
        xs = [np.ones(SIZES[-1]) for _ in range(3)]
        xs[bad][-1] = np.inf
        zs = [apply("negative", apply("negative", w.input(x))) for x in xs]
        run = native(w.tape(*zs, zs[0]))
        assert not run.replay(w.inputs, go_on).finite


class Stopped(Exception):
    """Raised by a poll."""


def stopping(calls: list[int], at: int) -> None:
    calls[0] += 1
    if calls[0] == at:
        raise Stopped


@pytest.mark.parametrize("n", [2_000_000, 2_000_003])
def test_large_arrays_are_computed_in_several_calls_with_polls_between(n):
    w = Writer()
    x = np.random.default_rng(0).normal(size=n)
    y = apply("tanh", w.input(x))
    z = apply("multiply", y, y)
    tape = w.tape(z, Sum((0,))(z), Max((0,))(y))
    run = native(tape)
    polls = 0

    def poll():
        nonlocal polls
        polls += 1

    replayed = run.replay(w.inputs, poll)
    first, polls = polls, 0
    replayed = run.replay(w.inputs, poll)
    assert first >= polls >= 4
    assert replayed.finite
    expected = np.tanh(x) ** 2
    assert_allclose(replayed.outputs[0], expected, rtol=1e-14)
    assert_allclose(replayed.outputs[1], expected.sum(), rtol=1e-12)
    assert replayed.outputs[2] == pytest.approx(np.tanh(x.max()), rel=1e-15)
    for stop in (2, polls):
        calls = [0]
        with pytest.raises(Stopped):
            run.replay(w.inputs, partial(stopping, calls, stop))
        assert calls == [stop]
    x[-1] = np.nan
    replayed = run.replay(w.inputs, go_on)
    assert not replayed.finite
    assert np.isnan(replayed.outputs[1])
    assert np.isnan(replayed.outputs[2])


def test_large_sums_along_each_axis_in_several_calls():
    w = Writer()
    x = np.random.default_rng(0).normal(size=(1201, 1703))
    y = apply("negative", w.input(x))
    tape = w.tape(Sum((0,))(y), Sum((1,))(y), Sum((0, 1))(y), Max((0,))(y), Max((1,))(y))
    polls = []
    replayed = native(tape).replay(w.inputs, lambda: polls.append(1))
    assert len(polls) > 3
    for z, axis in zip(replayed.outputs, [0, 1, None], strict=False):
        assert_allclose(z, -x.sum(axis=axis), rtol=1e-10, atol=1e-10)
    for z, axis in zip(replayed.outputs[3:], [0, 1], strict=True):
        assert_array_equal(z, (-x).max(axis=axis))


N = 300_001
#: Programs with nests of which one pass of the outermost loop, or eight of them, takes long.
LONG: dict[str, tuple[str, dict[str, tuple[int, ...]]]] = {
    "rows": ("sin(x) * r + tanh(x)", {"x": (3, N), "r": (N,)}),
    "one of many": ("sin(x) * r + tanh(x)", {"x": (1, 3, N), "r": (1, N)}),
    "sums of rows": ("[sum(tanh(x) * x, axis=1), max(x * x, axis=1)]", {"x": (3, N)}),
    "sums with what is in all rows": ("sum(tanh(x) * x + r, axis=1)", {"x": (3, N), "r": (N,)}),
    "sums of all": ("[sum(tanh(x) * x * r), min(x * r)]", {"x": (3, N), "r": (N,)}),
    "columns": ("[sum(tanh(x) * x, axis=0), max(x * x, axis=0)]", {"x": (N, 8)}),
    "columns, some twice": ("[sum(tanh(x) * x, axis=0), min(x, axis=0)]", {"x": (N, 11)}),
    "few columns": ("sum(tanh(x) * x, axis=0)", {"x": (N, 3)}),
    "single precision": ("sum(tanh(x) * x + r, axis=1)", {"x": (3, 2 * N), "r": (2 * N,)}),
    "the middle": ("sum(sin(x) * r, axis=(0, 2))", {"x": (5, N // 3, 9), "r": (5, 1, 9)}),
    "both ends": (
        "[sum(sin(x) * r, axis=1), max(x * r, axis=1)]",
        {"x": (9, N, 3), "r": (9, 1, 3)},
    ),
}


#: Those whose vectors are of one sum each: the last two overlap, and have these in common.
ALONE = ("columns",)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_threads_tell_of_what_is_not_finite(value):
    engine = Engine(Limits(threads=2), backend=NativeBackend())
    program = engine.parse("[x * r + r, max(x * r)]")
    for place in (0, 0, 7, N - 1, 2 * N + 5, 3 * N - 1):
        x = np.zeros((3, N))
        x.flat[place] = value
        leaves = {"x": Leaf(x), "r": Leaf(np.ones(N))}
        call = engine.call(program, leaves, Query("evaluate"))
        answer = call.replay(go_on)
        assert "forward" in answer.nonfinite
        assert_array_equal(answer.value[0], x + 1)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", LONG)
def test_one_looks_at_the_deadline_in_nests_of_any_shape(name, threads):
    text, shapes = LONG[name]
    dtype = "float32" if name == "single precision" else "float64"
    rng = np.random.default_rng(1)
    leaves = {name: Leaf(rng.normal(size=shape).astype(dtype)) for name, shape in shapes.items()}
    engine = Engine(Limits(threads=threads), backend=NativeBackend())
    call = called(engine, text, leaves, "evaluate")
    call.replay(go_on)
    polls: list[int] = []
    answer, again = (call.replay(lambda: polls.append(threading.get_ident())) for _ in range(2))
    exact = called(engine, text, leaves, "evaluate", exact=True).replay(go_on)
    values = (each.value for each in (answer, again, exact))
    found, repeated, expected = ([*a] if isinstance(a, list) else [a] for a in values)
    rtol = 1e-11 if dtype == "float64" else 1e-4
    for x, z, y in zip(found, repeated, expected, strict=True):
        assert x.dtype == y.dtype
        assert_array_equal(x, z)
        assert_allclose(x, y, rtol=rtol, atol=rtol * np.max(np.abs(y)))
    nests = [
        nest
        for kernel in kernels(call.entry.paths[0].executable)
        for nest in kernel.form.nests
        if nest.steps > STEPS_BETWEEN_POLLS
    ]
    assert nests
    assert len(polls) >= 2 * (sum(nest.steps for nest in nests) // STEPS_BETWEEN_POLLS)
    assert (len({*polls}) > 1) == (threads > 1 and name not in ALONE)


def unaligned(x: np.ndarray) -> np.ndarray:
    """The same elements, none of them at a place that its size divides."""
    bytes_of = np.zeros(x.nbytes + 1, np.uint8)
    there = bytes_of[1:].view(x.dtype).reshape(x.shape)
    there[...] = x
    return there


@pytest.mark.parametrize("shape", [(3, 1), (40, 1), (3, 2), (3, 9)])
def test_sums_of_negative_zeros_are_positive(shape):
    w = Writer()
    x = w.input(np.full(shape, -0.0))
    z = Sum((1,))(apply("negative", apply("absolute", x)))
    for found, expected in zip(*both(w.tape(z, apply("exp", z)), w.inputs), strict=True):
        assert_array_equal(np.signbit(found), np.signbit(expected))
        assert not np.signbit(found).any()


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "in columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "backward": lambda x: x[::-1].copy()[::-1],
    "repeated": lambda x: np.broadcast_to(x[:1], x.shape),
    "unaligned": unaligned,
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_in_any_layout(layout, dtype):
    w = Writer()
    x = LAYOUTS[layout]((np.arange(35).reshape(5, 7) % 3).astype(dtype))
    condition = w.input(np.arange(7) > 2)
    y = w.input(np.ones((5, 7), dtype))
    z = apply("where", condition, w.input(np.zeros((5, 7), dtype)), y)
    w.inputs[-1] = x
    w.agree(apply("where", apply("equal", z, y), z, y), z)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_numbers_of_each_dtype(dtype):
    w = Writer()
    x, y = w.input(np.array(1, dtype)), w.input(np.array(0, dtype))
    z = apply("where", apply("equal", x, y), x, y)
    spread = apply("where", w.input(np.arange(9) > 4), z, x)
    for found, expected in zip(*both(w.tape(z, spread), w.inputs), strict=True):
        assert isinstance(found, np.generic if expected.ndim == 0 else np.ndarray)
        assert_array_equal(found, expected)


def test_numbers_that_python_computed_between_kernels():
    w = Writer()
    x = w.input(np.linspace(0, 1, 11))
    total = Sum((0,))(apply("tanh", x))
    other = apply("floor_divide", total, w.builder.constant(np.array(0.3)))
    truth = apply("less", other, total)
    z = apply("where", truth, apply("tanh", apply("add", x, other)), x)
    w.agree(z, other, truth, rtol=1e-14)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((63,), (0,)),
        ((1023,), (0,)),
        ((1025,), (0,)),
        ((300_007,), (0,)),
        ((3, 40_001), (1,)),
        ((40_001, 3), (0,)),
        ((40_001, 9), (0,)),
        ((70, 50, 30), (0, 1, 2)),
        ((5, 90, 5, 70), (1, 3)),
        ((11, 5000, 11), (0, 2)),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rounding_does_not_add_up(shape, axes, dtype):
    """Terms that are all rounded the same way, and one that is infinite."""
    x = np.full(shape, 0.1, dtype)
    w = Writer()
    (z,) = (
        native(tape := w.tape(Sum(axes)(apply("negative", w.input(x)))))
        .replay(w.inputs, go_on)
        .outputs
    )
    terms = x.size // max(z.size, 1)
    exact = -terms * float(x.flat[0])
    most = 40 * np.finfo(dtype).eps * abs(exact)
    assert_allclose(np.asarray(z, float), exact, rtol=0, atol=most)
    x.flat[-1] = np.inf
    (z,) = native(tape).replay([x], go_on).outputs
    assert np.isneginf(z).sum() == 1
    assert np.isfinite(z).sum() == z.size - 1
