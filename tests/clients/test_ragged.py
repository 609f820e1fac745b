import doctest

import gradwire
import numpy as np
import pytest
import scipy.sparse
from gradwire import ragged
from gradwire.values import encode

RNG = np.random.default_rng(5)
ROWS = gradwire.RaggedArray.of([[1.0, 2.0], [], [3.0]])
A = scipy.sparse.random_array((30, 20), density=0.1, rng=RNG)


def test_a_ragged_array_has_a_ragged_gradient(client):
    answer = client.gradient("sum(r**2, axis=1)", {"r": ROWS, "x": 1.0})
    np.testing.assert_array_equal(answer.value, [5.0, 0.0, 9.0])
    found = answer.gradients["r"]
    assert isinstance(found, gradwire.RaggedArray)
    assert [row.tolist() for row in found] == [[2.0, 4.0], [], [6.0]]
    assert answer.gradients["x"] is None


@pytest.mark.parametrize("given", [A, A.tocsr(), gradwire.SparseArray.from_scipy(A)], ids=type)
def test_a_sparse_array_has_a_sparse_gradient(client, given):
    x = RNG.normal(size=20)
    answer = client.gradient("tanh(a @ x)", {"a": given, "x": x}, sources=["a", "x"])
    slope = 1 - np.tanh(A @ x) ** 2
    found, by_x = answer.gradients
    np.testing.assert_allclose(answer.value, np.tanh(A @ x))
    np.testing.assert_allclose(found.toarray(), (A != 0).toarray() * np.outer(slope, x))
    np.testing.assert_allclose(by_x, A.T @ slope)


def test_a_gradient_may_be_sent_as_a_variable(client):
    small = gradwire.SparseArray(np.array([[1], [0]]), np.ones((2, 3), np.float32), (2, 3))
    for value in (ROWS, small, A):
        first = client.gradient("sum(v.values**2)", {"v": value}).gradients["v"]
        again = client.evaluate("v", {"v": first}).outputs
        assert first.values.dtype == value.values.dtype if value is not A else np.float64
        np.testing.assert_array_equal(again.values, first.values)


def test_a_batch_gives_one_gradient_per_example(client):
    program, xs = "sum(a @ x) * sum(r)", RNG.normal(size=(3, 20))
    found = client.gradient(program, {"a": A, "r": ROWS, "x": xs}, batch=["x"]).gradients
    for i, x in enumerate(xs):
        one = client.gradient(program, {"a": A, "r": ROWS, "x": x}).gradients
        np.testing.assert_allclose(found["a"][i].toarray(), one["a"].toarray())
        np.testing.assert_allclose(found["r"][i].values, one["r"].values)


def test_sparse_gradients_of_table_rows(client):
    table, ids = RNG.normal(size=(100, 3)), np.array([7, 99, 7])
    given = {"table": table, "ids": ids}
    dense = client.gradient("table[ids]**2", given, sources="table").gradients
    for asked, count in ((True, 3), ("summed", 2)):
        found = client.gradient("table[ids]**2", given, sources="table", sparse_gradients=asked)
        assert len(found.gradients.values) == count
        np.testing.assert_allclose(found.gradients.toarray(), dense)


async def test_the_async_client_supports_them_too(awaiting_client):
    answer = await awaiting_client.gradient("sum(r)", {"r": {"value": ROWS, "trainable": False}})
    assert answer.gradients["r"] is None
    assert answer.unconnected["r"].reason == "not_trainable"


def test_composite_arrays_can_be_combined():
    document = encode([ROWS, 1.0], "v")
    assert document[1] == {"value": 1.0}
    np.testing.assert_equal(
        document[0], {"values": np.array([1.0, 2.0, 3.0]), "row_splits": np.array([0, 2, 2, 3])}
    )


def test_rows_keep_the_dtype():
    rows = [RNG.normal(size=(n, 2)).astype(np.float32) for n in (0, 3, 1)]
    found = gradwire.RaggedArray.of(rows)
    assert found.values.dtype == np.float32
    assert len(found) == 3
    for row, expected in zip(found, rows, strict=True):
        np.testing.assert_array_equal(row, expected)
    np.testing.assert_array_equal(found[-1], rows[-1])
    with pytest.raises(IndexError):
        found[3]
    assert len(gradwire.RaggedArray.of([]).values) == 0


def test_the_example_of_the_docstring_runs():
    result = doctest.testmod(ragged)
    assert (result.attempted, result.failed) == (2, 0)
