"""Elements at indices from data, read and written: what NumPy gives, and fails at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.ops.arrays.indexing import GetItem, Indexed, ScatterAdd, SetItem
from gradwire_engine.ops.arrays.joining import Concatenate, Stack
from gradwire_engine.ops.arrays.shape import BroadcastTo, Reshape, Transpose
from gradwire_engine.ops.arrays.slicing import Slice
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.patterns import ARRAY, FULL, Pattern, Span, indexed_shape
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.tape import Shape
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.kernels.tapes import (
    EXTREMES,
    Writer,
    apply,
    both,
    go_on,
    kernels,
    moved,
    native,
    shapes,
    values_of,
)

DTYPES = st.sampled_from([*EXTREMES])
SUMMED = st.sampled_from(["float64", "float32", "int64"])
SEEDS = st.integers(0, 2**32 - 1)
SHAPES = shapes().filter(len)
LENGTHS = st.sampled_from([1, 2, 3, 7, 8, 9, 17, 40])


def twice(x: Var) -> Var:
    """``x`` where it equals itself, else again: arithmetic that changes nothing."""
    return apply("where", apply("equal", x, x), x, x)


def selection(draw: st.DrawFn, w: Writer, shape: Shape) -> tuple[Pattern, list[Var], Shape]:
    """A pattern with arrays of indices in range, some negative; and the shape that it selects."""
    pattern: list[Any] = []
    of = draw(st.sampled_from([(), (draw(LENGTHS),), (draw(LENGTHS), draw(st.integers(1, 4)))]))
    rng = np.random.default_rng(draw(SEEDS))
    chosen = draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    indices: list[Var] = []
    for axis, n in enumerate(shape):
        if draw(st.integers(0, 4)) == 0:
            pattern.append(None)
        span = Span(draw(st.integers(0, n - 1)), None, draw(st.integers(1, 3)))
        back = Span(None, None, -draw(st.integers(1, 3)))
        other = draw(st.sampled_from([FULL, FULL, span, back, draw(st.integers(-n, n - 1))]))
        if axis in chosen:
            dims = [length if draw(st.integers(0, 3)) else 1 for length in of]
            indices.append(w.input(rng.integers(-n, n, dims[draw(st.integers(0, len(of))) :])))
        pattern.append(ARRAY if axis in chosen else other)
    region = indexed_shape(shape, tuple(pattern), tuple([i.shape for i in indices]))
    assume(0 < np.prod(region, dtype=int) < 4000 and len(region) < 7)
    computed = [apply("add", i, w.input(np.array(0))) if rng.random() < 0.3 else i for i in indices]
    return tuple(pattern), computed, region


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=SHAPES, dtype=DTYPES, seed=SEEDS)
def test_gathers(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    x = twice(x) if data.draw(st.booleans()) else x
    pattern, indices, _ = selection(data.draw, w, shape)
    z = GetItem(pattern)(x, *indices)
    for _ in range(data.draw(st.integers(0, 2))):
        z = moved(data.draw, z)
    w.agree(twice(z), *([Max((0,))(z)] if z.ndim and dtype[0] == "f" else []))


@pytest.mark.thorough
@examples(150)
@given(data=st.data(), shape=SHAPES, dtype=SUMMED, seed=SEEDS)
def test_sums_at_indices_are_in_order(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    pattern, indices, region = selection(data.draw, w, shape)
    v = w.input(values_of(dtype, region, rng, extremes=data.draw(st.booleans())))
    if computed := data.draw(st.booleans()):
        v = twice(moved(data.draw, v))
        assume(v.shape == region)
    z = ScatterAdd(pattern, shape)(v, *indices)
    outputs = [z, twice(z), *([Max((0,))(z)] if dtype[0] == "f" else [])]
    w.agree(*outputs, signs=not computed)


@pytest.mark.thorough
@examples(200)
@given(data=st.data(), shape=SHAPES, dtype=DTYPES, seed=SEEDS)
def test_of_elements_replaced_twice_the_last_stays(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    pattern, indices, region = selection(data.draw, w, shape)
    dims = [n if data.draw(st.integers(0, 3)) else 1 for n in region]
    kept = dims[data.draw(st.integers(0, len(region))) :]
    v = w.input(values_of(dtype, tuple(kept), rng, extremes=True))
    z = SetItem(pattern)(twice(x) if data.draw(st.booleans()) else x, v, *indices)
    w.agree(z, twice(z), signs=True)


@pytest.mark.thorough
@examples(150)
@given(data=st.data(), shape=SHAPES, dtype=DTYPES, seed=SEEDS)
def test_steps_without_indices(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    spans = [
        Span(data.draw(st.integers(0, n - 1)), None, data.draw(st.integers(2, 4))) for n in shape
    ]
    region = indexed_shape(shape, tuple(spans), ())
    v = twice(w.input(values_of(dtype, region, rng, extremes=True)))
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    outputs = [SetItem(tuple(spans))(x, v)]
    if dtype != "bool":
        outputs.append(ScatterAdd(tuple(spans), shape)(v))
    w.agree(*outputs, *map(twice, outputs), signs=True)


@pytest.mark.parametrize("place", [0, 7, 8, 19])
@pytest.mark.parametrize("beyond", [20, -21, 2**62, -(2**63)])
@pytest.mark.parametrize("kind", ["gather", "add", "set", "unread", "computed"])
def test_indices_out_of_range_fail_as_with_numpy(kind, beyond, place):
    w = Writer()
    index = np.arange(20)
    x, i = w.input(np.arange(20.0)), w.input(index)
    if kind == "computed":
        i = apply("subtract", apply("add", i, w.input(np.array(5))), w.input(np.array(5)))
    if kind in ("gather", "unread", "computed"):
        z = GetItem((ARRAY,))(x, i)
        z = GetItem((Span(9, 11, None),))(z) if kind == "unread" else z
    else:
        z = ScatterAdd((ARRAY,), (20,))(x, i) if kind == "add" else SetItem((ARRAY,))(x, x, i)
    tape = w.tape(apply("negative", apply("exp", z)))
    run, reference = native(tape), REFERENCE.compile(tape, go_on)
    run.replay(w.inputs, go_on)
    w.agree(z, twice(z), signs=True)
    assert kernels(run)
    index[place] = beyond
    errors = []
    for each in (run, reference):
        with pytest.raises(IndexError) as failed:
            each.replay(w.inputs, go_on)
        errors.append((str(failed.value), each.failed_at(failed.value)))
    assert errors[0] == errors[1]
    assert isinstance(getattr(errors[0][1], "op", None), Indexed)
    index[place] = place - 20
    w.agree(z, twice(z), signs=True)


def test_one_index():
    for at in (0, 4, -1, -5):
        w = Writer()
        x, i = w.input(np.arange(15.0).reshape(5, 3)), w.input(np.array(at))
        row = GetItem((ARRAY, FULL))(x, i)
        one = GetItem((ARRAY, 1))(x, i)
        back = ScatterAdd((ARRAY, FULL), (5, 3))(row, i)
        w.agree(twice(row), twice(one), back, signs=True)


@pytest.mark.thorough
@examples(120)
@given(data=st.data(), shape=SHAPES, dtype=DTYPES, seed=SEEDS, count=st.integers(2, 12))
def test_joined_arrays(data, shape, dtype, seed, count):
    rng, w = np.random.default_rng(seed), Writer()
    axis = data.draw(st.integers(0, len(shape) - 1))
    pieces: list[Var] = []
    for _ in range(count):
        own = [n if k != axis else data.draw(st.integers(1, 9)) for k, n in enumerate(shape)]
        piece = w.input(values_of(dtype, tuple(own), rng, extremes=True))
        pieces.append(twice(piece) if data.draw(st.booleans()) else piece)
    joined = Concatenate(axis)(*pieces)
    stacked = Stack(data.draw(st.integers(0, len(shape))))(*[pieces[0]] * count)
    outputs = [twice(moved(data.draw, joined)), twice(moved(data.draw, stacked))]
    outputs += [joined, stacked] if data.draw(st.booleans()) else []
    w.agree(*outputs)


def test_pieces_that_read_each_other():
    w = Writer()
    x = w.input(np.linspace(-1, 1, 24).reshape(4, 6))
    y = apply("tanh", x)
    first = Concatenate(0)(y, apply("exp", y), BroadcastTo((4, 6))(Sum((0,))(y)))
    second = Stack(1)(first, apply("sin", first), Transpose((1, 0))(Transpose((1, 0))(first)))
    for found, expected in zip(
        *both(w.tape(first, second, Sum((1,))(second)), w.inputs), strict=True
    ):
        assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


def test_pieces_in_another_order():
    w = Writer()
    x = apply("tanh", apply("exp", w.input(np.linspace(-1, 1, 24).reshape(4, 6))))
    pieces = [Reshape((6, 4))(x), Reshape((3, 4))(Slice((0, 0), (2, 6))(x)), Transpose((1, 0))(x)]
    for joined in (Concatenate(0)(*pieces), Concatenate(0)(*pieces, *pieces)):
        for outputs in ([joined], [Sum((0,))(joined)], [joined, x]):
            w.agree(*outputs, rtol=1e-14, atol=1e-14)
