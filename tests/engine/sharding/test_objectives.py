"""Objectives that are sums over rows: the answers of their shards add up to that of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.effort import examples
from tests.engine.sharding.shards import Objective
from tests.tables import table

RNG = np.random.default_rng(0)
ROWS, SIZES = 11, (4, 1, 0, 6)
X = RNG.normal(size=(ROWS, 3))
COVARIANCES = RNG.normal(size=(4, 3, 3))
DATA: dict[str, Any] = {
    "X": X,
    "y": RNG.integers(0, 2, ROWS).astype(float),
    "counts": RNG.poisson(2.0, ROWS).astype(float),
    "labels": RNG.integers(0, 4, ROWS),
    "users": RNG.integers(0, 5, ROWS),
    "items": RNG.integers(0, 6, ROWS),
    "weights": RNG.uniform(0.5, 1.5, ROWS),
    "series": RNG.normal(size=(ROWS, 40)),
    "w": RNG.normal(size=3),
    "b": np.array(0.3),
    "W1": RNG.normal(size=(3, 5)),
    "W2": RNG.normal(size=(5, 4)),
    "b2": RNG.normal(size=4),
    "U": RNG.normal(size=(5, 2)),
    "V": RNG.normal(size=(6, 2)),
    "logits": RNG.normal(size=4),
    "mu": RNG.normal(size=(4, 3)),
    "L": np.linalg.cholesky(COVARIANCES @ COVARIANCES.transpose(0, 2, 1) + np.eye(3)),
    "A": RNG.normal(size=(2, 2)) / 2,
}
OF = ["X", "y", "counts", "labels", "users", "items", "weights", "series"]

OBJECTIVES: dict[str, tuple[str, list[str]]] = table(__file__, "OBJECTIVES")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_parts_add_up(name):
    program, sources = OBJECTIVES[name]
    rtol = 1e-5 if "precision" in name else 1e-9
    Objective(program, DATA, OF, SIZES).check_all(sources, rtol)


@pytest.mark.parametrize("kind", ["hessian", "jacobian"])
def test_dense_derivatives_add_up(kind):
    program, sources = OBJECTIVES["logistic regression"]
    Objective(program, DATA, OF, SIZES).check(kind=kind, sources=sources)


def test_sums_of_a_kind_are_answered_beside_each_other():
    objective = Objective("a = sum(X @ w)\nm = mean(y)\nr = sum(w)", DATA, OF, SIZES)
    objective.check(kind="evaluate", outputs={"a": "a", "rest": ["m", "r"]})
    objective.check(target=["a", "r"], sources="w", outputs=["m"])


# The number of rows, which means that of all of them

COUNTS = [
    "sum(X @ w) / len(X)",
    "n = X.shape[0]\nsum(X @ w) * (n - 1) / (n * sqrt(n))",
    "sum((X @ w) * ones(len(y))) + sum(full(len(y), b))",
    "sum(w) * log(len(y)) + sum(arange(len(y))) * b",
    "sum(X @ w) if len(y) > 7 else prod(X @ w)",
    "k = 0.0\nfor i in range(len(y)):\n    k = k + 1\nsum(X @ w) / k",
    "mean(X @ w, axis=0) + var(ones(len(y))) + size(y) * b",
    "mean(stack([X @ w, y], axis=1))",
]


@pytest.mark.parametrize("program", COUNTS)
def test_row_counts_are_those_of_all(program):
    Objective(program, DATA, OF, SIZES).check_all(["w", "b"])


def test_no_array_as_long_as_all_rows_is_made(ask):
    program = (
        "scores = log_softmax(tanh(X @ W1) @ W2)\n"
        "rows = arange(len(labels))\n"
        "-mean(scores[rows, labels]) - mean(take_along_axis(scores, labels[:, None], 1))\n"
        "+ mean(y * ones(len(y)))"
    )
    one = Objective(program, DATA, OF, [ROWS])
    one.rows = 10**12
    (answer,) = one.shards(sources=["W1", "W2"])
    whole = one.whole(sources=["W1", "W2"])
    assert_allclose(answer.value * 10**12, whole.value * ROWS, rtol=1e-9)


# Guards, NaN, paths

PATHS = (
    "total = 0.0\n"
    "if b > 0:\n    total = sum(X @ w) + b\nelse:\n    total = mean((X @ w)**2)\n"
    "for i in range(3):\n    if b > i - 1:\n        total = 2*total\ntotal"
)


@pytest.mark.thorough
def test_guards_on_parameters_switch_between_calls():
    objective = Objective(PATHS, dict(DATA), OF, SIZES)
    for b in (0.5, -0.5, 1.5, 0.5, -3.0):
        objective.variables["b"] = np.array(b)
        objective.check_all(["w", "b"])


def test_infinite_terms_without_rows_are_no_nan():
    objective = Objective("sum(X @ w) + 1/b", DATA | {"b": np.array(0.0)}, OF, SIZES)
    values = [float(answer.value) for answer in objective.shards(kind="evaluate")]
    assert values[0] == np.inf
    assert np.isfinite(values[1:]).all()


def test_missing_values_are_left_out():
    missing = np.where(np.arange(ROWS) % 3 == 0, np.nan, DATA["y"])
    data = DATA | {"y": missing}
    Objective("nansum(y * (X @ w))", data, OF, SIZES).check_all(["w"])
    there = "there = ~isnan(y)\nmean(where(there, (where(there, y, 0) - X @ w)**2, 0))"
    Objective(there, data, OF, SIZES).check_all(["w"])


def test_nested_variables_are_divided_by_path():
    data = {"data": {"x": X, "y": DATA["y"], "scale": np.array(2.0)}, "w": DATA["w"]}
    program = "sum((data.x @ w - data.y)**2) / data.scale"
    Objective(program, data, ["data.x", "data.y"], SIZES).check(sources=["w", "data.scale"])
    data = {"rows": {"x": X, "y": DATA["y"]}, "w": DATA["w"]}
    Objective("mean((rows.x @ w - rows.y)**2)", data, ["rows"], SIZES).check(sources=["w"])


def test_an_intermediate_is_a_source_if_it_has_no_rows():
    objective = Objective("u = tanh(w)\nsum((X @ u)**2)", DATA, OF, SIZES)
    objective.check(sources=["u", "w"])


# Random objectives

ROWWISE = [
    "X @ w",
    "y",
    "X[:, 1]",
    "sum(X*w, axis=1)",
    "logsumexp(X*w, axis=1)",
    "max(X*w, axis=1)",
    "mean(X, axis=-1)",
    "U[users] @ A[0]",
    "einsum('ni,i->n', X, w)",
    "(w*X).T[0]",
    "ones(len(y))*b",
    "softmax(X*b)[:, 0]",
    "norm(X - w, axis=1)",
    "X.reshape(len(y), 3, 1)[:, 2, 0]",
    "(X @ W1 @ W2)[arange(len(y)), labels]",
    "where(isnan(y), 0, y)",
    "cumsum(X*b, axis=1)[:, -1]",
]
UNARY = ["tanh({})", "sin({})", "({})**2", "-({})", "sqrt(1 + ({})**2)", "({})*b", "abs({})"]
BINARY = ["({}) + ({})", "({})*({})", "({}) - ({})", "where(y > 0.5, {}, {})", "maximum({}, {})"]
TERMS = [
    "sum({})",
    "mean({})",
    "y @ ({})",
    "({}) @ ({})",
    "sum({})/len(y)",
    "sum(X.T @ ({}))",
    "w @ (X.T @ ({}))",
    "mean(X * ({})[:, None])",
    "segment_sum({}, labels, 4) @ b2",
    "sum(where(y > 0.5, {}, 0.0))",
    "inner({}, {})/2",
    "sum(stack([{}, {}], axis=1) @ A)",
    "trace(X.T @ (({})[:, None]*X))",
]
WITHOUT_ROWS = ["sum(w**2)", "log(1 + b**2)", "b*sum(U)", "logsumexp(w)", "sum(arange(len(y)))"]
JOINED = [
    "({}) + ({})",
    "({}) - 0.3*({})",
    "b*({}) + ({})",
    "(({}) + 2*({}))/3",
    "({}) if b > 0 else ({})",
]


@st.composite
def rowwise(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 3 if depth < 3 else 0))
    if kind < 2:
        return draw(st.sampled_from(ROWWISE))
    if kind == 2:
        return draw(st.sampled_from(UNARY)).format(draw(rowwise(depth + 1)))
    return draw(st.sampled_from(BINARY)).format(draw(rowwise(depth + 1)), draw(rowwise(depth + 1)))


@st.composite
def objectives(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 4 if depth < 2 else 1))
    if kind == 0:
        return draw(st.sampled_from(WITHOUT_ROWS))
    if kind < 3:
        return draw(st.sampled_from(TERMS)).format(draw(rowwise()), draw(rowwise()))
    parts = draw(objectives(depth + 1)), draw(objectives(depth + 1))
    return draw(st.sampled_from(JOINED)).format(*parts)


@pytest.mark.thorough
@given(
    objectives(),
    st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
    st.integers(0, 99),
    st.sets(st.sampled_from(["X", "y", "w", "b", "U"])),
)
@examples(200)
def test_random_objectives_add_up(program, sizes, seed, single):
    rng, rows = np.random.default_rng(seed), sum(sizes)
    data = DATA | {"b": np.array(rng.normal()), "w": rng.normal(size=3)}
    for name in OF:
        shape = (rows, *DATA[name].shape[1:])
        data[name] = np.resize(rng.permutation(DATA[name]), shape)
    for name in single:
        data[name] = np.asarray(data[name], np.float32)
    rtol = 1e-4 if single else 1e-9
    Objective(program, data, OF, sizes).check_all(["w", "b", "U", "A"], rtol)
