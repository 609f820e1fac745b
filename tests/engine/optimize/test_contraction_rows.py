"""Rows that indices select are contracted as products with a matrix of zeros and ones."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.errors import EngineError
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.conftest import called

RNG = np.random.default_rng(8)
TABLE, W, M = RNG.normal(size=(50, 8)), RNG.normal(size=8), RNG.normal(size=(8, 3))
Y, ROWS = RNG.normal(size=400), RNG.normal(size=(400, 8))
INDEX = RNG.integers(-50, 50, 400)
#: What is computed, and the same of the table's rows ``r``, by NumPy.
TEXTS = {
    "rows by a vector": ("sum((table[i] @ w - y)**2)", lambda r, w: ((r @ w - Y) ** 2).sum()),
    "one-hot rows": ("sum((eye(50)[i] @ table @ w - y)**2)", lambda r, w: ((r @ w - Y) ** 2).sum()),
    "taken rows": ("sum(take(table, i, axis=0) * w * y[:, None])", lambda r, w: (r * w).sum(1) @ Y),
    "rows by rows": (
        "sum(sin(sum(table[i] * rows * w, axis=1)))",
        lambda r, w: np.sin((r * ROWS) @ w).sum(),
    ),
    "sum of rows": (
        "sum(cos(sum(table[i] * y[:, None], axis=0)) * w)",
        lambda r, w: np.cos(Y @ r) @ w,
    ),
    "one-hot columns": (
        "sum((rows.T @ eye(50)[i] @ table)**2) * w[0]",
        lambda r, w: ((ROWS.T @ r) ** 2).sum() * w[0],
    ),
    "one-hot alone": ("sum(eye(50)[i] * 2) + sum(table[i] @ w)", lambda r, w: 800 + (r @ w).sum()),
    "counts": ("sum(sum(eye(50)[i], axis=0) @ table * w)", lambda r, w: r.sum(0) @ w),
    "matrix": (
        "sum(tanh(table[i] @ m) * y[:, None]) + w[1]",
        lambda r, w: (np.tanh(r @ M).T @ Y).sum() + w[1],
    ),
    "used twice": (
        "r = table[i]\nsum(exp(r) @ w) + sum(r @ w)",
        lambda r, w: (np.exp(r) @ w + r @ w).sum(),
    ),
}


def asked(text, index=INDEX, kind="gradient"):
    values = {"table": TABLE, "w": W, "m": M, "y": Y, "rows": ROWS, "i": index}
    engine = Engine()
    program = engine.parse(text)
    leaves = {name: Leaf(x) for name, x in values.items() if name in text}
    call = engine.call(program, leaves, Query(kind, sources=["table", "w"]))
    return [call.replay(lambda: None) for _ in range(3)][-1], call


@pytest.mark.parametrize(("text", "by_hand"), TEXTS.values(), ids=TEXTS)
def test_rows_and_their_derivatives(text, by_hand):
    answer, _ = asked(text)
    assert_allclose(answer.value, by_hand(TABLE[INDEX], W), rtol=1e-10)
    step = RNG.normal(size=TABLE.shape), RNG.normal(size=W.shape)
    h = 1e-6
    above, below = (
        by_hand((TABLE + side * h * step[0])[INDEX], W + side * h * step[1]) for side in (1, -1)
    )
    slope = sum(np.sum(g * d) for g, d in zip(answer.gradients, step, strict=True))
    assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("name", ["rows by a vector", "one-hot rows", "taken rows"])
def test_rows_are_not_repeated(name):
    _, call = asked(TEXTS[name][0])
    made = call.entry.paths[0].executable.tape.instructions
    shapes = [i.type.shape for i in made if i.args and not i.op.views]
    assert max(np.prod(shape) for shape in shapes) <= TABLE.size


@pytest.mark.parametrize("text", ["sum(table[i] @ w)", "sum(eye(50)[i] @ table @ w)"])
def test_rows_that_there_are_not_are_refused(text):
    with pytest.raises(EngineError, match="out of range"):
        asked(text, np.array([3, 50]))


@given(st.integers(1, 5), st.lists(st.integers(-3, 2), min_size=1, max_size=6), st.booleans())
def test_any_indices(columns, index, swapped):
    table = np.arange(3.0 * columns).reshape(3, columns)
    by = np.arange(1.0, 1 + len(index))
    text = "by @ eye(3)[i] @ table" if swapped else "by @ table[i]"
    engine = Engine()
    leaves = {"table": Leaf(table), "by": Leaf(by), "i": Leaf(np.array(index))}
    call = called(engine, f"sum({text})", leaves, "gradient", sources=["table"])
    expected = np.zeros_like(table)
    np.add.at(expected, np.array(index), by[:, None])
    for _ in range(2):
        answer = call.replay(lambda: None)
        assert_array_equal(answer.gradients[0], expected)
        assert answer.value == (by @ table[index]).sum()
