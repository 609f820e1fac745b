"""Values, slopes and second derivatives where activations are flat, against mpmath.

The tolerance is some units of rounding times the condition of each, that is how much a unit in the
argument changes it.
"""

import math

import pytest

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp

ROOT = mpmath.sqrt


#: By program: its truth, and whether it is one for negative ``x``.
FUNCTIONS = {
    "sigmoid(x)": (lambda x: 1 / (1 + mp.exp(-x)), True),
    "log_sigmoid(x)": (lambda x: -mp.log1p(mp.exp(-x)), True),
    "softplus(x)": (lambda x: mp.log1p(mp.exp(x)), True),
    "silu(x)": (lambda x: x / (1 + mp.exp(-x)), True),
    "mish(x)": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), True),
    "logaddexp(x, 0.0)": (lambda x: mp.log1p(mp.exp(x)), True),
    "hypot(x, 1.0)": (lambda x: ROOT(x * x + 1), True),
    "pseudo_huber(1.0, x)": (lambda x: ROOT(x * x + 1) - 1, True),
    "arcsinh(x)": (mp.asinh, True),
    "arctan(x)": (mp.atan, True),
}
POINTS = 1e-4, 1e-2, 0.7, 5.0, 15.0, 37.0, 300.0, 1e4, 1e6, 1e8


def derivatives(f, x):
    """The function and its first three derivatives, by differences of 80 digits."""
    with mp.workdps(80):
        h = mp.mpf(10) ** -15
        a, b, c, d, e = [f(x + k * h) for k in (-2, -1, 0, 1, 2)]
        slope = (a - 8 * b + 8 * d - e) / (12 * h)
        second = (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h)
        return [c, slope, second, (-a + 2 * b - 2 * d + e) / (2 * h**3)]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_nothing_cancels(ask, text):
    truth, both = FUNCTIONS[text]
    for x in [*POINTS, *([-x for x in POINTS] if both else [])]:
        true = derivatives(truth, mp.mpf(x))
        program = f"y = {text}\nd = grad(lambda x: {text})\ny, d(x), grad(d)(x)"
        found = ask.value(program, {"x": x})
        for order, (got, want, more) in enumerate(zip(found, true, true[1:], strict=False)):
            size = abs(want)
            if size < 1e-300 or size * mp.mpf(10) ** 50 < abs(true[0]):
                continue  # underflows; or mpmath's differences have no digits of it
            bound = 1e-11 * (1 + abs(x * more / want))
            assert math.isclose(float(got), float(want), rel_tol=float(bound)), (x, order)
