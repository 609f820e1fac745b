"""Functions, polar forms and structures of matrices are SciPy's and NumPy's."""

import numpy as np
import pytest
import scipy.linalg
from gradwire_engine.check import Call, check, evaluate
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results

RNG = np.random.default_rng(53)
A = RNG.normal(size=(3, 3)) * 0.5 + 2 * np.eye(3)
B = RNG.normal(size=(3, 3))
TALL = RNG.normal(size=(4, 3))
V = RNG.normal(size=3)
MIXED = A @ np.diag([1.0, -1, 1]) @ np.linalg.inv(A)
CASES = [
    *[
        (name, x)
        for name in ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")
        for x in (B, B + 0.5j * A)
    ],
    *[("fractional_matrix_power", A, t) for t in (0.3, -1.5, 2, -1)],
    ("signm", MIXED),
    ("expm_frechet", A, B),
    *[("polar", x, side) for x in (A, TALL, TALL.T, A + 1j * B) for side in ("right", "left")],
    ("orthogonal_procrustes", TALL, TALL @ B),
    ("circulant", V),
    ("hankel", V),
    ("hankel", V, TALL[:, 0]),
    ("khatri_rao", A, TALL),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_value(case):
    name, *args = case
    found = evaluate(Call.of(name, *args).record, [x for x in args if isinstance(x, np.ndarray)])
    expected = getattr(scipy.linalg, name)(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("axes", [None, (0, 2)])
def test_tensors(axes):
    a, b = RNG.normal(size=(3, 2, 3, 2)), RNG.normal(size=(2, 2) if axes else (3, 2))
    a = a if axes is None else RNG.normal(size=(2, 2, 2, 2))
    (found,) = results("tensorsolve", a, b, axes)
    assert_allclose(found, np.linalg.tensorsolve(a, b, axes), rtol=1e-8)
    (found,) = results("tensorinv", a)
    assert_allclose(found, np.linalg.tensorinv(a), rtol=1e-8)


def test_the_elements_of_a_right_hand_tensor_are_in_row_major_order():
    a, b = RNG.normal(size=(3, 2, 2, 3)), RNG.normal(size=(2, 3))
    (found,) = results("tensorsolve", a, b)
    assert_allclose(found, np.linalg.tensorsolve(a, b), rtol=1e-8)


@pytest.mark.parametrize("name", ["matvec", "vecmat"])
def test_products_with_vectors(name):
    matrices, vectors = RNG.normal(size=(2, 3, 3)) + 1j, RNG.normal(size=(2, 3)) - 0.5j
    pair = (matrices, vectors) if name == "matvec" else (vectors, matrices)
    (found,) = evaluate(Call.of(name, *pair).record, list(pair))
    text = "...ij,...j->...i" if name == "matvec" else "...i,...ij->...j"
    first = pair[0] if name == "matvec" else pair[0].conj()
    assert_allclose(found, np.einsum(text, first, pair[1]))


def test_a_unitary_factor_is_smooth_where_singular_values_are_equal():
    rotation = scipy.linalg.polar(B)[0]
    assert check(Call.of("polar", rotation * 2).record, [rotation * 2], order=3) == []
