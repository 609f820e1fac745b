import doctest

import gradwire
import numpy as np
import pytest
from gradwire import sparse

N = 400
BAND = "y = x[1:] * x[:-1]\nf = sum(y) * w"
POINT = {"x": np.linspace(1.0, 2.0, N), "w": np.float32(3)}


def test_a_coo_jacobian_equals_the_dense_one(client):
    asked = {"target": "y", "sources": ["x", "w"]}
    found, none = client.jacobian(BAND, POINT, **asked, format="coo").jacobian
    expected, _ = client.jacobian(BAND, POINT, **asked).jacobian
    assert found.shape == expected.shape == (N - 1, N)
    assert len(found.values) == 2 * (N - 1)
    np.testing.assert_array_equal(found.toarray(), expected)
    np.testing.assert_array_equal(found.to_scipy().toarray(), expected)
    assert none is None


def test_a_coo_hessian_has_the_structure_of_the_sources_twice(client):
    answer = client.hessian(BAND, POINT, target="f", sources=("x", "w"), format="coo")
    expected = client.hessian(BAND, POINT, target="f", sources=("x", "w")).hessian
    assert isinstance(answer.gradients[0], np.ndarray)
    for row, dense in zip(answer.hessian, expected, strict=True):
        for block, whole in zip(row, dense, strict=True):
            assert block.shape == whole.shape
            assert block.values.dtype == whole.dtype
            np.testing.assert_array_equal(block.toarray(), whole)


def test_a_batch_has_one_matrix_per_example(client):
    x = np.random.default_rng(0).normal(size=(4, 6))
    asked = {"target": "y", "sources": "x", "batch": ["x"]}
    found = client.jacobian(BAND, {"x": x, "w": 1.0}, **asked, format="coo").jacobian
    expected = client.jacobian(BAND, {"x": x, "w": 1.0}, **asked).jacobian
    for one, whole in zip(found, expected, strict=True):
        assert len(one.values) == 2 * 5
        np.testing.assert_array_equal(one.toarray(), whole)


async def test_the_async_client_reads_coo_too(awaiting_client):
    answer = await awaiting_client.jacobian("x * 2", {"x": [1.0, 2.0]}, format="coo")
    np.testing.assert_array_equal(answer.jacobian["x"].toarray(), [[2, 0], [0, 2]])


@pytest.mark.parametrize("ahead", range(4))
def test_repeated_slices_are_added(ahead):
    rng = np.random.default_rng(ahead)
    shape = (3, 2, 4)
    indices = rng.integers(0, shape[:ahead], size=(9, ahead))
    values = rng.normal(size=(9, *shape[ahead:]))
    expected = np.zeros(shape)
    for index, value in zip(indices, values, strict=True):
        expected[tuple(index)] += value
    given = gradwire.SparseArray(indices, values, shape)
    np.testing.assert_allclose(given.toarray(), expected)
    np.testing.assert_allclose(given.to_scipy().toarray(), expected)


def test_the_example_of_the_docstring_runs():
    shown = {"np": np, "SparseArray": gradwire.SparseArray}
    assert doctest.testmod(sparse, extraglobs=shown).attempted == 1
    assert doctest.testmod(sparse, extraglobs=shown).failed == 0
