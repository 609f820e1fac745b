"""What is no sum over rows is refused: with the place that does not add up, and a hint."""

from __future__ import annotations

import numpy as np
import pytest
from gradwire_engine.errors import ShardingError

from tests.engine.sharding.shards import Objective
from tests.engine.sharding.test_objectives import DATA, OF, SIZES

#: Programs, the line and the column that are refused, and some of the message.
REFUSED = {
    "the logarithm of a sum": ("s = sum(exp(X @ w))\nlog(s)", (2, 1), "log of a sum"),
    "the root of a mean": ("sqrt(mean((X @ w - y)**2))", (1, 1), "sqrt of a sum"),
    "a product of two sums": ("a = sum(X @ w)\na * sum(y)", (2, 1), "two sums"),
    "a square of a sum": ("a = sum(X @ w)\na**2", (2, 1), "of a sum"),
    "a ratio of two sums": ("sum(weights*y*b) / sum(weights)", (1, 1), "two sums"),
    "a norm": ("norm(X @ w - y)", (1, 1), "euclidean_norm over the rows"),
    "the largest": ("max(X @ w)", (1, 1), "max over the rows"),
    "a product": ("prod(1 + X @ w)", (1, 1), "prod over the rows"),
    "a softmax over the rows": ("sum(softmax(X @ w)*y)", (1, 5), "over the rows"),
    "logsumexp over the rows": ("logsumexp(X @ w)", (1, 1), "over the rows"),
    "an order": ("sum(sort(X @ w)*b)", (1, 5), "sort over the rows"),
    "a median": ("median(X @ w)", (1, 1), "order statistic over the rows"),
    "a running sum, as in Cox's likelihood": (
        "eta = X @ w\nrisk = cumsum(exp(eta))\nsum(y*(eta - log(risk)))",
        (2, 8),
        "cumsum over the rows",
    ),
    "features minus their mean": (
        "c = X - mean(X, axis=0)\nsum((c @ w)**2)",
        (1, 5),
        "combines the rows with a sum over all rows",
    ),
    "batch normalisation": (
        "h = X @ W1\nz = h / std(h, axis=0)\nmean(z**2)",
        (2, 9),
        "combines the rows with a sum",
    ),
    "a variance": ("var(X @ w)", (1, 1), "combines the rows with a sum"),
    "all pairs of rows": ("sum(X @ X.T) * b", (1, 5), "other rows"),
    "differences of all pairs": ("d = X[:, None, :] - X[None, :, :]\nsum(d**2)*b", (1, 5), "other"),
    "one row": ("sum(X[0]*w)", (1, 5), "an index into the rows"),
    "neighbours": ("e = X[1:] - X[:-1]\nsum(e @ w)", (1, 5), "an index into the rows"),
    "rows by number": ("sum(X[[0, 2]] @ w)", (1, 5), "an index into the rows"),
    "rows of rows": ("k = labels\nsum(X[k] @ w)", (2, 5), "an index into the rows"),
    "rows in turn": (
        "s = 0.0\nfor i in range(len(y)):\n    s = s + X[i] @ w\ns",
        (2, 1),
        "a loop over the rows",
    ),
    "a loop over the rows": (
        "s = b\nfor x in X:\n    s = tanh(s + x @ w)\ns",
        (2, 1),
        "rows",
    ),
    "a scan over the rows": (
        "c, z = lax.scan(lambda c, x: (0.9*c + x @ w, c), b, X)\nsum(z)",
        (1, 8),
        "rows",
    ),
    "a decision": ("if sum(y) > 3:\n    b = 2*b\nsum(X @ w)*b", (1, 1), "a decision"),
    "a decision in a loop": (
        "s = sum(X @ w)\ni = 0\nwhile s > 1e9 - i:\n    i = i + 1\nsum(X @ w) * i",
        (3, 1),
        "a decision",
    ),
    "a number of passes": (
        "s = 0.0\nfor i in range(int(sum(y))):\n    s = s + sum(X @ w)\ns",
        (2, 16),
        "a decision",
    ),
    "a number of passes in a loop of values": (
        "n = sum(y).astype('int64')\ns = fori_loop(0, n, lambda i, s: s + b, 0.0)\ns + sum(y)",
        None,
        "a decision",
    ),
    "selected rows": ("sum(X[y > 0] @ w)", (1, 5), "a decision"),
    "numbers of rows as values": (
        "t = arange(len(y))\nsum(t*(X @ w))",
        (2, 5),
        "numbers of the rows",
    ),
    "a value for each row": (
        "g = linspace(0, 1, len(y))\nsum(g*y)*b",
        (2, 5),
        "one value for each",
    ),
    "a draw for each row": (
        "u = random.normal(7, (len(y),))\nsum((X @ w)*u)",
        (2, 5),
        "one value for each row",
    ),
    "a constant for each row": (
        f"c = {[1.5] * 5 + [0.5] * 6}\nsum(c*y)*b",
        (2, 5),
        "one value for",
    ),
    "columns beside rows": ("z = X.T.reshape(-1)\nsum(z)*b", (1, 5), "tears the rows apart"),
    "one matrix of all rows": ("sum(linalg.svdvals(X))*b", (1, 5), "svdvals over the rows"),
    "a convolution along the rows": ("sum(convolve(y, w))", (1, 5), "over the rows"),
    "rows turned round": ("flip(y) @ y * b", (1, 1), "flip over the rows"),
    "rows put behind each other": ("sum(concatenate([y, y])**2)*b", (1, 5), "concatenate over"),
    "a loop that multiplies sums": (
        "s = sum(X @ w)\nfor i in range(40):\n    s = s*s\ns",
        (3, 9),
        "two sums",
    ),
    "rounded sums": ("round(sum(X @ w))*b", (1, 1), "round of a sum"),
    "sums as integers": ("astype(sum(X @ w), 'int64')*b", (1, 1), "astype of a sum"),
    "a rule that makes no sum of rows": (
        "f = custom_gradient(lambda z: (sum(z), lambda g: z*mean(z)*g))\nf(X @ w)",
        None,
        "combines the rows with a sum",
    ),
    "a rule that reads rows for what has none": (
        "f = custom_gradient(lambda u: (sum(u), lambda g: X.T @ tanh(X @ u) * g))\nf(w)*b",
        (1, 50),
        "two sums",
    ),
    "a rule that decides by rows": (
        "f = custom_gradient(lambda z: (sum(z), lambda g: z if sum(z) > 0 else -z))\nf(X @ w)",
        None,
        "a decision here",
    ),
    "an answer with rows": ("2*(X @ w)", (1, 1), "a value for each row"),
    "a variable that is assigned": ("b.assign(sum(y))\nsum(X @ w)*b", (1, 1), "assigned to b"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_place_and_hint(name):
    program, place, message = REFUSED[name]
    with pytest.raises(ShardingError) as caught:
        Objective(program, DATA, OF, SIZES).shards(sources=["w", "b"])
    assert message in caught.value.message
    at = caught.value.at
    assert at is not None
    assert at.line is not None
    assert place is None or (at.line, at.column) == place
    assert caught.value.hint


def test_a_loop_leaves_rows_or_sums():
    data = {"X": DATA["X"][:3], "y": DATA["y"][:3], "b": DATA["b"]}
    program = "s = y\nfor i in range(9999):\n    s = X.T @ s if i > 20 else s + b\nsum(s)*b"
    with pytest.raises(ShardingError, match="leave rows where others leave a sum") as caught:
        Objective(program, data, ["X", "y"], (2, 1)).shards(sources=["b"])
    assert caught.value.at is not None
    assert caught.value.at.line == 2


def test_what_is_not_asked_for_may_be_no_sum():
    program = "best = max(X @ w)\nspread = std(y)\nloss = sum(X @ w)"
    objective = Objective(program, DATA, OF, SIZES)
    objective.check(target="loss", sources=["w"])
    with pytest.raises(ShardingError, match="max over the rows"):
        objective.shards(target="loss", sources=["w"], outputs=["best"])


@pytest.mark.parametrize("source", ["X", "z", "s"])
def test_sources_are_the_same_in_all_shards(source):
    objective = Objective("z = X @ w\ns = sum(z)\n3*s", DATA, OF, SIZES)
    with pytest.raises(ShardingError) as caught:
        objective.shards(sources=[source, "w"])
    assert caught.value.at is not None
    assert (caught.value.at.id, caught.value.at.pointer) == (source, "/sources")


def test_a_variable_of_all_rows_has_to_be_divided():
    data = DATA | {"theta": np.ones(sum(SIZES))}
    with pytest.raises(ShardingError, match="one value for each row") as caught:
        Objective("sum(theta*(X @ w))", data, OF, SIZES).shards(sources=["w"])
    assert "divided like the others" in str(caught.value.hint)
