"""Loops divided where pieces begin, and windows on what neighbours share: by NumPy, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwire_engine.backends.numpy import fusion, sweeps
from gradwire_engine.backends.numpy.executable import NumpyExecutable
from gradwire_engine.backends.numpy.fusion import SweptKernel
from gradwire_engine.backends.reference.backend import REFERENCE
from gradwire_engine.kernels.build import KernelBuilder
from gradwire_engine.kernels.form import Apply, Kernel, Nest, Reduce, Within
from gradwire_engine.kernels.views import Views
from gradwire_engine.kernels.windows import Windows
from gradwire_engine.ops.arrays.joining import Concatenate
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.slicing import Slice
from gradwire_engine.ops.linalg.contraction import Contract
from gradwire_engine.ops.patterns import Span
from gradwire_engine.ops.reductions.reductions import Max, Sum
from gradwire_engine.tape import Tape
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.kernels.tapes import Writer, apply, go_on, moved, shapes, values_of

SEEDS = st.integers(0, 2**32 - 1)


def by_arrays(tape: Tape) -> Kernel:
    """All of a tape but its inputs and constants as one kernel."""
    made = tape.instructions
    computed = [slot for slot, i in enumerate(made) if i.args and not i.op.views]
    return KernelBuilder(made, Views(made), computed, [*tape.outputs], by_arrays=True).kernel()


def neighbours(w: Writer, n: int) -> tuple[Any, Any]:
    """``r[1:]`` and ``r[:-1]`` of something computed."""
    x = w.input(np.linspace(0, 1, n))
    r = apply("add", x, x)
    return Slice((1,), (n,))(r), Slice((0,), (n - 1,))(r)


def test_loops_are_divided_where_pieces_begin() -> None:
    w = Writer()
    x, y = w.input(np.ones(100)), w.input(np.ones(50))
    z = Concatenate(0)(apply("add", x, x), apply("multiply", y, y))
    kernel = by_arrays(w.tape(z))
    nests = [nest for nest in kernel.nests if isinstance(nest, Nest)]
    assert sorted([nest.lengths for nest in nests]) == [(50,), (100,)]
    assert not any(isinstance(node, Within) for nest in nests for node in nest.nodes)


def test_nests_of_like_domains_are_one_where_both_are() -> None:
    w = Writer()
    after, before = neighbours(w, 1000)
    gap = apply("subtract", after, before)
    back = Placed(((Span(1, None, None),), (Span(None, -1, None),)), (1000,))(gap, gap)
    kernel = by_arrays(w.tape(Contract("a,a->")(gap, gap), back))
    lengths = [nest.lengths for nest in kernel.nests if isinstance(nest, Nest)]
    assert lengths == [(), (998,), ()]
    main = kernel.nests[1]
    assert isinstance(main, Nest)
    assert {type(root).__name__ for root in main.roots} == {"Reduce", "Store"}
    sums = [root for nest in kernel.nests if isinstance(nest, Nest) for root in nest.roots]
    assert len([root for root in sums if isinstance(root, Reduce)]) == 2  # of the last, none


def test_what_neighbours_share_is_computed_once() -> None:
    w = Writer()
    after, before = neighbours(w, 1000)
    kernel = by_arrays(w.tape(apply("multiply", after, before)))
    (nest,) = kernel.nests
    assert isinstance(nest, Nest)
    arrays = Windows(nest).arrays
    (shared,) = [a for a in arrays if isinstance(a.node, Apply) and a.node.function == "add"]
    assert (shared.high - shared.low, shared.loops) == (1, (True,))


def test_what_is_far_apart_is_computed_twice() -> None:
    w = Writer()
    x = w.input(np.ones(1000))
    r = apply("add", x, x)
    halves = [Slice((at,), (at + 500,))(r) for at in (0, 500)]
    (nest,) = by_arrays(w.tape(apply("multiply", *halves))).nests
    assert isinstance(nest, Nest)
    arrays = Windows(nest).arrays
    assert [a.high - a.low for a in arrays] == [0] * len(arrays)
    assert len([a for a in arrays if isinstance(a.node, Apply)]) == 3


@st.composite
def programs(draw: st.DrawFn) -> tuple[Tape, list[Any]]:
    """Arithmetic on arrays that are moved, and reductions of all of them."""
    w = Writer()
    rng = np.random.default_rng(draw(SEEDS))
    made = [w.input(values_of("float64", draw(shapes()), rng, extremes=False)) for _ in range(2)]
    for _ in range(draw(st.integers(1, 8))):
        x = draw(st.sampled_from(made[-3:]))
        step = draw(st.integers(0, 3))
        if step == 0:
            made.append(apply(draw(st.sampled_from(["sin", "square", "negative"])), x))
        elif step == 1:
            alike = [y for y in made if y.shape == x.shape]
            name = draw(st.sampled_from(["add", "subtract", "multiply", "maximum"]))
            made.append(apply(name, x, draw(st.sampled_from(alike))))
        else:
            made.append(moved(draw, x))
    last = made[-1]
    outputs = [last, draw(st.sampled_from(made))]
    if last.ndim and last.type.size:
        axes = tuple(range(last.ndim))
        labels = "abcdef"[: last.ndim]
        outputs += [Sum(axes)(last), Max(axes)(last), Contract(f"{labels},{labels}->")(last, last)]
    return w.tape(*outputs), w.inputs


@examples(75)
@given(programs(), st.sampled_from([64, 1 << 20]), st.integers(1, 3))
def test_blocks_give_what_instructions_give(
    drawn: tuple[Tape, list[Any]], block: int, threads: int
) -> None:
    tape, inputs = drawn
    expected = REFERENCE.compile(tape, go_on).replay(inputs, go_on).outputs
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "SMALLEST_BYTES", 1)
        patch.setattr(fusion, "LEAST_SPARED", 0)
        patch.setattr(fusion, "LEAST_SHARE", 0)
        patch.setattr(sweeps, "BLOCK_BYTES", block)
        patch.setattr(sweeps, "ALIGNED", 3)
        patch.setattr(sweeps, "FEWEST_ELEMENTS", 1)
        patch.setattr(sweeps, "FEW_STEPS", 4)
        run = NumpyExecutable(tape, go_on, threads=threads)
        for _ in range(2):
            found = run.replay(inputs, go_on)
    for x, y in zip(found.outputs, expected, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)


def test_sums_do_not_depend_on_the_number_of_threads() -> None:
    x = np.random.default_rng(0).normal(size=1_000_000)
    found = []
    for threads in (1, 2, 3, 5):
        w = Writer()
        v = w.input(x)
        z = apply("multiply", apply("sin", v), apply("add", apply("multiply", v, v), v))
        run = NumpyExecutable(w.tape(Sum((0,))(z)), go_on, threads=threads)
        outputs = [run.replay([x], go_on).outputs[0] for _ in range(2)]
        assert any(isinstance(i.op, SweptKernel) for i in run.replayed.instructions)
        found.append(outputs[-1])
    assert len({*found}) == 1
