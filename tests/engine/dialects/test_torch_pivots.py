"""Swaps of rows and their order, back and forth."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal

from tests.tables import cases

RNG = np.random.default_rng(11)
A = RNG.normal(size=(2, 4, 4))


@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (2, 4), (5, 3), (1, 1), (0, 0), (3, 0)])
def test_what_is_factored_is_what_is_unpacked(ask, shape):
    a = RNG.normal(size=shape)
    text = "f = torch.linalg.lu_factor(a)\np, l, u = torch.lu_unpack(f.LU, f.pivots)\np @ l @ u"
    assert_allclose(ask.value(text, {"a": a}), a, atol=1e-14)


def test_swaps_are_lapacks(ask):
    packed, pivots = ask.value("torch.linalg.lu_factor(a)", {"a": A})
    for matrix, both, swaps in zip(A, packed, pivots, strict=True):
        expected, order = scipy.linalg.lu_factor(matrix)
        assert_allclose(both, expected, atol=1e-14)
        assert_array_equal(swaps, order + 1)
        assert swaps.dtype == np.int32


@cases("text, expected")
def test_solution(ask, text, expected):
    found = ask.value(f"f = torch.linalg.lu_factor(a)\n{text}", {"a": A, "x": A.mT})
    assert_allclose(found, expected, atol=1e-12)


def test_the_first_pivot_that_is_0_is_counted_from_1(ask):
    singular = np.diag([1.0, 0.0, 0.0])
    info = ask.value("torch.linalg.lu_factor_ex(a).info", {"a": np.stack([singular, np.eye(3)])})
    assert info.tolist() == [2, 0]


def test_examples_of_a_batch_have_their_own_swaps(ask):
    text = (
        "def g(m):\n    f = torch.linalg.lu_factor(m)\n    return torch.lu_unpack(f[0], f[1])[0]\n"
        "torch.vmap(g)(a)"
    )
    expected = [scipy.linalg.lu(matrix)[0] for matrix in A]
    assert_array_equal(ask.value(text, {"a": A}), expected)
