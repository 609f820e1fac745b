"""Lengths that hang on values: a recording is asked for others only where they are the same."""

from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.linalg

#: Of equal types; how many are positive, zero, equal to each other, or whole, differs.
POINTS = [
    np.array(point, float)
    for point in ([1, 0, 2, -1], [1, 2, 3, -1], [4, 5, 6, 7], [-1, -2, 3, 0], [0, 3, 3, 1])
]
MATRICES = [np.eye(3), np.ones((3, 3)), np.diag([1.0, 2, 0]), np.arange(9.0).reshape(3, 3)]


def counts(x: Any) -> Any:
    return np.abs(x).astype(int)


#: What has a length by values of a vector.
LENGTHS: dict[str, Callable[[Any], Any]] = {
    "mask": lambda x: x[x > 0],
    "mask of rows": lambda x: np.stack([x, x], 1)[x > 0],
    "mask beside an index": lambda x: np.stack([x, x], 1)[x > 0, 0],
    "compress": lambda x: np.compress(x > 0, x),
    "method compress": lambda x: x.compress(x > 0),
    "extract": lambda x: np.extract(x > 0, x),
    "nonzero": lambda x: np.nonzero(x)[0],
    "method nonzero": lambda x: x.nonzero()[0],
    "where": lambda x: np.where(x > 0)[0],
    "flatnonzero": lambda x: np.flatnonzero(x > 0),
    "argwhere": lambda x: np.argwhere(x > 0),
    "unique": np.unique,
    "unique counts": lambda x: np.unique(x, return_counts=True)[1],
    "setdiff1d": lambda x: np.setdiff1d(x, [1.0, 2.0]),
    "union1d": lambda x: np.union1d(x, [1.0, 2.0]),
    "intersect1d": lambda x: np.intersect1d(x, [1.0, 2.0]),
    "bincount": lambda x: np.bincount(counts(x)),
    "repeat": lambda x: np.repeat(x, counts(x)),
    "delete": lambda x: np.delete(x, np.flatnonzero(x > 0)),
    "trim_zeros": np.trim_zeros,
    "roots": lambda x: np.abs(np.roots(x)),
    "polymul": lambda x: np.polymul(x, [0.0, 2.0]),
    "sorted": lambda x: np.sort(x[x > 0]),
    "reshaped": lambda x: x[x > 0].reshape(-1, 1),
    "computed": lambda x: np.sqrt(x[x > 0]) * 2,
    "joined": lambda x: np.concatenate([x[x > 0], x]),
}
#: What Python learns of it, and does with that.
USES: dict[str, Callable[[Any, Any], Any]] = {
    "len": lambda made, x: np.sum(x) * len(made),
    "size": lambda made, x: np.sum(x) * made.size,
    "size under a root": lambda made, x: np.std(x) / np.sqrt(made.size + 1),
    "shape": lambda made, x: np.sum(x) * made.shape[0],
    "np.shape": lambda made, x: np.sum(x) * np.shape(made)[0],
    "np.size": lambda made, x: np.sum(x) * np.size(made),
    "nbytes": lambda made, x: np.sum(x) + made.nbytes,
    "condition": lambda made, x: np.sum(x) if len(made) > 2 else np.prod(x),
    "loop": lambda made, x: sum((np.sum(row) for row in made), np.max(x)),
    "zip": lambda made, x: sum((np.sum(a) * b for a, b in zip(made, range(9), strict=False)), x[0]),
    "list": lambda made, x: np.sum(x) * len(list(made)),
    "range": lambda made, x: sum((np.sum(made[i]) for i in range(len(made))), x[0]),
    "middle": lambda made, x: np.sum(made[len(made) // 2]) if len(made) else x[0],
    "zeros": lambda made, x: np.sum(np.zeros(made.shape) + 2) + x[0],
    "like": lambda made, x: np.sum(np.ones_like(made)) + x[0],
    "last": lambda made, x: np.sum(made[-1]) if made.size else x[0],
    "mean": lambda made, x: np.sum(made) / max(len(made), 1) + x[0],
}


#: Each length, and each use, of a length that a mask has and of one that is computed from another.
PAIRS = sorted(
    {(length, list(USES)[i % len(USES)]) for i, length in enumerate(LENGTHS)}
    | {("mask", use) for use in USES}
    | {("computed", use) for use in list(USES)[::3]}
)


@pytest.mark.parametrize(("length", "use"), PAIRS)
def test_a_recorded_function_is_the_function_for_other_values(length, use, client):
    def f(x: Any) -> Any:
        return USES[use](LENGTHS[length](x), x)

    recorded = gradwire.function(f, client)
    for x in [*POINTS, *POINTS[:2]]:
        np.testing.assert_allclose(recorded(x), f(x), rtol=1e-12, err_msg=str(x))


@pytest.mark.parametrize("length", ["mask", "compress", "sorted", "computed", "repeat"])
def test_gradients_are_those_of_each_length(length, client):
    def f(x: Any) -> Any:
        made = LENGTHS[length](x)
        return np.sum(made**2) / len(made)

    recorded = gradwire.value_and_grad(f, client=client)
    for x in POINTS:
        value, slope = recorded(x + 0.25)
        steps = 1e-6 * np.eye(4)
        expected = [(f(x + 0.25 + step) - f(x + 0.25 - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(value, f(x + 0.25))
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [scipy.linalg.null_space, scipy.linalg.orth])
def test_ranks_decide_lengths(function, client):
    def f(a: Any) -> Any:
        return np.sum(a) * function(a).shape[1]

    with pytest.raises(gradwire.GradwireError, match="no operation"):
        gradwire.function(f, client)(MATRICES[0])


def test_points_at_once_may_have_other_lengths(client):
    def f(x: Any) -> Any:
        return sum((v * i for i, v in enumerate(x[x > 0])), x[0])

    found = client.map(gradwire.function(f), POINTS)
    np.testing.assert_allclose(found, [f(x) for x in POINTS])


def test_an_optimisation_refuses_lengths_by_its_parameters(client):
    def f(x: Any) -> Any:
        return np.sum(x[x > 0] ** 2) / len(x[x > 0])

    with pytest.raises(gradwire.NotTraceable, match="decides by its parameters") as refused:
        client.minimize(f, np.array([1.0, 2.0, -3.0]))
    assert "test_lengths.py" in str(refused.value)
