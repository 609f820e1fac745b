"""Indexing patterns against NumPy's own, and their gradients against what NumPy scatters."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf
from gradwire_engine.errors import BadArgument, EngineError
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.conftest import called

X = np.arange(2.0 * 3 * 4).reshape(2, 3, 4)
INDICES = [
    "0", "-1", "1, 2", "1, 2, 3", "...", "..., 0", "0, ...", ":, 1", "::-1", "1:, ::2, -3:-1",
    "None", "None, 0, None", "..., None", ":, None, 1, None", "5:", "[0, 1, 1]", "[[0], [1]]",
    "[0, 1], [2, 0]", ":, [2, 0, 2]", "[1, 0], :, [3, 3]", "0, :, [1, 1]", "[0, 1], None, [1, 2]",
    "..., [0, 3]", "[True, False]", "[[True, False, True], [False, False, True]]",
    "1, [True, False, True]", ":, :, [True, False, False, True]", "[]",
]  # fmt: skip


def ask(text: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    engine = Engine()
    call = called(engine, text, {"x": Leaf(x)}, "gradient", sources="x")
    answer = call.replay(lambda: None)
    return np.asarray(answer.value), np.asarray(answer.gradients)


@pytest.mark.parametrize("index", INDICES)
def test_reads_as_numpy_and_scatters_back(index):
    def read(x: np.ndarray) -> np.ndarray:
        return np.asarray(eval(f"x[{index}]", {"x": x}) if index != "[]" else x[:0])

    value, gradient = ask(f"sum(x[{index}] * cos(x)[{index}])", X)
    assert value == pytest.approx(np.sum(read(X) * read(np.cos(X))))
    picked = np.zeros_like(X)
    np.add.at(picked.reshape(-1), read(np.arange(24).reshape(X.shape)).ravel().astype(int), 1.0)
    assert gradient == pytest.approx(picked * (np.cos(X) - X * np.sin(X)))


@pytest.mark.parametrize("index", INDICES)
def test_writes_as_numpy_without_touching_the_source(index):
    want = np.sin(X)
    target = want.copy()
    if index != "[]":
        exec(f"target[{index}] = 7.0", {"target": target})
    value, gradient = ask(f"y = sin(x)\ny[{index}] = 7\nreturn y * x", X)
    assert value == pytest.approx(target * X)
    kept = target == want
    assert gradient == pytest.approx(np.where(kept, np.cos(X) * X + np.sin(X), 7.0))


def test_of_repeated_writes_only_the_last_has_a_gradient():
    x = np.array([2.0, 3.0, 5.0])
    value, gradient = ask("y = zeros(2)\ny[[0, 0, 1]] = x\nreturn y", x)
    assert value == pytest.approx([3.0, 5.0])
    assert gradient == pytest.approx([0.0, 1.0, 1.0])


def test_augmented_writes_add_to_the_selected_elements():
    value, gradient = ask("y = x * 1\ny[1:] += x[:-1]\nreturn y", np.array([2.0, 3.0, 5.0]))
    assert value == pytest.approx([2.0, 5.0, 8.0])
    assert gradient == pytest.approx([2.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ("2", "out of range"),
        ("0, 0, 0, 0", "4 indices"),
        ("..., 0, ...", "ellipsis"),
        ("::0", "step"),
        ("0.5", "a number cannot be an index"),
        ("x", "integer"),
        ("[True]", "mask"),
    ],
)
def test_refuses_what_numpy_refuses(index, said):
    with pytest.raises(EngineError, match=said) as caught:
        ask(f"x[{index}]", X)
    assert caught.value.at is not None
    assert caught.value.at.line == 1


@pytest.mark.parametrize("program", ["x[i]", "x[i] = 0.0\nx", "segment_max(take(x, i), i, 3)"])
@pytest.mark.parametrize("index", [2**63, 2**64 - 1])
def test_unsigned_integers_beyond_the_signed_ones_are_out_of_range(program, index):
    variables = {"x": Leaf(X[0, :, 0]), "i": Leaf(np.array([1, 0, index], "uint64"))}
    engine = Engine()
    call = called(engine, program, variables, "evaluate")
    with pytest.raises(BadArgument, match="an index is out of range"):
        call.replay(lambda: None)


def test_unsigned_integers_are_indices():
    variables = {"x": Leaf(X[0, :, 0]), "i": Leaf(np.array([1, 0, 1], "uint64"))}
    engine = Engine()
    call = called(engine, "x[i]", variables, "gradient", sources="x")
    answer = call.replay(lambda: None)
    assert np.array_equal(answer.value, X[0, [1, 0, 1], 0])
    assert np.array_equal(answer.gradients, [1, 2, 0])


@given(st.lists(st.integers(-3, 2), max_size=6), st.integers(0, 1))
def test_gathers_by_any_integers(indices, axis):
    listed = np.array(indices, int)
    engine = Engine()
    variables = {"x": Leaf(X[:, :, 0].T.copy() if axis else X[0]), "i": Leaf(listed)}
    call = called(engine, "x[i]", variables, "gradient", sources="x")
    answer = call.replay(lambda: None)
    x = np.asarray(variables["x"].value)
    assert np.array_equal(answer.value, x[listed])
    counts = np.bincount(listed % 3, minlength=3) if len(listed) else np.zeros(3)
    assert np.array_equal(answer.gradients, np.broadcast_to(counts[:, None], x.shape))
