"""Functions of which the values decide the dtype or the shape of the result."""

import gradwire
import numpy as np
import pytest
import scipy.linalg

RNG = np.random.default_rng(3)
SYMMETRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
ROTATING = np.array([[0.2, 1.0], [-1.0, 0.3]])
POSITIVE = np.array([[3.0, 0.4], [0.1, 2.0]])
NEGATIVE = np.array([[-3.0, 0.4], [0.1, -2.0]])

CASES = [
    ("real if close", np.real_if_close, np.array([1.0 + 1e-15j, 2.0])),
    ("real if close", np.real_if_close, np.array([1.0 + 1e-3j, 2.0])),
    ("real if close", lambda x: np.real_if_close(x, 1e-2), np.array([1.0 + 1e-3j, 2.0])),
    ("real if close", np.real_if_close, np.array([1.0, 2.0])),
    ("trim zeros", np.trim_zeros, np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0])),
    ("trim zeros", lambda x: np.trim_zeros(x, "f"), np.array([0.0, 1.0, 0.0])),
    ("trim zeros", lambda x: np.trim_zeros(x, "b"), np.array([0.0, 0.0])),
]


@pytest.mark.filterwarnings("ignore::gradwire.RecordingWarning")  # check notes other dtypes
@pytest.mark.parametrize("matrix", [POSITIVE, NEGATIVE], ids=["real root", "complex root"])
@pytest.mark.parametrize("function", [scipy.linalg.sqrtm, scipy.linalg.logm])
def test_functions_of_matrices_are_complex_where_scipys_are(function, matrix, check):
    check(function, matrix)


@pytest.mark.parametrize("matrix", [SYMMETRIC, ROTATING], ids=["real", "complex"])
def test_eigenvalues_are_real_where_numpys_are(matrix, check):
    check(np.linalg.eigvals, matrix)
    check(lambda a: np.abs(np.linalg.eig(a)[1]), matrix)


def test_values_and_derivatives_are_those_of_numpy(case, check):
    _, f, x = case
    check(f, x, order=0 if x[-1] == 0 else 1)  # what moves is not trimmed


def test_another_dtype_is_another_recording(client):
    root = gradwire.function(scipy.linalg.sqrtm, client)
    for matrix in (POSITIVE, NEGATIVE, POSITIVE):
        expected = scipy.linalg.sqrtm(matrix)
        found = root(matrix)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nothing_is_decided_inside_of_a_function_of_the_program(client):
    found = gradwire.vmap(np.linalg.eigvals, client=client)(np.stack([SYMMETRIC, ROTATING]))
    assert found.dtype == complex
