"""Derivatives of special functions where gamma functions have poles, at 0, and in parameters."""

from typing import Any

import numpy as np
import pytest

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp

HALF = mpmath.mpf("0.5")
#: By program in ``x`` and ``a``: its truth, and the points.
CASES: dict[str, Any] = {
    "poch(x, a)": (mp.rf, [(x, a) for x in (-3, -2, -1, 0, 1) for a in (1, 2, 3, 5)]),
    "poch(x, a) ": (mp.rf, [(0.0, 1.5), (-2.0, 2.7), (-1.0, 4.5), (-1.5, 2.0)]),
    "binom(x, a)": (mp.binomial, [(x, a) for x in (0, 1, 2, 5) for a in (0, 1, 2, 3, 7)]),
    "struve(a, x)": (
        lambda x, a: mp.struveh(a, x),
        [(x, a) for x in (0, 0.4, 3) for a in (0, 1, 2)],
    ),
    "struve(a, x) ": (lambda x, a: mp.struveh(a, x), [(-0.5, 1), (-2.5, 0), (-2.5, 1), (0.7, 1.5)]),
    "modstruve(a, x)": (
        lambda x, a: mp.struvel(a, x),
        [(x, a) for x in (0, 0.4, 3) for a in (0, 1, 2)],
    ),
    "eval_jacobi(3, a, 0.5, x)": (
        lambda x, a: mp.jacobi(3, a, HALF, x),
        [(0.3, 0.7), (-1, 0), (1, 2), (0.2, -0.5)],
    ),
    "eval_jacobi(4, -0.5, a, x)": (lambda x, a: mp.jacobi(4, -HALF, a, x), [(0.3, 0.7), (-1, 0)]),
    "eval_gegenbauer(4, a, x)": (lambda x, a: mp.gegenbauer(4, a, x), [(0.3, 0.7), (1, 0.5)]),
    "eval_genlaguerre(5, a, x)": (
        lambda x, a: mp.laguerre(5, a, x),
        [(0.3, 0.7), (0, 0), (4, -0.5)],
    ),
    "gammainc(a, x)": (
        lambda x, a: mp.gammainc(a, 0, x, regularized=True),
        [(x, a) for a in (0.5, 2.5, 20) for x in (0.3, 2.5, 9, 21, 40)],
    ),
    "gammainc(2.0, x) + 0 * a": (lambda x, a: 1 - (1 + x) * mp.exp(-x), [(0, 1)]),
    "betainc(2.0, 2.0, x) + 0 * a": (lambda x, a: x * x * (3 - 2 * x), [(0, 1), (1, 1), (0.3, 1)]),
}
#: At whole ``x`` and ``a`` these jump in ``a``.
ONE_SIDED = {"poch(x, a)"}


def differences(f, x, n):
    """The derivative of an order, by central differences of 60 digits."""
    with mp.workdps(60):
        h = mp.mpf(10) ** -12
        a, b, c, d, e = [f(mp.mpf(x) + k * h) for k in (-2, -1, 0, 1, 2)]
        if n == 1:
            return float((a - 8 * b + 8 * d - e) / (12 * h))
        return float((-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h))


@pytest.mark.parametrize("text", CASES)
def test_derivatives_exist_to_second_order(ask, text):
    truth, points = CASES[text]
    program = (
        f"f = lambda x, a: {text}\nf(x, a), grad(f)(x, a), grad(grad(f))(x, a), grad(f, 1)(x, a)"
    )
    for x, a in points:
        found = ask.value(program, {"x": float(x), "a": float(a)})
        expected = [float(truth(mp.mpf(x), mp.mpf(a)))]
        expected += [differences(lambda x, a=a: truth(x, mp.mpf(a)), x, n) for n in (1, 2)]
        np.testing.assert_allclose(found[:3], expected, 1e-9, 1e-12, err_msg=f"{x} {a}")
        if text not in ONE_SIDED and "struve" not in text:
            in_a = differences(lambda a, x=x: truth(mp.mpf(x), a), a, 1)
            np.testing.assert_allclose(found[3], in_a, 1e-9, 1e-12, err_msg=f"{x} {a}")
