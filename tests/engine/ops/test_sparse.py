"""Sparse matrices and embeddings compute what dense ones and loops do."""

import numpy as np
import pytest
from gradwire_engine.check import Call, trace
from gradwire_engine.errors import BadArgument, DomainError, DtypeMismatch, ShapeMismatch
from gradwire_engine.tape import TupleType
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results
from tests.tables import cases

RNG = np.random.default_rng(28)
ROW, COLUMN = RNG.integers(0, 6, 14), RNG.integers(0, 9, 14)
VALUES = RNG.normal(size=14)
X = RNG.normal(size=(9, 4))


def run(name, *args, **kwargs):
    (z,) = results(name, *args, **kwargs)
    return np.asarray(z)


def dense(values, row, column, shape):
    a = np.zeros(shape, np.asarray(values).dtype)
    np.add.at(a, (row, column), values)
    return a


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products_are_those_of_the_dense_matrix(dtype):
    values, x = VALUES.astype(dtype), X.astype(dtype)
    if dtype.startswith("complex"):
        values = (values * (1 + 2j)).astype(dtype)
    a = dense(values, ROW, COLUMN, (6, 9))
    tolerance = (1e-5, 1e-5)
    z = run("sparse.coo_matmul", values, ROW, COLUMN, (6, 9), x)
    assert z.dtype == dtype
    assert_allclose(z, a @ x, *tolerance)
    turned = run("sparse.coo_matmul", values, ROW, COLUMN, (6, 9), x[:6], True)
    assert_allclose(turned, a.T @ x[:6], *tolerance)
    assert_array_equal(run("sparse.coo_todense", values, ROW, COLUMN, (6, 9)), a)
    sampled = run("sparse.sddmm", ROW, COLUMN, x[:6], x)
    assert_allclose(sampled, (x[:6] @ x.T)[ROW, COLUMN], *tolerance)


def test_integers_multiply_as_floats():
    z = run("sparse.coo_matmul", [2, 3], [0, 0], [1, 1], (1, 2), np.array([4, 5], "int32"))
    assert (z.dtype, z.tolist()) == ("float64", [25.0])


def laplacian(n):
    """The tridiagonal matrix (-1, 2, -1) by its nonzeros."""
    middle, left = np.arange(n), np.arange(n - 1)
    row = np.concatenate([middle, left, left + 1])
    column = np.concatenate([middle, left + 1, left])
    return np.concatenate([np.full(n, 2.0), np.full(2 * n - 2, -1.0)]), row, column


def test_a_large_sparse_system_is_solved_at_the_cost_of_its_nonzeros():
    n = 20_000
    k = np.arange(1, n + 1)
    z = run("sparse.coo_solve", *laplacian(n), np.ones(n))
    assert_allclose(z, k * (n + 1 - k) / 2, rtol=1e-9)


def test_gradients_are_those_of_dense_algebra(ask):
    """Of a quadratic form of the solution, in the nonzeros and the right-hand side."""
    values, row, column = laplacian(5)
    y = RNG.normal(size=5)
    variables = {"v": values, "y": y}
    literal = f"{row.tolist()}, {column.tolist()}"
    sparse = ask.gradients(f"sum(sparse.coo_solve(v, {literal}, y) ** 2)", variables)
    a = dense(values, row, column, (5, 5))
    bars = ask.gradients("sum(solve(a, y) ** 2)", {"a": a, "y": y})
    assert_allclose(sparse["v"], bars["a"][row, column])
    assert_allclose(sparse["y"], bars["y"])


def test_a_singular_sparse_matrix_is_a_domain_error(ask):
    with pytest.raises(DomainError, match="not invertible"):
        ask.value("sparse.coo_solve([1.0, 2.0], [0, 0], [0, 1], x)", {"x": np.ones(2)})


def test_what_is_not_finite_gives_nan():
    z = run("sparse.coo_solve", np.array([1.0, np.nan]), np.arange(2), np.arange(2), np.ones(2))
    assert np.isnan(z).all()


@pytest.mark.parametrize("place", [3, -1])
def test_places_outside_are_refused(ask, place):
    with pytest.raises(BadArgument, match="out of range"):
        ask.value(
            "sparse.coo_matmul([1.0], r, [0], (3, 1), x)", {"x": np.ones(1), "r": np.array([place])}
        )


def test_nothing_dense_is_made():
    """Of a matrix with more elements than the budget, all instructions stay small."""
    n = 1 << 16
    row, column = np.arange(5) * 1000, np.arange(5)
    call = Call.of("sparse.coo_matmul", np.ones(5), row, column, (n, n), np.ones(n))
    b, _, _ = trace(call.record, call.values)
    sizes = [i.type.nbytes for i in b.instructions if not isinstance(i.type, TupleType)]
    assert max(sizes) == 8 * n


TABLE = RNG.normal(size=(5, 3))
BAGS = np.array([[2, 0, 4], [1, 3, 1]])


def test_embeddings_are_rows():
    assert_array_equal(run("embedding", BAGS, TABLE), TABLE[BAGS])
    assert_array_equal(run("embedding", BAGS, TABLE, 0), TABLE[BAGS])


def test_the_padding_row_is_constant(ask):
    text = "sum(embedding([[0, 4], [4, 2]], w, padding_idx=-1))"
    assert ask.gradients(text, {"w": TABLE})["w"].sum(1).tolist() == [3, 0, 3, 0, 0]


@pytest.mark.parametrize(("mode", "reduce"), [("sum", np.sum), ("mean", np.mean), ("max", np.max)])
def test_bags(mode, reduce):
    rows = np.stack([reduce(TABLE[bag], axis=0) for bag in BAGS])
    assert_allclose(run("embedding_bag", BAGS, TABLE, mode=mode), rows)
    flat = run("embedding_bag", BAGS.ravel(), TABLE, np.array([0, 3, 3]), mode)
    assert_allclose(flat, [rows[0], np.zeros(3), rows[1]])
    ended = run("embedding_bag", BAGS.ravel(), TABLE, np.array([0, 3, 6]), mode, None, True)
    assert_allclose(ended, rows)
    padded = run("embedding_bag", BAGS, TABLE, mode=mode, padding_idx=1)
    assert_allclose(padded, [rows[0], TABLE[3]])


def test_half_precision_is_refused_with_advice():
    call = Call.of("sparse.coo_matmul", VALUES.astype("float16"), ROW, COLUMN, (6, 9), X[:, 0] > 0)
    with pytest.raises(DtypeMismatch) as caught:
        trace(call.record, call.values)
    assert caught.value.hint == "astype('float32')"


IDS = "tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [3, 1, 1], [3, 2])"
V = np.array([2.0, -1.0, 0.5])


@cases("text, expected")
def test_names_of_other_libraries(ask, text, expected):
    found = ask.value(text, {"v": V, "x": X[:3], "y": X[:2], "w": TABLE})
    assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "tf.sparse.to_dense(x)",
        "tf.sparse.to_dense(tf.SparseTensor([0, 1], v, [2, 3]))",
        "torch.sparse.mm(x, x)",
        "torch.sparse.mm(torch.sparse_coo_tensor([0, 1], v, (2, 3)), x)",
        f"tf.nn.embedding_lookup_sparse(w, {IDS}, combiner='max')",
    ],
)
def test_other_libraries_need_a_sparse_matrix(ask, text):
    with pytest.raises((BadArgument, ShapeMismatch)):
        ask.value(text, {"v": V, "x": X[:3], "w": TABLE})
