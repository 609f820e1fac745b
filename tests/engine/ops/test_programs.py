"""Whole-array functions called from programs, where what is static is told by parameters' names."""

import numpy as np
import pytest
from gradwire_engine.errors import DomainError, ShapeMismatch
from numpy.testing import assert_allclose

A = np.array([[4.0, 1.0], [2.0, 3.0]])

VALUES = [
    ("tril(A) + triu(A, 1)", A),
    ("trace(A, 10**12) + trace(A, -2**63)", 0),
    ("diag(A, 2**62)", []),
    ("torch.diagonal(A, -2**62)", []),
    ("tril(A, 2**63 - 1) + triu(A, -2**63)", 2 * A),
    ("tril(A, -2**63) + triu(A, 2**63 - 1)", 0 * A),
    ("tri(2, 2, 2**63 - 1) + eye(2, 2, 2**63 - 1)", np.ones((2, 2))),
    ("ravel_multi_index(triu_indices(2, -2**63), (2, 2))", [0, 1, 2, 3]),
    ("flip(A)", np.flip(A)),
    ("rot90(A)", np.rot90(A)),
    ("linspace(A[0, 1], A[0, 0], 4)", [1, 2, 3, 4]),
    ("np.linalg.norm(A, ord=np.inf)", 5),
    ("scipy.linalg.solve_triangular(A, A[0], lower=True)", [1, -1 / 3]),
    ("s, l = np.linalg.slogdet(A)\ns * exp(l)", 10),
    ("a, b = split(A, 2)\na @ b.T", [[11]]),
    ("einsum('ij,kj->ik', A, A)", A @ A.T),
    ("values, places = top_k(A, 1)\nvalues + places", [[4], [4]]),
]


@pytest.mark.parametrize(("program", "expected"), VALUES)
def test_value(program, expected, ask):
    assert_allclose(ask.value(program, {"A": A}), expected)


def test_gradient_through_linspace(ask):
    found = ask.gradients("sum(linspace(a, b, 3) * [1, 10, 100])", {"a": 0.0, "b": 4.0})
    assert found == {"a": 6.0, "b": 105.0}


def test_singular(ask):
    with pytest.raises(DomainError):
        ask.value("inv(A)", {"A": A * 0})


def test_axes_without_end(ask):
    program = "for i in range(70):\n    A = expand_dims(A, 0)\nA"
    with pytest.raises(ShapeMismatch, match="at most 64 axes"):
        ask.value(program, {"A": A})
