"""Gradients by slices add up to the dense ones, and nothing of the whole shape is made."""

import numpy as np
import pytest
from gradwire_engine.errors import InputError, OverBudget
from numpy.testing import assert_allclose, assert_array_equal

ROWS = 5
TABLE = np.random.default_rng(3).uniform(0.5, 1.5, (ROWS, 3))
#: Functions of the table ``x``, of ``ids`` and, where they read more, of ``more``.
READS = [
    "x[ids]**2",
    "sin(take(x, ids, axis=0)) * x[more]",
    "stack([x[ids], gather(x, ids)])**2",
    "x[reshape(ids, (2, -1))] * x[2 * more[0]]",
    "embedding(ids % 5, x, padding_idx=2)**3",
    "embedding_bag(ids % 5, x, [0, 1], mode='mean')**2",
    "embedding_bag(ids % 5, x, [0, 2], mode='sum', per_sample_weights=x[ids, 0] * 0 + 2.0)**2",
    "embedding_bag(ids % 5, x, [0, 2], mode='max') * sum(x[more], axis=0)",
    "where(x[ids] > 1, log(x[ids] - 1), x[ids])",
    "x[x[:, 0] > 1]**2",
    "checkpoint(lambda rows: sin(rows))(x[ids])",
    "h = x[ids]\nx.assign(2 * x)\nh * x[more]",
    "x[argsort(x[:, 1])] * x[ids[0]]",
]


def whole(found):
    """The array that slices are of."""
    if not isinstance(found, dict):
        return found
    total = np.zeros(found["shape"], found["values"].dtype)
    np.add.at(total, found["indices"][:, 0], found["values"])
    return total


@pytest.mark.parametrize("ids", [[3, 1, 4, 0], [2, -3, 2, 2], [-5, -1, 0, 4]], ids=str)
@pytest.mark.parametrize("text", READS)
def test_slices_add_up_to_the_dense_gradient(ask, text, ids):
    given = {"x": TABLE, "ids": np.array(ids, np.int32), "more": np.array([1, -1, 1, 0])}
    expected = ask.gradients(text, given, sources="x")
    for repeats in ("listed", "summed"):
        found = ask.gradients(text, given, sources="x", slices=repeats)
        assert_allclose(whole(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text", READS[:2] + READS[4:6] + READS[8:9] + READS[10:11])
def test_what_is_only_gathered_has_slices(ask, text):
    given = {"x": TABLE, "ids": np.array([3, 0, 3, -1]), "more": np.array([1, -1, 1, 0])}
    listed, summed = (
        ask.gradients(text, given, sources="x", slices=s) for s in ("listed", "summed")
    )
    assert listed["shape"].tolist() == summed["shape"].tolist() == [ROWS, 3]
    assert listed["indices"].dtype == np.int64
    assert (np.diff(summed["indices"][:, 0]) > 0).all()
    assert set(summed["indices"].flat) == set(listed["indices"].flat)


def test_seeds_and_other_sources_are_as_ever(ask):
    given = {"x": TABLE, "w": np.array([1.0, 2.0]), "n": np.array([1, 2])}
    text, seeds = "y = w * x[n, :][:, 0]", np.array([10.0, 100.0])
    found = ask.answer(text, given, seeds, slices="listed", unconnected="zero").gradients
    dense = ask.answer(text, given, seeds, unconnected="zero").gradients
    assert_allclose(whole(found["x"]), dense["x"])
    assert_array_equal(found["w"], dense["w"])
    assert_array_equal(found["n"], [0, 0])


def test_a_target_has_a_dense_gradient_in_itself(ask):
    found = ask.gradients("y = x[[1, 1]]", {"x": TABLE}, target=["x", "y"], slices="listed")
    assert_array_equal(found["x"][:, 0], [1.0, 3.0, 1.0, 1.0, 1.0])


def test_an_array_without_axes_has_no_slices(ask):
    found = ask.gradients("x[...] * x[newaxis]", {"x": 3.0}, slices="listed")
    assert_array_equal(found["x"], 6.0)


def test_without_a_path_there_is_the_reason(ask):
    answer = ask.answer("sum(stop_gradient(x[[1]]))", {"x": TABLE}, slices="listed")
    assert answer.gradients == {"x": None}
    assert answer.unconnected["x"].reason == "stop_gradient"


def test_nothing_of_the_whole_shape_is_made(ask_within):
    table = np.ones(10_000_000, np.float32)
    engine = ask_within(array_bytes=1000, total_bytes=table.nbytes + 1000)
    given = {"x": table, "ids": np.array([9_999_999, 7, 7])}
    found = engine.gradients("sum(x[ids]**2)", given, sources="x", slices="summed")
    assert found["indices"].tolist() == [[7], [9_999_999]]
    assert found["values"].tolist() == [4.0, 2.0]
    with pytest.raises(OverBudget):
        engine.gradients("sum(x[ids]**2)", given, sources="x")


def test_examples_have_their_own_slices(ask):
    given = {"x": TABLE, "ids": np.array([[0, -1], [2, 2]]), "w": np.array([1.0, 3.0])}
    text, asked = "sum(w[:, newaxis] * x[ids]**2)", {"sources": "x", "slices": "listed"}
    found = ask.gradients(text, given, **asked, batch={"ids": 0})
    for i, ids in enumerate(given["ids"]):
        alone = ask.gradients(text.replace("ids", "i"), given | {"i": ids}, **asked)
        for part, array in alone.items():
            assert_array_equal(found[part][i], array)


def test_slices_are_added_up_in_one_example(ask):
    given = {"x": TABLE, "ids": np.array([[0, 1], [2, 2]])}
    with pytest.raises(InputError) as refused:
        ask.gradients("sum(x[ids])", given, sources="x", slices="summed", batch={"ids": 0})
    assert refused.value.at is not None
    assert refused.value.at.pointer == "/sparse_gradients"
