"""Jacobians: closed forms, by rows and by columns, many products at once."""

import numpy as np
import pytest
from gradwire_engine.autodiff import matrices
from gradwire_engine.autodiff.matrices import jacobian
from gradwire_engine.check import interpret, trace
from gradwire_engine.ops.base import FUNCTIONS
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(8)


def of(recording, *values, mode="auto"):
    """The Jacobians of what ``recording`` gives, and how many instructions they took."""
    b, inputs, (target,) = trace(recording, values)
    before = len(b.vars)
    found = jacobian(b, target, inputs, mode)
    results = interpret(b.tape([x for x in found if x is not None]), values)
    return [None if x is None else results[x.slot] for x in found], len(b.vars) - before


def product(b, a, x):
    return FUNCTIONS["matmul"].record(b, a, x)


@pytest.mark.parametrize(("rows", "columns"), [(2, 5), (5, 2), (3, 3), (1, 4), (0, 3), (3, 0)])
def test_of_a_product(rows, columns):
    a, x = RNG.normal(size=(rows, columns)), RNG.normal(size=columns)
    (by_a, by_x), _ = of(product, a, x)
    assert_allclose(by_x, a)
    assert_allclose(by_a, np.einsum("ik,j->ikj", np.eye(rows), x))


def test_parts_that_fit_in_memory_join(monkeypatch):
    a, x = RNG.normal(size=(5, 7)), RNG.normal(size=7)
    whole, _ = of(product, a, x)
    monkeypatch.setattr(matrices, "_AT_ONCE_BYTES", 2 * a.nbytes)
    parts, _ = of(product, a, x)
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other)


@pytest.mark.parametrize("function", ["tanh", "cumsum", "sort", "softmax"])
def test_the_tape_does_not_grow_with_the_number_of_rows(function):
    def recording(b, x):
        return FUNCTIONS[function].record(b, x)

    assert of(recording, RNG.normal(size=3))[1] == of(recording, RNG.normal(size=300))[1]


def test_columns_where_there_are_fewer():
    (found,), _ = of(lambda b, x: FUNCTIONS["outer"].record(b, x, x), np.array([2.0, 3.0]))
    expected = [[[4, 0], [3, 2]], [[3, 2], [0, 6]]]
    assert_allclose(found, expected)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_each_has_its_sources_dtype_in_both_modes(mode):
    a, x = RNG.normal(size=(3, 2)).astype(np.float32), RNG.normal(size=2)
    (by_a, by_x), _ = of(product, a, x, mode=mode)
    assert (by_a.dtype, by_x.dtype) == (np.float32, np.float64)


def test_none_without_a_path():
    (by_x, by_y), _ = of(lambda _, x, y: x, np.ones(2), np.ones(3))
    assert_array_equal(by_x, np.eye(2))
    assert by_y is None
