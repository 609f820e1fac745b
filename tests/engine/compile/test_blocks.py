"""Jacobians and Hessians by coordinates are the dense ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(14)
GIVEN = {"x": RNG.normal(size=6), "w": RNG.normal(size=(2, 3)), "c": np.float64(0.7)}
PROGRAMS = [
    "x[1:] * x[:-1] + c",
    "w * x[:3]",
    "sum(w, axis=1)",
    "x @ x",
    "cumsum(x)",
    "c * c",
    "x.assign(2*x)\nx * x",
]


def dense(coo):
    if coo is None:
        return None
    whole = np.zeros(coo["shape"], coo["values"].dtype)
    for place, value in zip(coo["indices"], coo["values"], strict=True):
        whole[tuple(place)] += value
    return whole


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("unconnected", ["none", "zero"])
def test_a_jacobian_by_coordinates(ask, text, unconnected):
    asked = {"kind": "jacobian", "unconnected": unconnected}
    whole = ask.answer(text, GIVEN, **asked).derivatives["jacobian"]
    for mode in ("auto", "forward", "reverse"):
        found = ask.answer(text, GIVEN, format="coo", mode=mode, **asked).derivatives["jacobian"]
        for name, expected in whole.items():
            if expected is None:
                assert found[name] is None
            else:
                assert_allclose(dense(found[name]), expected, atol=1e-12)


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_hessian_by_coordinates(ask, text):
    whole = ask.answer(text, GIVEN, kind="hessian").derivatives["hessian"]
    found = ask.answer(text, GIVEN, kind="hessian", format="coo").derivatives["hessian"]
    for one, row in whole.items():
        for other, expected in row.items():
            if expected is None:
                assert found[one][other] is None
            else:
                assert_allclose(dense(found[one][other]), expected, atol=1e-12)


def test_a_banded_jacobian_has_its_nonzeros_alone(ask):
    x = RNG.normal(size=10_000)
    text = "x[1:-1]**2 - x[:-2] * x[2:]"
    found = ask.answer(text, {"x": x}, kind="jacobian", format="coo").derivatives["jacobian"]["x"]
    assert found["shape"].tolist() == [9998, 10_000]
    assert found["indices"].shape == (3 * 9998, 2)
    rows, columns = found["indices"].T
    expected = np.where(columns == rows + 1, 2 * x[columns], -x[2 * rows + 2 - columns])
    assert_allclose(found["values"], expected)


@pytest.mark.parametrize(
    "text",
    [
        "convolve(x, [1, -2, 3], 'same')",
        """
n = len(x)
i = arange(n)
v = concatenate([-2 * ones(n), 3 * ones(n - 1), ones(n - 1)])
row, column = concatenate([i, i[1:], i[:-1]]), concatenate([i, i[:-1], i[1:]])
sparse.coo_matmul(v, row, column, (n, n), x)
""",
    ],
    ids=["filter", "sparse matrix"],
)
def test_a_stencil_has_three_diagonals_at_any_size(ask, text):
    n = 10_000
    found = ask.answer(text, {"x": np.ones(n)}, kind="jacobian", format="coo", sources="x")
    coo = found.derivatives["jacobian"]
    rows, columns = coo["indices"].T
    assert_array_equal(np.bincount(columns - rows + 1), [n - 1, n, n - 1])
    assert_array_equal(coo["values"], np.choose(columns - rows + 1, [3, -2, 1]))
