"""Nests in parts, so that conditions on indices are known: the same elements, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.backends.llvm.backend import NativeBackend
from gradwire_engine.kernels import loop_splitting
from gradwire_engine.kernels.form import Affine, Kernel, Nest, Store, Within
from gradwire_engine.kernels.loop_splitting import split
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.patterns import Pattern, Span, indexed_shape
from gradwire_engine.tape import Shape
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.conftest import called
from tests.engine.kernels.tapes import (
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
from tests.engine.kernels.test_maps import DTYPES, SEEDS


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Small nests are split, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_splitting, "_FEWEST", 1)
        yield


def spans(draw: st.DrawFn, shape: Shape) -> Pattern:
    """A box that leaves out few elements at each end, or a slice of anything."""
    found: list[Span] = []
    for n in shape:
        few = draw(st.booleans())
        start = draw(st.integers(0, min(2, n - 1) if few else n - 1))
        stop = draw(st.integers(max(start + 1, n - 2) if few else start + 1, n))
        found.append(Span(start, stop, None if few else draw(st.sampled_from([None, None, 2]))))
    return tuple(found)


@pytest.mark.thorough
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.__name__.strip("_"))
@examples(20)
@given(data=st.data(), shape=shapes().filter(len), dtype=DTYPES, seed=SEEDS)
def test_elements_that_were_moved(move, data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    x = w.input(values_of(dtype, shape, rng, extremes=True))
    z = move(data.draw, x)
    for _ in range(data.draw(st.integers(0, 3))):
        z = moved(data.draw, z)
    assume(z.type.size)
    other = w.input(values_of(dtype, z.type.shape, rng, extremes=True))
    chosen = w.input(rng.random(z.type.shape) < 0.5)
    w.agree(apply("where", chosen, apply("where", chosen, z, other), other))


@examples(150)
@given(
    data=st.data(),
    shape=st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
    dtype=st.sampled_from(["float64", "float32", "complex128", "int64"]),
    seed=SEEDS,
)
def test_sums_of_overlapping_parts(data, shape, dtype, seed):
    rng, w = np.random.default_rng(seed), Writer()
    patterns = [spans(data.draw, shape) for _ in range(data.draw(st.integers(2, 6)))]
    parts = [
        w.input(values_of(dtype, indexed_shape(shape, p, ()), rng, extremes=False))
        for p in patterns
    ]
    made = [apply("negative", part) if data.draw(st.booleans()) else part for part in parts]
    z = Placed(tuple(patterns), shape)(*made)
    w.agree(apply("add", z, z), z)


def written(nests: Any) -> Counter[tuple[int, int]]:
    """How often each element of each buffer is stored."""
    found: Counter[tuple[int, int]] = Counter()
    for nest in nests:
        for output in nest.outputs:
            if isinstance(output, Store):
                found.update((output.buffer, at) for at in places(output.at, nest))
    return found


def places(at: Affine, nest: Nest) -> Iterator[int]:
    for numbers in product(*map(range, nest.lengths)):
        yield at.offset + sum(c * i for c, i in zip(at.coefficients, numbers, strict=True))


@examples(150)
@given(data=st.data(), shape=shapes().filter(len), seed=SEEDS)
def test_parts_store_each_element_once(data, shape, seed):
    rng, w = np.random.default_rng(seed), Writer()
    z = w.input(values_of("float64", shape, rng, extremes=False))
    for _ in range(data.draw(st.integers(1, 4))):
        z = moved(data.draw, z)
    assume(z.type.size)
    whole: list[Kernel] = []

    def kept(kernel: Kernel) -> Kernel:
        whole.append(kernel)
        return kernel

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gradwire_engine.backends.llvm.kernels.split", kept)
        native(w.tape(apply("multiply", z, w.input(np.array(3.0)))))
    for kernel in whole:
        nests = [nest for nest in kernel.nests if isinstance(nest, Nest)]
        assert written(split(kernel).nests) == written(nests)


def test_a_stencil_has_no_conditions_but_at_its_ends():
    """The gradient of the sum of squares of a padded Laplacian is twice the Laplacian of it."""
    text = (
        "p = pad(u, 1)\n"
        "l = p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u\nsum(l**2)"
    )
    engine = Engine(backend=NativeBackend())
    u = np.random.default_rng(5).normal(size=(40, 50))
    call = called(engine, text, {"u": Leaf(u)}, "gradient", sources=["u"])
    *_, found = [call.replay(go_on).gradients[0] for _ in range(4)]

    def laplacian(x: np.ndarray) -> np.ndarray:
        p = np.pad(x, 1)
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * x

    assert_allclose(found, 2 * laplacian(laplacian(u)), atol=1e-12)
    w = Writer()
    x, (rows, columns) = w.input(u), (40, 50)
    patterns = [
        (Span(0, rows, None), Span(1, columns, None)),
        (Span(1, rows, None), Span(0, columns, None)),
        (Span(0, rows - 1, None), Span(0, columns, None)),
    ]
    parts = [
        apply("exp", w.input(np.ones(indexed_shape((rows, columns), p, ())))) for p in patterns
    ]
    z = Placed(tuple(patterns), (rows, columns))(*parts)
    run = native(w.tape(apply("add", z, x)))
    run.replay(w.inputs, go_on)
    (kernel,) = kernels(run)
    inner = max(kernel.form.nests, key=lambda nest: nest.steps)
    assert inner.lengths == (rows - 2, columns - 1)
    assert not [node for node in inner.nodes if isinstance(node, Within)]
