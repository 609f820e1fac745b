"""``quad``: one recording of each function is right for peaks, tails and kinks anywhere."""

import math
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire.tracing import quadrature
from numpy import inf
from scipy import integrate, special

ROOT = math.sqrt(2 * math.pi)


def normal(t, mean, width):
    return np.exp(-(((t - mean) / width) ** 2) / 2) / (width * ROOT)


def inside(a, b, mean, width):
    """What a normal law has between two limits."""
    high, low = [(bound - mean) / (width * math.sqrt(2)) for bound in (b, a)]
    return (special.erf(high) - special.erf(low)) / 2


PEAKS = [(1.0, 0.05), (3.0, 0.05), (1.0, 0.01), (-4.9, 0.02), (0.3, 2.0), (1.0, 0.05)]
#: The integrand of t and parameters, the limits, the integral of parameters, and parameters.
INTEGRALS: dict[str, Any] = {
    "peak": (normal, -5, 5, lambda m, s: inside(-5, 5, m, s), PEAKS),
    "two peaks": (
        lambda t, m, s: normal(t, m, s) + 2 * normal(t, -m, 3 * s), -6, 6,
        lambda m, s: inside(-6, 6, m, s) + 2 * inside(-6, 6, -m, 3 * s),
        [(1.0, 0.05), (4.0, 0.03), (0.1, 0.02)],
    ),
    "peak in a wide range": (
        lambda t, p: np.exp(-p * t**2), -50, 50, lambda p: math.sqrt(math.pi / p),
        [(1.0,), (300.0,), (0.1,)],
    ),
    "peak in an infinite range": (
        normal, -inf, inf, lambda m, s: 1.0 + 0 * m, [(0.0, 1.0), (10.0, 1.0), (-3.0, 0.1)],
    ),
    "peak, backwards": (normal, 5, -5, lambda m, s: -inside(-5, 5, m, s), PEAKS),
    "slow tail": (
        lambda t, p: (1 + t) ** -p, 0, inf, lambda p: 1 / (p - 1), [(1.2,), (3.0,), (1.1,), (8.0,)],
    ),
    "slow tails": (
        lambda t, p: p / (p**2 + t**2), -inf, inf, lambda p: math.pi, [(1.0,), (0.03,), (40.0,)],
    ),
    "tail to the left": (
        lambda t, k: np.exp(k * t), -inf, 1, lambda k: math.exp(k) / k, [(1.0,), (30.0,), (0.02,)],
    ),
    "tail from infinity": (
        lambda t, k: np.exp(-k * t), inf, 1, lambda k: -math.exp(-k) / k, [(1.0,), (9.0,)],
    ),
    "kink": (
        lambda t, a: abs(t - a), 0, 2, lambda a: (a**2 + (2 - a) ** 2) / 2,
        [(0.3,), (1.234,), (1.0,), (1.999,)],
    ),
    "two kinks": (
        lambda t, a, b: np.maximum(t - a, 0.0) + math.fabs(t - b), 0, 2,
        lambda a, b: (2 - a) ** 2 / 2 + (b**2 + (2 - b) ** 2) / 2, [(0.3, 1.1), (1.7, 0.01)],
    ),
    "oscillation": (
        lambda t, k: math.cos(k * t), 0, 10, lambda k: math.sin(10 * k) / k,
        [(1.0,), (30.0,), (80.0,)],
    ),
    "limits": (
        lambda t, a, b: a * t * np.exp(-b * t), lambda a, b: a, lambda a, b: a + b,
        lambda a, b: a * ((1 + a * b) * math.exp(-a * b)
                          - (1 + (a + b) * b) * math.exp(-(a + b) * b)) / b**2,
        [(1.0, 2.0), (0.1, 9.0)],
    ),
    "a limit and infinity": (
        lambda t, a, b: np.exp(-b * t), lambda a, b: a, inf,
        lambda a, b: math.exp(-a * b) / b, [(1.0, 2.0), (-0.5, 0.3)],
    ),
    "logarithm at 0": (
        lambda t, a: np.log(a * t), 0, 1, lambda a: math.log(a) - 1, [(1.0,), (7.0,)],
    ),
    "power at 0": (
        lambda t, p: t**-p, 0, 1, lambda p: 1 / (1 - p), [(0.5,), (0.1,), (0.6,)],
    ),
    "root at 1": (
        lambda t, a: a / np.sqrt(1 - t), 0, 1, lambda a: 2 * a, [(1.0,), (3.0,)],
    ),
    "constant": (lambda t, a: 2.0, 0, lambda a: a, lambda a: 2 * a, [(1.0,), (-2.0,)]),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_and_gradients_are_right_wherever_it_is_called(name, client):
    f, start, end, closed, points = INTEGRALS[name]
    start, end = [
        bound if callable(bound) else lambda *_, bound=bound: bound for bound in (start, end)
    ]

    def integral(x):
        parameters = tuple(x)
        found, error = integrate.quad(f, start(*parameters), end(*parameters), args=parameters)
        return found, error

    recorded = gradwire.value_and_grad(integral, has_aux=True, client=client)
    for point in map(np.array, points):
        (value, error), gradient = recorded(point)
        assert value == pytest.approx(closed(*point), rel=2e-8, abs=2e-8)
        assert 0 <= error <= 1.5e-8 * max(1, abs(value))
        for step, slope in zip(1e-5 * np.eye(len(point)), gradient, strict=True):
            expected = (closed(*(point + step)) - closed(*(point - step))) / 2e-5
            assert slope == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_integrals_are_those_of_scipy_where_it_finds_them(client):
    def f(x):
        value, _ = integrate.quad(lambda t: special.j0(x * t) * np.exp(-t / x), 0, np.inf)
        return value + integrate.quad(lambda t: np.log1p(t) ** x, 0, x, epsabs=1e-11)[0]

    recorded = gradwire.function(f, client)
    for x in (0.7, 2.0, 3.1):
        assert recorded(x) == pytest.approx(f(x), abs=3e-8)


def test_integrals_within_functions_of_the_program(client):
    def inner(y, x):
        return integrate.quad(lambda t: normal(t, y, x), -5, 5)[0]

    xs = np.array([0.03, 0.2, 1.0])
    mapped = gradwire.vmap(gradwire.grad(inner, argnums=1), in_axes=(None, 0), client=client)
    steps = 1e-6 * xs
    expected = (inside(-5, 5, 4.0, xs + steps) - inside(-5, 5, 4.0, xs - steps)) / (2 * steps)
    assert mapped(4.0, xs) == pytest.approx(expected, abs=1e-6)

    def double(x):
        return integrate.quad(lambda y: integrate.quad(lambda t: np.exp(-x * t * y), 0, y)[0], 0, 1)

    value, gradient = gradwire.value_and_grad(lambda x: double(x)[0], client=client)(2.0)
    assert value == pytest.approx(double(2.0)[0], abs=1e-8)
    assert gradient == pytest.approx((double(2.01)[0] - double(1.99)[0]) / 0.02, abs=1e-5)


def test_second_derivatives(client):
    def f(x):
        return integrate.quad(lambda t: np.exp(-x * t), 0, x)[0]

    def slope(x):
        return 2 * math.exp(-x * x) - (1 - math.exp(-x * x)) / x**2

    found = gradwire.grad(gradwire.grad(f), client=client)(1.3)
    assert found == pytest.approx((slope(1.3001) - slope(1.2999)) / 2e-4, abs=1e-6)


@pytest.mark.parametrize("power", [-1.0, -1.5])
def test_divergent_integrals_are_refused_at_the_values_that_make_them_so(power, client):
    def f(x):
        return integrate.quad(lambda t: t**x, 0, 1)[0]

    recorded = gradwire.function(f, client)
    for _ in range(2):
        assert recorded(-0.5) == pytest.approx(2.0)
        with pytest.raises(gradwire.NotTraceable, match="does not reach its tolerances"):
            recorded(power)
    within = gradwire.vmap(f, client=client)(np.array([-0.5, power]))
    assert within == pytest.approx([2.0, math.nan], nan_ok=True)


def test_the_points_and_weights_are_of_gauss_and_kronrod():
    for degree in range(32):
        powers = quadrature.POINTS**degree
        assert powers @ quadrature.WEIGHTS == pytest.approx(1 / (degree + 1), rel=1e-14)
        if degree < 20:
            assert powers @ quadrature.DIFFERENCES == pytest.approx(0, abs=1e-15)
