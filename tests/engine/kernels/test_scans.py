"""Running sums, products, extremes and recurrences: what NumPy gives, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.ops.arrays.rearranging import Flip
from gradwire_engine.ops.arrays.shape import Transpose
from gradwire_engine.ops.builder import Var
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.ops.sequences.cumulative import CumProd, CumSum, LinearRecurrence
from gradwire_engine.ops.sequences.running import CumArgMax, CumArgMin, CumLogSumExp
from gradwire_engine.tape import Shape
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from tests.engine.kernels.tapes import (
    Writer,
    apply,
    both,
    go_on,
    kernels,
    moved,
    native,
    same,
    shapes,
    values_of,
)
from tests.engine.kernels.test_scatters import twice

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = shapes().filter(lambda shape: any(n > 1 for n in shape))
SCANS = [CumSum, CumProd, CumArgMax, CumArgMin, CumLogSumExp, LinearRecurrence]
FLOATS = ["float64", "float32"]


def scan(draw: st.DrawFn, w: Writer, kind: Any, x: Var, rng: Any) -> Var:
    """One along an axis of more than one element, if there is one, and the other way round."""
    long = [axis for axis, n in enumerate(x.shape) if n > 1]
    if not long:
        return x
    axis = draw(st.sampled_from(long))
    back = draw(st.booleans())
    operands = [Flip((axis,))(x) if back else x]
    if kind is LinearRecurrence:
        factor = values_of(x.dtype.name, x.shape, rng, extremes=draw(st.booleans()))
        operands.insert(0, w.input(factor))
    z: Var = kind(axis)(*operands)
    return Flip((axis,))(z) if back else z


@pytest.mark.parametrize("kind", SCANS)
@examples(80)
@given(data=st.data(), shape=SHAPES, seed=SEEDS)
def test_scans(kind, data, shape, seed):
    dtype = data.draw(st.sampled_from([*FLOATS, *["int64"] * (kind in (CumSum, CumProd))]))
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=data.draw(st.booleans())))
    x = twice(x) if data.draw(st.booleans()) else x
    is_moved = data.draw(st.booleans())
    x = moved(data.draw, x) if is_moved else x
    z = scan(data.draw, w, kind, x, rng)
    beside = Sum(tuple(range(x.ndim)))(x) if dtype != "int64" and x.ndim else x
    tape = w.tape(twice(z), twice(moved(data.draw, z)), z, apply("negative", beside))
    found, expected = both(tape, w.inputs)
    if kind is CumLogSumExp:
        eps = np.finfo(dtype).eps * 100
        for one, other in zip(found[:3], expected[:3], strict=True):
            assert_allclose(one, other, rtol=eps, atol=eps)
    else:
        same([found[0], found[2]], [expected[0], expected[2]], signs=not is_moved)
        same(found[1:2], expected[1:2], signs=False)


def test_scans_of_scans():
    rng, w = np.random.default_rng(0), Writer()
    x = w.input(rng.normal(size=(13, 19)))
    rows, columns = CumSum(1)(apply("tanh", x)), CumSum(0)(apply("tanh", x))
    both_ways = CumProd(0)(apply("add", rows, columns))
    turned = CumSum(0)(Transpose((1, 0))(both_ways))
    z = LinearRecurrence(1)(rows, apply("exp", columns))
    tape = w.tape(rows, columns, both_ways, turned, z, Sum((0,))(z), Max((1,))(rows))
    run = native(tape)
    run.replay(w.inputs, go_on)
    inside = {i.op.name for kernel in kernels(run) for i in kernel.instructions}
    assert {"cumsum", "cumprod", "linear_recurrence"} <= inside
    same(*both(tape, w.inputs), rtol=1e-10, atol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("shape", [(3_000_000,), (3, 1_000_001), (1_000_001, 3), (2001, 1503)])
@pytest.mark.parametrize("axis", [0, -1])
def test_large_arrays(shape: Shape, axis: int) -> None:
    rng, w = np.random.default_rng(0), Writer()
    x = rng.normal(size=shape)
    y = apply("negative", w.input(x))
    z = CumSum(axis % len(shape))(y)
    polls: list[int] = []
    run = native(w.tape(z, apply("add", z, y)))
    replayed = run.replay(w.inputs, lambda: polls.append(1))
    assert replayed.finite
    assert len(polls) > 1
    expected = np.cumsum(-x, axis=axis)
    assert_array_equal(replayed.outputs[0], expected)
    assert_array_equal(replayed.outputs[1], expected - x)
