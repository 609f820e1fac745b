"""Sparse and ragged tensors inside programs are what their dense arrays are."""

import numpy as np
import pytest
from gradwire_engine import Leaf, Ragged, Sparse
from gradwire_engine.errors import BadArgument, EngineError, InputError
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

RNG = np.random.default_rng(21)
INDICES = np.array([[0, 1], [2, 0], [1, 3], [0, 1]])  # one place twice: these add up
SPLITS = np.array([0, 2, 2, 5])
X, Y, W = RNG.normal(size=(4, 2)), RNG.normal(size=(5, 3)), RNG.normal(size=4)


def sparse(values, shape=(3, 4), indices=INDICES):
    return Sparse({"indices": Leaf(indices, False), "values": Leaf(np.asarray(values))}, shape)


def ragged(values, splits=SPLITS):
    return Ragged({"values": Leaf(np.asarray(values)), "row_splits": Leaf(splits, False)})


def dense(values):
    whole = np.zeros((3, 4, *values.shape[1:]), values.dtype)
    np.add.at(whole, tuple(INDICES.T), values)
    return whole


@pytest.fixture
def given():
    return {
        "a": sparse(RNG.normal(size=4)),
        "s": sparse(RNG.normal(size=(4, 2)), (3, 4, 2)),
        "r": ragged(RNG.normal(size=5)),
        "m": ragged(RNG.normal(size=(5, 2))),
        "x": Leaf(X),
        "y": Leaf(Y),
        "w": Leaf(W),
    }


@cases("text, of_dense")
def test_a_sparse_tensor_is_its_dense_array(ask, given, text, of_dense):
    a, s = given["a"]["values"].value, given["s"]["values"].value
    found = ask.answer(text, given, sources=["a", "s"], unconnected="zero")
    arrays = {"A": dense(a), "S": dense(s), "x": X, "y": Y, "w": W}
    expected = ask.answer(of_dense, arrays, sources=["A", "S"], unconnected="zero")
    assert_allclose(found.value, expected.value, rtol=1e-12)
    for own, whole in zip(found.gradients, expected.gradients, strict=True):
        assert_array_equal(own["indices"], INDICES)
        assert own["shape"].tolist() == list(whole.shape)
        assert_allclose(own["values"], whole[tuple(INDICES.T)], rtol=1e-12, atol=1e-14)


@cases("text, of_row")
def test_a_ragged_tensor_is_its_rows(ask, given, text, of_row):
    values = given["r"]["values"].value
    rows = np.split(values, SPLITS[1:-1])
    found = ask.answer(text, given, sources="r").gradients
    expected = [ask.gradients(of_row, {"q": q, "w": W}, sources="q") for q in rows]
    assert_array_equal(found["row_splits"], SPLITS)
    assert_allclose(found["values"], np.concatenate(expected), rtol=1e-12)


@pytest.mark.parametrize("values", [np.array([1.0, 2.0, 4.0], np.float32), np.eye(3, 2)])
def test_the_mean_of_an_empty_row_is_nan(ask, values):
    found = ask.value("mean(r, axis=1)", {"r": ragged(values, np.array([0, 2, 2, 3]))})
    assert found.dtype == values.dtype
    assert_array_equal(found[::2], [values[:2].mean(axis=0), values[2]])
    assert np.isnan(found[1]).all()


def test_values_may_have_further_axes(ask, given):
    values = given["m"]["values"].value
    by_rows = [part.sum(axis=0) for part in np.split(values, SPLITS[1:-1])]
    assert_allclose(ask.value("sum(m, axis=1)", given), by_rows)
    whole = ask.value("to_dense(m)", given)
    assert whole.shape == (3, 3, 2)
    assert_allclose(whole[2], values[2:])
    assert_allclose(ask.value("sum(m, axis=2)", given)["values"], values.sum(axis=1))
    assert_allclose(ask.value("max(m)", given), values.max())


def test_an_axis_may_be_an_integer_variable(ask, given):
    one = given | {"n": Leaf(np.array(1))}
    assert_array_equal(ask.value("sum(r, n)", one), ask.value("sum(r, 1)", given))
    assert_array_equal(ask.value("sum(a, axis=n)", one), ask.value("sum(a, 1)", given))


def test_rows_of_other_lengths_are_recorded_anew(ask):
    for splits in ([0, 1, 2], [0, 2, 2], [0, 0, 2]):
        given = {"r": ragged(np.array([1.0, 2.0]), np.array(splits)), "n": Leaf(np.array(0))}
        assert ask.value("to_dense(r)", given).shape == (2, max(np.diff(splits)))
        assert ask.value("r[n].size", given) == splits[1]


def test_ragged_tensors_go_together_where_their_rows_do(ask, given):
    other = ragged(RNG.normal(size=5))
    found = ask.gradients("r * o", {"r": given["r"], "o": other}, sources="r")
    assert_array_equal(found["values"], other["values"].value)
    with pytest.raises(EngineError, match="row_splits are equal"):
        ask.value("r * o", {"r": given["r"], "o": ragged(np.ones(5), np.array([0, 1, 2, 5]))})


def test_gradients_inside_programs_have_the_form(ask, given):
    found = ask.value("grad(sum(a @ w), a), grad(sum(r**3), r)", given)
    assert_allclose(found[0]["values"], W[INDICES[:, 1]])
    assert_allclose(found[1]["values"], 3 * given["r"]["values"].value ** 2)
    second = ask.gradients("sum(grad(sum(r**3), r)**2)", given, sources="r")
    assert_allclose(second["values"], 36 * given["r"]["values"].value ** 3)


def test_a_tensor_made_in_the_program_is_a_source(ask):
    text = "a = tf.SparseTensor([[0, 1], [1, 0]], 2 * v, [2, 2])\ny = to_dense(a)**2"
    found = ask.gradients(text, {"v": np.array([1.0, 2.0])}, target="y", sources={"a": "a"})["a"]
    assert_array_equal(found["values"], [4.0, 8.0])
    assert_array_equal(found["indices"], [[0, 1], [1, 0]])


def test_parts_may_be_named_and_assigned(ask, given):
    found = ask.answer(
        "a.values.assign(2 * a.values)\nsum(a @ w)", given, sources=["a", "a.values"]
    )
    (whole, part) = found.gradients
    assert_allclose(whole["values"], W[INDICES[:, 1]])
    assert_array_equal(whole["values"], part)
    assert [*found.updates] == ["a.values"]


@pytest.mark.parametrize("kind", ["jacobian", "hessian"])
def test_matrices_are_of_the_values(ask, given, kind):
    text = "(a @ w)**2" if kind == "jacobian" else "sum((a @ w)**2)"
    found = ask.answer(text, given, kind=kind, sources="a").derivatives[kind]
    same = text.replace("a @ w", "tf.sparse.to_dense(tf.SparseTensor(i, v, [3, 4])) @ w")
    parts = {"i": INDICES, "v": given["a"]["values"].value, "w": W}
    expected = ask.answer(same, parts, kind=kind, sources="v").derivatives[kind]
    assert_allclose(found, expected, rtol=1e-12)
    coo = ask.value(f"to_dense(sparse.{kind}({text}, a))", given)
    assert_allclose(coo, expected, rtol=1e-12)
    inside = ask.value(f"{kind}({text}, [a])", given)
    assert_allclose(inside if kind == "jacobian" else inside[0], [expected], rtol=1e-12)


def test_sums_of_integers_have_numpys_dtypes(ask):
    for values in (np.array([True, False, True, True]), np.array([1, 2, 3, 4], np.int32)):
        found = ask.value("sum(a, axis=1), sum(a), to_dense(a)", {"a": sparse(values)})
        assert [x.dtype for x in found] == [np.int64, np.int64, values.dtype]


def test_a_check_is_of_the_values(ask, given):
    answer = ask.answer("sum(tanh(a @ x)) + sum(r**2)", given, kind="check", sources=["a", "r"])
    assert all(check.ok for check in answer.checks.values())
    assert answer.derivatives["differences"][0].keys() == {"indices", "values", "shape"}


def test_untrainable_ones_and_such_without_a_path_are_null(ask, given):
    given["r"]["values"] = given["r"]["values"]._replace(trainable=False)
    answer = ask.answer("sum(r) + sum(a)", given, sources=["a", "r", "s"])
    assert answer.gradients[1:] == [None, None]
    reasons = {path: why.reason for path, why in answer.unconnected.items()}
    assert reasons == {"r": "not_trainable", "s": "no_path"}


def test_the_shape_is_part_of_the_type(ask):
    for shape in ((3, 4), (3, 5), (4, 4)):
        whole = ask.value("a.to_dense()", {"a": sparse(np.ones(4), shape)})
        assert whole.shape == shape


@pytest.mark.parametrize(
    "text",
    [
        "sin(a)",
        "a + s",
        "a * a",
        "r + a",
        "a * x",
        "2 / a",
        "a @ a",
        "s @ x",
        "[v for v in a]",
        "r * [[w[0]]]",
        "r * w[:1][newaxis]",
        "[1, 2, 3, 4, 5] * r",
        "max(a)",
        "a.foo",
        "sum(a, dim=0)",
        "r @ x",
        "r + w",
        "r * a",
        "sum(r, axis=0)",
        "cumsum(r)",
        "r[3]",
        "exp(r, 3)",
        "tf.sparse.to_dense(r)",
        "tf.sparse.to_dense(s)",
        "torch.sparse.mm(p, x)",
        "p @ x",
        "tf.SparseTensor([0, 1], w[:2], [2, 3])",
        "tf.SparseTensor([[0.5, 1]], w[:1], [2, 3])",
    ],
)
def test_what_has_no_meaning_is_refused_with_its_place(ask, given, text):
    given["p"] = sparse(np.ones((4, 4)), (3, 4), INDICES[:, :1])
    with pytest.raises(EngineError) as refused:
        ask.value(text, given)
    assert refused.value.at is not None
    assert refused.value.at.line == 1


@cases("text, error, message")
def test_it_is_refused_where_something_else_is_taken(ask, given, text, error, message):
    with pytest.raises(error, match=message) as caught:
        ask.value(text, given)
    assert type(caught.value) is error


def test_examples_share_what_comes_in_parts(ask, given):
    stacked = given | {"w": Leaf(np.stack([W, 2 * W]))}
    found = ask.answer("sum((a @ w)**2)", stacked, sources="a", batch={"w": 0}).gradients
    one = ask.gradients("sum((a @ w)**2)", given, sources="a")
    assert_allclose(found["values"], [one["values"], 4 * one["values"]])
    with pytest.raises(InputError, match="no examples"):
        ask.answer("sum(a)", given, batch={"a": 0})


def test_a_name_below_a_tensor_is_taken(ask, given):
    with pytest.raises(InputError, match="another variable"):
        ask.value("1.0", {"a": given["a"], "a.more": Leaf(W)})
    with pytest.raises(InputError, match="another variable"):
        ask.value("1.0", {"a.values": Leaf(W), "a": given["a"]})


def test_a_row_of_a_ragged_tensor_is_an_array(ask, given):
    rows = ask.value("r[0], r[1], r[-1]", given)
    for found, expected in zip(
        rows, np.split(given["r"]["values"].value, SPLITS[1:-1]), strict=True
    ):
        assert_array_equal(found, expected)
    with pytest.raises(BadArgument, match="out of range"):
        ask.value("r[-4]", given)
