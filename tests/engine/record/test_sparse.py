"""Sparse matrices inside programs and by request are the dense ones, also of numbered elements."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine import Leaf, Query
from gradwire_engine.errors import BadArgument
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(23)
X = RNG.normal(size=6)
TEXTS = [
    "x[ids] ** 2 * sin(x[ids[::-1]])",
    "take(x, (ids + 6) % 6) * x[1]",
    "segment_sum(x[:3] ** 2, abs(ids), 7)",
    "y = x * 1\ny[ids] = x[:3] ** 2\ny",
]


def filled(coo):
    whole = np.zeros(coo["shape"])
    np.add.at(whole, tuple(coo["indices"].T), coo["values"])
    return whole


@pytest.mark.parametrize("text", TEXTS)
def test_of_numbered_elements_it_is_the_dense_one_for_any_numbers(ask, text):
    for ids in RNG.integers(-6, 6, size=(8, 3)):
        given = {"x": X, "ids": ids}
        whole = ask.answer(text, given, kind="jacobian", sources="x").derivatives["jacobian"]
        found = ask.answer(text, given, kind="jacobian", sources="x", format="coo")
        coo = found.derivatives["jacobian"]
        assert_allclose(filled(coo), whole)
        assert len(coo["values"]) < whole.size / 2
        first, *rest = text.rsplit("\n", 1)[::-1]
        inside = "\n".join([*rest, f"r = {first}", "sparse.jacobian(r, x)"])
        assert_array_equal(ask.value(inside, given)["indices"], coo["indices"])


def test_numbers_that_come_again_take_what_was_recorded_of_them(ask):
    calls = []
    for ids in ([0, 1], [5, 5], [0, 1]):
        leaves = {"x": Leaf(X), "ids": Leaf(np.array(ids))}
        query = Query("jacobian", sources="x", format="coo")
        calls.append(ask.engine.call(ask.engine.parse("x[ids] ** 2"), leaves, query))
        calls[-1].replay(ask.poll)
    assert len(calls[-1].entry.paths) == 2


def test_a_bundle_adjustment_has_fifteen_entries_in_each_row(ask):
    """Residuals of observations, each numbered by its camera and its point."""
    text = """
camera, point = cameras[seen[:, 0]], points[seen[:, 1]]
offset = point - camera[:, 3:6]
turned = offset + cross(camera[:, :3], offset)
flat = turned[:, :2] / (10 + turned[:, 2:])
square = sum(flat**2, axis=1, keepdims=True)
distorted = flat * (1 + camera[:, 9:10] * square + camera[:, 10:] * square**2)
principal = camera[:, 7:9] + 0 * camera[:, 8:6:-1]
weights[:, None] * (distorted * camera[:, 6:7] + principal - features)
"""
    count, cameras, points = 40, 5, 12
    seen = np.stack([RNG.integers(cameras, size=count), RNG.integers(points, size=count)], axis=1)
    sizes: dict[str, Any] = {"cameras": (cameras, 11), "points": (points, 3), "weights": count}
    given = {name: RNG.normal(size=size) for name, size in sizes.items()}
    given |= {"seen": seen, "features": RNG.normal(size=(count, 2))}
    asked = {"kind": "jacobian", "sources": list(sizes)}
    whole = ask.answer(text, given, **asked).derivatives["jacobian"]
    found = ask.answer(text, given, format="coo", **asked).derivatives["jacobian"]
    for coo, expected in zip(found, whole, strict=True):
        assert_allclose(filled(coo), expected, atol=1e-12)
    assert [len(coo["values"]) for coo in found] == [2 * count * each for each in (11, 3, 1)]


LOOPS = {
    "elements": ("y = x\nfor i in range(200):\n  y = y + 0.01 * sin(y)\ny", 6, 6),
    "while": ("y = x ** 2\nwhile sum(y) < 100:\n  y = y * 1.01 + 0.1\ny", 6, 6),
    "choices": (
        "y = x\nfor i in range(200):\n  y = y * 1.01 if sum(y) < 5 else sin(y)\ny * y",
        6,
        6,
    ),
    "numbers": ("y = x\nfor i in range(200):\n  y = y + 0.01 * y[ids]\ny", None, None),
    "parts": ("y = x[:3]\nfor i in range(200):\n  y = 0.99 * y + 0.1 * x[3:]**2\ny", 6, 12),
    "lists": (
        "y = x\nys = []\nfor i in range(99):\n  y = sin(y)\n  ys.append(y)\nsum(stack(ys), 0)",
        6,
        6,
    ),
    "rows": (
        "y = x[0]\nfor row in outer(x, ones(100)).T:\n  y = 0.9 * y + sum(row[:2] ** 2)\ny * x",
        None,
        None,
    ),
    "loops": (
        "y = x\nfor i in range(30):\n  for j in range(30):\n    y = y + 1e-6 * y**2\ny",
        6,
        6,
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_has_the_pattern_of_any_number_of_passes(ask, name):
    text, nonzeros, second = LOOPS[name]
    given = {"x": np.abs(X), "ids": np.array([1, 0, 2, 2, 3, 3])}
    *before, last = text.split("\n")
    for kind, count in (("jacobian", nonzeros), ("hessian", second)):
        asked = {"kind": kind, "sources": "x"}
        text = "\n".join([*before, last if kind == "jacobian" else f"sum(({last}) ** 3)"])
        whole = ask.answer(text, given, **asked).derivatives[kind]
        coo = ask.answer(text, given, format="coo", **asked).derivatives[kind]
        assert_allclose(filled(coo), whole, rtol=1e-9, atol=1e-12)
        assert len(coo["values"]) == (count or np.count_nonzero(whole))


def test_a_hessian_inside_a_program(ask):
    given = {"x": X, "ids": np.array([4, 1, 2])}
    text = "y = sum(x[ids] ** 2 * x[:3] + x[3:] ** 3)\n"
    coo = ask.value(text + "sparse.hessian(y, x)", given)
    assert_allclose(filled(coo), ask.value(text + "hessian(y, x)", given))
    assert len(coo["values"]) == 5 + 2  # on the diagonal, and beside it


def test_what_a_program_makes_of_it_is_differentiated(ask):
    text = "j = sparse.jacobian(x[1:] ** 2 * x[:-1], x)\nsum(j.values ** 2)"
    dense = "j = jacobian(x[1:] ** 2 * x[:-1], x)\nsum(j ** 2)"
    one, other = (
        ask.answer(t, {"x": X}, kind="gradient").derivatives["gradients"] for t in (text, dense)
    )
    assert_allclose(one["x"], other["x"])


def test_of_a_function_and_of_nested_values(ask):
    given = {"p": {"a": X, "b": X[:3]}}
    found = ask.value("sparse.jacobian(lambda p: p.a[:3] * p.b)(p)", given)
    assert_allclose(filled(found["a"]), np.diag(X[:3]) @ np.eye(3, 6))
    assert_allclose(filled(found["b"]), np.diag(X[:3]))


def test_without_a_path_there_are_no_elements(ask):
    found = ask.value("sparse.jacobian(x ** 2, y), sparse.hessian(x ** 2, y)", {"x": X, "y": X[:2]})
    assert [coo["shape"].tolist() for coo in found] == [[6, 2], [2, 2]]
    assert all(coo["values"].size == 0 and coo["indices"].shape == (0, 2) for coo in found)


def test_mapped_examples_have_one_pattern_which_is_full_where_their_numbers_differ(ask):
    text = "vmap(lambda x, i: sparse.jacobian(lambda x: x[i] ** 2)(x).values)(x, i)"
    given = {"x": X.reshape(2, 3), "i": np.array([[2, 0], [2, 0]])}
    assert_allclose(ask.value(text, given), 2 * X.reshape(2, 3)[:, [2, 0]])
    given["i"][1] = [0, 2]
    full = ask.value(text, given).reshape(2, 2, 3)
    assert np.count_nonzero(full) == 4
    assert_allclose(full[1].sum(axis=1), 2 * X[[3, 5]])


def test_a_hessian_is_of_one_value(ask):
    with pytest.raises(BadArgument, match="of one value"):
        ask.value("sparse.hessian(sum(x * y), [x, y])", {"x": X, "y": X})


def test_a_sparse_jacobian_multiplies_as_a_sparse_matrix(ask):
    x, v = RNG.normal(size=(2, 40))
    text = "y = x[1:] ** 2 * x[:-1]\n"
    found = ask.answer(text + "sum((sparse.jacobian(y, x) @ v) ** 2)", {"x": x, "v": v})
    expected = ask.answer(text + "sum(jvp(y, x, v) ** 2)", {"x": x, "v": v})
    assert_allclose(found.value, expected.value)
    for name in ("x", "v"):
        assert_allclose(found.gradients[name], expected.gradients[name])
