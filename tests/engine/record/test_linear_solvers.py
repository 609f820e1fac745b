"""Linear systems by products alone, against direct solutions, their derivatives, and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.linalg
from gradwire_engine import Leaf, Sparse
from numpy.testing import assert_allclose
from scipy.sparse import diags_array

from tests.tables import cases

N = 24
RANDOM = np.random.default_rng(7).normal(size=(N, N))
POSITIVE = RANDOM @ RANDOM.T / N + np.eye(N)
GENERAL = RANDOM / N**0.5 / 2 + 2 * np.eye(N)
B = np.linspace(-1, 2, N)
METHODS = {"cg": POSITIVE, "bicgstab": GENERAL, "gmres": GENERAL}
FORMS = {"matrix": "A", "function": "lambda v: A @ v", "parts": "lambda v: 2 * v + (A @ v - 2 * v)"}


TEXTS = [
    "sum(SOLVE(A, b)**3)",
    "y = sum(SOLVE(A, b)**3)\nsum(grad(y, b)**2)",
    "sum(vmap(lambda b: SOLVE(A, b))(stack([b, 2 * b, b**2]))**3)",
    "sum(jacobian(lambda b: SOLVE(A, b**2))(b)**2)",
    "z = b\nfor i in range(120):\n    z = SOLVE(A, z) + b\nsum(z**2)",
]


@pytest.mark.parametrize(
    ("text", "method", "form"),
    [
        (text, method, form)
        for t, text in enumerate(TEXTS)
        for m, method in enumerate(METHODS)
        for f, form in enumerate(FORMS)
        if t == 1 or (t + m + f) % 3 == 0
    ],
)
def test_solutions_and_derivatives_are_those_of_solve(ask, text, method, form):
    at = {"A": METHODS[method], "b": B}
    solver = f"SOLVE = lambda A, b: {method}({FORMS[form]}, b, tol=1e-12)\n"
    found = ask.answer((solver + text).replace("SOLVE", "krylov"), at)
    wanted = ask.answer(text.replace("SOLVE", "solve"), at)
    assert_allclose(found.value, wanted.value, rtol=1e-9)
    for name, want in wanted.gradients.items():
        scale = np.abs(want).max()
        assert_allclose(found.gradients[name], want, rtol=1e-8, atol=1e-8 * scale)


@pytest.mark.parametrize("method", METHODS)
def test_examples_of_a_batch_are_those_of_each(ask, method):
    b = np.stack([B, B[::-1], np.zeros(N), np.eye(N)[3]])
    at = {"A": METHODS[method], "b": b}
    answer = ask.answer(f"sum({method}(A, b, tol=1e-12))", at, batch={"b": 0})
    assert_allclose(answer.value, np.linalg.solve(at["A"], b.T).sum(0), atol=1e-9)
    want = np.linalg.solve(at["A"].T, np.ones(N))
    assert_allclose(answer.gradients["b"], np.stack([want] * 4), atol=1e-9)


def test_a_sparse_matrix_is_multiplied_by_its_elements(ask):
    """The Laplacian of a line of a thousand points: its gradient has as many elements."""
    count = 1000
    ends = [-np.ones(count - 1), np.full(count, 2.5), -np.ones(count - 1)]
    matrix = diags_array(ends, offsets=[-1, 0, 1]).tocoo()
    indices = np.stack(matrix.coords, 1).astype(np.int64)
    parts = Sparse({"indices": Leaf(indices), "values": Leaf(matrix.data)}, matrix.shape)
    b = np.sin(np.arange(count))
    answer = ask.answer("x = cg(A, b, tol=1e-12)\nsum(x**2) / 2", {"A": parts, "b": b})
    x = scipy.sparse.linalg.spsolve(matrix.tocsc(), b)
    other = scipy.sparse.linalg.spsolve(matrix.tocsc(), x)
    assert answer.value == pytest.approx((x**2).sum() / 2)
    assert_allclose(answer.gradients["b"], other, atol=1e-9)
    got = answer.gradients["A"]["values"]
    assert_allclose(got, -other[indices[:, 0]] * x[indices[:, 1]], atol=1e-9)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_complex_systems_of_functions_of_matrices(ask, method):
    """``A`` acts on a 3 by 2 array, from one side."""
    a = np.array([[4, 1j, 0], [-1j, 5, 1 - 1j], [0, 1 + 1j, 6]])
    b = np.array([[1, 2j], [3, -1], [0.5j, 1]])
    text = f"sum(abs({method}(lambda v: a @ v, b, tol=1e-12))**2)"
    found, wanted = [ask.answer(t, {"a": a, "b": b}) for t in (text, "sum(abs(solve(a, b))**2)")]
    assert found.value == pytest.approx(wanted.value)
    for name, want in wanted.gradients.items():
        assert_allclose(found.gradients[name], want, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_names_of_other_libraries(ask, method):
    at = {"A": METHODS[method], "b": B}
    text = f"scipy.sparse.linalg.{method}(A, b, rtol=1e-12)"
    x, failed = ask.value(text, at)
    wanted, _ = getattr(scipy.sparse.linalg, method)(METHODS[method], B, rtol=1e-12)
    assert_allclose(x, wanted, atol=1e-9)
    assert failed == 0
    few = "12, maxiter=1, x0=b, restart=3)" if method == "gmres" else "12, maxiter=1, x0=b)"
    assert ask.value(text.replace("12)", few), at)[1] == 1
    assert_allclose(ask.value(f"jax.{text.replace('rtol', 'tol')}[0]", at), x)


@cases("text, error, words")
def test_mistakes_are_named_and_placed(ask, text, error, words):
    with pytest.raises(error) as caught:
        ask.value(text, {"A": POSITIVE, "b": B})
    assert words in f"{caught.value} {caught.value.hint}"
    assert caught.value.at
