"""Polynomials are NumPy's; zeros move as the coefficients say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results

P = np.array([2.0, -1.0, 0.5, 3.0])
AT = np.linspace(-1, 2, 7)
VALUES = np.random.default_rng(3).normal(size=(7, 2))
W = np.linspace(0.5, 2, 7)
CASES = [
    ("polyval", P, AT),
    ("polyval", [1, 2], 3),
    ("polyadd", P, P[:2]),
    ("polysub", [1, 2], [1, 2, 3]),
    ("polymul", P, P[1:]),
    ("polyder", P, 2),
    ("polyder", [3, 2, 1]),
    ("polyint", P, 2, [5, 7]),
    ("polyint", P, 2, 4),
    ("poly", [1.5, -2.0, 0.25]),
    ("polyfit", AT, VALUES[:, 0], 3),
    ("polyfit", AT, VALUES, 2),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_value(case):
    name, *args = case
    (found,) = results(name, *args)
    assert_allclose(found, getattr(np, name)(*args), rtol=1e-9)


def test_weighted_fit():
    (found,) = results("polyfit", AT, VALUES, 2, w=W)
    assert_allclose(found, np.polyfit(AT, VALUES, 2, w=W))


@pytest.mark.parametrize("p", [P, [1.0, 0, 1], [2.0, -3], [1.0, 2, 0, 0]])
def test_zeros(p):
    (found,) = results("roots", np.array(p))
    assert_allclose(np.sort_complex(found), np.sort_complex(np.roots(p)), atol=1e-12)


def test_zeros_move_by_the_implicit_function_theorem(gradients):
    p = np.poly([1.0, 2.0, 4.0])
    (found,) = gradients(lambda f, x: f.max(f.real(f.roots(x))), p)
    slope = np.polyval(np.polyder(p), 4.0)
    assert found == pytest.approx(-(4.0 ** np.arange(3, -1, -1)) / slope)
