"""Derivatives of Bessel functions in the order: closed forms, recorded values, and the domain.

The recorded values were computed once with mpmath, in 40 digits.
"""

from math import inf, nan, pi

import numpy as np
import pytest
import scipy.special as sp
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.ops.special.bessel_orders import (
    IveInOrder,
    IvInOrder,
    JvInOrder,
    KveInOrder,
    KvInOrder,
    YvInOrder,
)
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import results

X = np.array([1e-6, 0.01, 0.7, 3.0, 20.0, 150.0])


def found(op, v, x, n=1):
    with np.errstate(all="ignore"):
        return op(n).kernel(NUMPY, np.asarray(v, float), np.asarray(x, float))


def test_at_order_zero():
    """DLMF 10.15.5, 10.38.4."""
    assert_allclose(found(JvInOrder, 0, X), pi / 2 * sp.y0(X), rtol=1e-11)
    assert_allclose(found(YvInOrder, 0, X), -pi / 2 * sp.j0(X), rtol=1e-11)
    assert_allclose(found(IvInOrder, 0, X[:4]), -sp.k0(X[:4]), rtol=1e-11)
    assert not found(KvInOrder, 0, X).any()


def test_at_order_one_half():
    """DLMF 10.15.6, 10.15.8, 10.38.6, 10.38.7."""
    (sine, cosine), root = sp.sici(2 * X), np.sqrt(2 / (pi * X))
    in_j = root * (cosine * np.sin(X) - sine * np.cos(X))
    in_y = root * (cosine * np.cos(X) + (sine - pi) * np.sin(X))
    assert_allclose(found(JvInOrder, 0.5, X), in_j, rtol=1e-11)
    assert_allclose(found(YvInOrder, 0.5, X), in_y, rtol=1e-11)
    near = X[:4]
    one, other = sp.exp1(2 * near) * np.exp(near), sp.expi(2 * near) * np.exp(-near)
    in_i = -(one + other) / np.sqrt(2 * pi * near)
    assert_allclose(found(IvInOrder, 0.5, near), in_i, rtol=1e-10)
    in_k = np.sqrt(pi / (2 * near)) * one
    assert_allclose(found(KvInOrder, 0.5, near), in_k, rtol=1e-11)


@pytest.mark.parametrize(
    ("op", "n", "v", "x", "expected"),
    [
        (JvInOrder, 1, 40, 0.5, -5.149972055136141e-72),
        (JvInOrder, 2, -3, 2, -3.761908119769013),
        (JvInOrder, 1, 30, 30, -0.04319255629598024),
        (JvInOrder, 1, 12.5, 900, 0.000843776957138511),
        (JvInOrder, 3, 1.5, 0.2, -0.5317556898879767),
        (YvInOrder, 1, 40, 0.5, -3.980180895221349e70),
        (YvInOrder, 2, -3, 2, -9.218409217227006),
        (YvInOrder, 1, 30, 30, -0.07259548275008386),
        (YvInOrder, 1, 0.001, 0.001, -1.6292199686235527),
        (IvInOrder, 1, 25, 0.3, -8.368118576944628e-46),
        (IvInOrder, 2, -4, 6, 5.071412642057589),
        (IvInOrder, 1, 3, 80, -8.824600311340997e31),
        (KvInOrder, 1, 25, 0.3, 6.25472305781931e44),
        (KvInOrder, 2, -4, 6, 0.0020102077538676592),
        (KvInOrder, 1, 3, 80, 9.949554870559654e-38),
    ],
)
def test_recorded(op, n, v, x, expected):
    assert found(op, v, x, n) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("x", [0.3, 4.0, 60.0])
@pytest.mark.parametrize("v", [-2.5, 0.0, 7.0])
def test_scaled(v, x):
    assert found(IveInOrder, v, x) == pytest.approx(found(IvInOrder, v, x) * np.exp(-x), rel=1e-11)
    assert found(KveInOrder, v, x) == pytest.approx(found(KvInOrder, v, x) * np.exp(x), rel=1e-11)


def test_outside():
    for op in (JvInOrder, YvInOrder, IvInOrder, KvInOrder):
        assert np.isnan(found(op, 2, [-1.0, nan, inf])).all()
        assert np.isnan(found(op, -0.5, 0))
    assert found(JvInOrder, 2, 0) == found(IvInOrder, 0.5, 0) == 0
    assert np.isnan(found(KvInOrder, 2, 0))


def test_order_of_a_complex_argument_is_held(gradients):
    v, x = np.array([2.0 + 0j]), np.array([0.3 + 0.4j])
    assert gradients(lambda f, v, x: f.real(f.jv(v, x)), v, x)[0] is None
    assert np.isnan(results("jv", v + 1j, x)[0])


def test_many_elements():
    v, x = np.linspace(-3, 9, 600), np.full(600, 2.0)
    some = found(JvInOrder, v[::100], x[::100])
    assert_allclose(some, found(JvInOrder, v, x)[::100], rtol=1e-12)


#: Orders beside whole ones, and arguments on both sides of where series are asymptotic.
BESIDE = [(v, x) for v in (1e-8, -1e-3, 0.5, 3.0, -2.7) for x in (0.5, 2.5, 45.0, 400.0)]
BESIDE.append((38.0, 250.0))


@pytest.mark.parametrize("name", "jv yv iv kv ive kve".split())
def test_second_derivatives_in_the_order_are_mpmaths(ask, name):
    mp = pytest.importorskip("mpmath").mp
    function = getattr(mp, f"bessel{name[0]}")
    growth = {"ive": -1, "kve": 1}.get(name, 0)
    v, x = np.array(BESIDE).T
    program = f"d = grad(sum({name}(v, x)), v)\nd, grad(sum(d), v), grad(sum(d), x)"
    found = np.array(ask.value(program, {"v": v, "x": x})).T
    for (order, at), derivatives in zip(BESIDE, found, strict=True):
        with mp.workdps(50):
            p, q = mp.mpf(order), mp.mpf(at)
            h, k = p * mp.mpf(10) ** -10, q * mp.mpf(10) ** -10
            a, b, c, d, z, e, f = [
                function(p + i * h, q + j * k) * mp.exp(growth * (q + j * k))
                for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 0), (1, 0), (-1, 0))
            ]
            true = [(e - f) / (2 * h), (e + f - 2 * z) / h**2, (a - b - c + d) / (4 * h * k)]
        expected, small = np.array(true, float), float(abs(z)) * 1e-12
        assert_allclose(derivatives, expected, 1e-9, small, err_msg=f"{order} {at}")


def test_derivatives_in_the_order_overflow_as_functions_do(ask):
    program = "grad(sum(iv(v, 1000.0)), v), grad(sum(yv(100 * v, 0.5)), v)"
    found = ask.value(program, {"v": np.array([-2.5, 10.0])})
    assert_array_equal(found, [[np.inf, -np.inf], [found[1][0], -np.inf]])
