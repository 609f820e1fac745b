"""Derivatives of Cholesky factors multiply no more than their triangles need."""

import re

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.linalg.cholesky import Congruence
from gradwire_engine.ops.linalg.solving import SolveTriangular
from numpy.testing import assert_allclose, assert_array_equal

LIKELIHOOD = """
factor = cholesky(covariance)
sum(solve_triangular(factor, y, lower=True)**2) / 2 + sum(log(diagonal(factor)))
"""


def asked(text, variables, *, exact=False):
    """The answer of a gradient, and the operations that it takes."""
    engine = Engine()
    leaves = {name: Leaf(value) for name, value in variables.items()}
    query = Query("gradient", sources=[*variables], exact=exact)
    call = engine.call(engine.parse(text), leaves, query)
    answer = call.replay(lambda: None)
    return answer, [i.op.name for i in call.entry.paths[0].executable.tape.instructions]


def drawn(n, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    return {"covariance": root @ root.T + n * np.eye(n), "y": rng.normal(size=n)}


@pytest.mark.parametrize("n", [1, 2, 7, 40, 100])
def test_the_likelihoods_gradient_is_the_closed_form(n):
    """Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, equation 5.9."""
    values = drawn(n)
    answer, operations = asked(LIKELIHOOD, values)
    assert n == 1 or "matmul" not in operations
    inverse = np.linalg.inv(values["covariance"])
    weights = inverse @ values["y"]
    covariance_bar, y_bar = answer.gradients
    expected = (inverse - np.outer(weights, weights)) / 2
    assert_allclose(covariance_bar, expected, rtol=1e-9, atol=1e-12 / n)
    assert_allclose(y_bar, weights, rtol=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "sum(w * cholesky(covariance))",
        "f = cholesky(covariance)\nsum(sin(f @ w)) + sum(f)",
        "f = cholesky(covariance)\nsum((f @ solve_triangular(f, w, lower=True))**2)",
        "f = cholesky(covariance)\nsum(solve_triangular(f, y, lower=True)) * sum(tril(w) * f)",
        "f = cholesky(covariance)\nsum(solve_triangular(f, w, lower=True)**3)",
        "sum(tril(swapaxes(cholesky(covariance), 0, 1) @ tril(w)) ** 2)",
        "sum(tril(swapaxes(cholesky(covariance), 0, 1) @ (tril(outer(y, y)) - diag(y))))",
        "sum(tril(swapaxes(cholesky(covariance), 0, 1) @ (tril(outer(y, y)) - diag(y)), 1)**2)",
    ],
)
def test_gradients_are_those_of_what_was_recorded(text):
    values = drawn(5)
    values["w"] = np.random.default_rng(1).normal(size=(5, 5))
    values = {name: value for name, value in values.items() if re.search(rf"\b{name}\b", text)}
    (found, _), (expected, _) = asked(text, values), asked(text, values, exact=True)
    assert_allclose(found.value, expected.value, rtol=1e-12)
    for one, other in zip(found.gradients, expected.gradients, strict=True):
        assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles_are_solved_with_as_arrays_lie(dtype, lower, adjoint, unit):
    rng = np.random.default_rng(0)
    a = (rng.normal(size=(6, 6)) + 6 * np.eye(6)).astype(dtype)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    matrix = triangle.conj().T if adjoint else triangle
    op = SolveTriangular(lower, adjoint, unit)
    for columns in (0, 1, 4):
        b = rng.normal(size=(6, 2 * columns)).astype(dtype)
        for layout in (b[:, ::2], b[:, :columns].copy(), np.asfortranarray(b[:, :columns])):
            for factor in (a, np.asfortranarray(a)):
                found = op.kernel(NUMPY, factor, layout)
                assert found.shape == layout.shape
                assert_allclose(matrix @ found, layout, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("n", [0, 1, 7, 79, 80, 131])
def test_congruences_read_the_lower_triangles(n, dtype):
    rng = np.random.default_rng(n)
    a, h = rng.normal(size=(2, n, n)) + 1j * rng.normal(size=(2, n, n))
    a, h = (x if dtype == "complex128" else x.real.astype(dtype) for x in (a + n * np.eye(n), h))
    inverse = np.linalg.inv(np.tril(a).astype("complex128"))
    whole = np.tril(h, -1) + np.tril(h, -1).conj().T + np.diag(h.diagonal().real)
    expected = inverse.conj().T @ whole @ inverse
    close = {"rtol": 0, "atol": np.abs(expected).max(initial=0) * 40 * np.finfo(dtype).eps}
    for factor in (a, np.asfortranarray(a)):
        found = Congruence().kernel(NUMPY, factor, h.copy()[::-1][::-1])
        assert found.dtype == dtype
        assert_array_equal(found, found.conj().T)
        assert_allclose(found, expected, **close)
    for factors in (a, np.stack([a, a])):
        stacks = Congruence().kernel(NUMPY, factors, np.stack([h, h]))
        assert_allclose(stacks, [expected, expected], **close)


@pytest.mark.parametrize("n", [2, 80])
def test_congruences_of_singular_triangles_are_refused(n):
    with pytest.raises(np.linalg.LinAlgError):
        Congruence().kernel(NUMPY, np.tri(n, k=-1), np.eye(n))


def test_singular_triangles_are_refused():
    a = np.array([[1.0, 0.0], [2.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError):
        SolveTriangular(lower=True).kernel(NUMPY, a, np.ones((2, 1)))
