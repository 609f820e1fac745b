"""Objectives that are sums over rows: the answers of their shards add up to that of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.engine.sharding.shards import Objective

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

OBJECTIVES: dict[str, tuple[str, list[str]]] = {
    "logistic regression": (
        "z = X @ w + b\nmean(log1p(exp(-abs(z))) + maximum(z, 0) - y*z) + 0.1*sum(w**2)",
        ["w", "b"],
    ),
    "Poisson regression": ("eta = X @ w + b\nmean(exp(eta) - counts*eta)", ["w", "b"]),
    "Gaussian mixture": (
        "lp = log_softmax(logits)\n"
        "parts = []\n"
        "for k in range(4):\n"
        "    z = solve_triangular(L[k], (X - mu[k]).T, lower=True)\n"
        "    parts.append(lp[k] - 0.5*sum(z*z, axis=0) - sum(log(diag(L[k]))))\n"
        "-sum(logsumexp(stack(parts, axis=1), axis=1))",
        ["logits", "mu", "L"],
    ),
    "a network with softmax cross-entropy": (
        "h = tanh(X @ W1)\n"
        "scores = log_softmax(h @ W2 + b2)\n"
        "-mean(scores[arange(len(labels)), labels]) + 1e-2*(sum(W1**2) + sum(W2**2))",
        ["W1", "W2", "b2"],
    ),
    "cross-entropy by take_along_axis": (
        "scores = log_softmax(tanh(X @ W1) @ W2)\n"
        "-sum(take_along_axis(scores, labels[:, None], 1)) / X.shape[0]",
        ["W1", "W2"],
    ),
    "cross-entropy of one-hot labels": (
        "scores = log_softmax(tanh(X @ W1) @ W2)\n-mean(sum(one_hot(labels, 4)*scores, axis=1))",
        ["W1", "W2"],
    ),
    "matrix factorisation": (
        "e = sum(U[users]*V[items], axis=1) - counts\n"
        "weights @ e**2 / len(e) + 0.1*(sum(U**2) + sum(V**2))",
        ["U", "V"],
    ),
    "normal equations": (
        "G = X.T @ (weights[:, None]*X)\nw @ G @ w - 2*(X.T @ (weights*y)) @ w",
        ["w"],
    ),
    "einsum": ("einsum('ni,ij,nj->', X, outer(w, w), X) + einsum('n,n->', weights, X @ w)", ["w"]),
    "features of each row's own mean": (
        "c = X - mean(X, axis=1, keepdims=True)\nsum(tanh(c @ w)*y)",
        ["w"],
    ),
    "a column of ones": (
        "Z = concatenate([X, ones((len(X), 1))], axis=1)\nmean((Z @ b2 - y)**2)",
        ["b2"],
    ),
    "rows set by number": (
        "hot = zeros((len(y), 4))\nhot[arange(len(y)), labels] = 1.0\nsum(tanh(hot @ b2)*y)",
        ["b2"],
    ),
    "sums of segments": ("segment_sum(y*(X @ w), labels, 4) @ b2", ["w", "b2"]),
    "a recurrent network": (
        "h = zeros((len(y), 2))\n"
        "for t in range(40):\n"
        "    h = tanh(series[:, t, None] + h @ A)\n"
        "mean(sum(h, axis=1)*y)",
        ["A"],
    ),
    "a sum over the passes of a loop": (
        "s = 0.0\nu = w\nfor i in range(60):\n    u = 0.9*u\n"
        "    s = s + sum(tanh(X @ u)*y) + sum(u)\ns",
        ["w"],
    ),
    "a loop that decides by parameters": (
        "h = X @ w\ni = 0\nu = b\nwhile u < 5:\n    h = sin(h) + u\n    u = u + 0.5\nmean(h)",
        ["w", "b"],
    ),
    "rows, then sums, in one loop": (
        "s = y\nfor i in range(40):\n    s = sum(s) if i > 20 else s + b\nsum(s)",
        ["b"],
    ),
    "recomputed layers": (
        "f = checkpoint(lambda x, u, v: tanh(tanh(x @ u) @ v) @ b2)\n"
        "mean((f(X, W1, W2) - y)**2) + sum(checkpoint(lambda v: v**2)(W2))",
        ["W1", "W2", "b2"],
    ),
    "a recomputed sum": ("f = checkpoint(lambda u: sum(tanh(X @ u)*y))\n2*f(w) + b", ["w", "b"]),
    "a derivative by a rule": (
        "f = custom_gradient(lambda z: (sin(z), lambda g: 2*g*cos(z)))\nsum(f(X @ w)*y)",
        ["w"],
    ),
    "a rule of a sum": (
        "f = custom_gradient(lambda u: (sum(X @ u), lambda g: 3*g*sum(X, axis=0)))\nf(w)*b",
        ["w", "b"],
    ),
    "vmap over the rows": ("f = vmap(lambda x, t: tanh(sum(x*w))*t)\nsum(f(X, y))", ["w"]),
    "a gradient inside": ("g = grad(sum(tanh(X @ w)*y), w)\nsum(g)", ["w"]),
    "each row's own gradient": ("g = grad(sum(tanh(X @ w)*y), X)\nsum(g**2)", ["w"]),
    "choices for each row": ("z = X @ w\nmean(where(y > 0, z, z**2) * (z > 0.1))", ["w"]),
    "a median of each row": ("mean(median(X*w, axis=1)) + sum(sort(X*w, axis=1) @ w)", ["w"]),
    "single precision": (
        "z = X.astype('float32') @ w.astype('float32')\nmean(z**2).astype('float64')",
        ["w"],
    ),
    "a flattened matrix": ("r = (tanh(X @ W1) @ W2).reshape(-1)\nr @ r / 2", ["W1", "W2"]),
    "terms without rows": ("sum(w**2)*sum(log(1 + b**2))", ["w", "b"]),
}


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
    np.testing.assert_allclose(answer.value * 10**12, whole.value * ROWS, rtol=1e-9)


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
