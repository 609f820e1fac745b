"""Squares of norms are sums of squares."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called


def asked(text, x, **options):
    engine = Engine()
    call = called(engine, text, {"x": Leaf(x)}, "gradient", **options)
    answer = [call.replay(lambda: None) for _ in range(3)][-1]
    return answer, [i.op.name for i in call.entry.paths[0].executable.tape.instructions]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", ["norm(x)**2", "norm(x) * norm(x) / 2", "sum(norm(x, axis=1)**2)"])
def test_the_square_of_a_norm(text, dtype):
    x = np.random.default_rng(0).normal(size=(20, 5)).astype(dtype)
    x[3] = 0
    answer, _ = asked(text, x)
    half = 2 if "/ 2" in text else 1
    assert_allclose(answer.value, (x * x).sum() / half, rtol=1e-5)
    assert_allclose(answer.gradients["x"], 2 * x / half, rtol=1e-5)


def test_no_root_is_divided_by_where_it_was_multiplied():
    x = np.random.default_rng(0).normal(size=(20, 5))
    _, operations = asked("sum(norm(x, axis=1)**2)", x)
    assert {"divide", "euclidean_norm"}.isdisjoint(operations)


def test_norms_at_zero_have_the_slope_zero():
    for text in ("norm(x)", "sum(norm(x, axis=1))", "norm(x)**3"):
        answer, _ = asked(text, np.zeros((3, 2)))
        assert_array_equal(answer.gradients["x"], np.zeros((3, 2)))


def test_what_is_exact_keeps_its_norms():
    x = np.random.default_rng(0).normal(size=(20, 5))
    answer, operations = asked("norm(x)**2", x, exact=True)
    assert "euclidean_norm" in operations
    assert answer.value == np.sqrt((x * x).sum(axis=(0, 1))) ** 2
