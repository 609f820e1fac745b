"""Operations that move elements: what a kernel reads for them is what NumPy moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.rearranging import Flip, Roll
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Slice
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.kernels.guarded import ends_well
from tests.engine.kernels.tapes import (
    EXTREMES,
    MOVES,
    Writer,
    apply,
    go_on,
    kernels,
    moved,
    native,
    shapes,
    values_of,
)

DTYPES = st.sampled_from([*EXTREMES])
SEEDS = st.integers(0, 2**32 - 1)


def chosen(w: Writer, x: Any, rng: Any) -> Any:
    """Elements of ``x``, or others: what is worth a kernel, without arithmetic."""
    for _ in range(2):
        condition = w.input(rng.random(x.shape) < 0.7)
        other = w.input(values_of(x.dtype.name, x.shape, rng, extremes=True))
        x = apply("where", condition, x, other)
    return x


@pytest.mark.thorough
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__.strip("_"))
@examples(30)
@given(data=st.data(), shape=shapes().filter(len), dtype=DTYPES, seed=SEEDS)
def test_one_move(move, data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    z = move(data.draw, x)
    w.agree(chosen(w, z, rng))


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=shapes(), dtype=DTYPES, seed=SEEDS, steps=st.integers(1, 6))
def test_chains_of_moves(data, shape, dtype, seed, steps):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    for _ in range(steps):
        x = moved(data.draw, x)
    w.agree(chosen(w, x, rng))


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=shapes(), dtype=DTYPES, seed=SEEDS, steps=st.integers(1, 5))
def test_moves_of_what_the_kernel_has_computed(data, shape, dtype, seed, steps):
    rng, w = np.random.default_rng(seed), Writer()
    x = chosen(w, w.input(values_of(dtype, shape, rng, extremes=True)), rng)
    for _ in range(steps):
        x = chosen(w, moved(data.draw, x), rng) if rng.random() < 0.5 else moved(data.draw, x)
    w.agree(chosen(w, x, rng))


def test_nothing_is_read_beyond_short_vectors_that_are_left_out():
    """All lanes of eight truths are read or none, of 15 in a row the last eight."""
    rng, w = np.random.default_rng(9), Writer()
    x = chosen(w, w.input(np.ones((15, 15), complex)), rng)
    run = native(w.tape(chosen(w, Stack(1)(x, Flip((0,))(x)), rng)))
    run.replay(w.inputs, go_on)
    (kernel,) = kernels(run)
    assert ends_well(kernel.form, rng)


def test_shifts_along_one_axis_add_up():
    w = Writer()
    x = w.input(np.arange(20.0))
    rolled = Roll((3, -5, 11), (0, 0, 0))(x)
    w.agree(chosen(w, rolled, np.random.default_rng(0)))


@pytest.mark.thorough
def test_many_shifts_one_after_the_other_are_computed_in_linear_time():
    w = Writer()
    x = w.input(np.arange(50.0))
    for k in range(1, 25):
        x = Concatenate(0)(Slice((k,), (50,))(x), Slice((0,), (k,))(x))
    y = w.input(np.arange(60.0).reshape(6, 10))
    for k in range(1, 25):
        y = Roll((k, 3), (0, 1))(y)
    w.agree(apply("negative", x), apply("negative", y))


def test_a_long_chain_of_views():
    w = Writer()
    x = w.input(np.arange(12.0).reshape(3, 4))
    for k in range(1000):
        x = Transpose((1, 0))(x) if k % 2 else Flip((k % 4 // 2,))(x)
    w.agree(chosen(w, x, np.random.default_rng(0)))


def test_a_long_chain_of_operations_on_views():
    w = Writer()
    x = w.input(np.arange(9.0))
    for _ in range(400):
        x = apply("negative", Flip((0,))(x))
    w.agree(x)


def test_a_reshaped_view_of_what_is_not_in_order():
    w = Writer()
    x = w.input(np.arange(24.0).reshape(4, 6))
    y = apply("negative", x)
    reshaped = Reshape((3, 8))(Transpose((1, 0))(y))
    back = Reshape((2, 2, 6))(y)
    spread = BroadcastTo((2, 3, 8))(reshaped)
    z = apply("add", BroadcastTo((2, 3, 8))(spread), spread)
    w.agree(z, apply("negative", back))
