"""SciPy's integrators: values agree with SciPy's, derivatives with differences."""

import itertools
import math

import gradwire
import numpy as np
import pytest
import scipy.integrate

X = np.array([0.4, 0.8, 1.3])
TIMES = np.linspace(0.0, 1.0, 5)


def lotka_volterra(y, t, a, b):
    prey, predators = y
    dydt = np.zeros(2)
    dydt[0] = a * prey - b * prey * predators
    dydt[1] = -predators + prey * predators
    return dydt


def by_odeint(x):
    y = scipy.integrate.odeint(lotka_volterra, [x[2], 1.0], TIMES, args=(x[0], x[1]))
    return y[-1].sum() + y[2, 0]


def by_odeint_of_a_number(x):
    return scipy.integrate.odeint(lambda y, t: -x[0] * y, 1.0, TIMES[1:] * x[1])[-1, 0]


def by_odeint_time_first(x):
    return scipy.integrate.odeint(lambda t, y: [-x[0] * y[0] + t], x[:1], TIMES, tfirst=True).sum()


def by_solve_ivp(x):
    found = scipy.integrate.solve_ivp(
        lambda t, y, k: [y[1], -k * y[0]], (0.0, 1.0), [1.0, x[1]], "DOP853", TIMES[1:],
        args=(x[0],), rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    assert found.success
    return found.y[0, -1] + found.y.sum() + found.t[-1]


def stiff(t, y, k):
    return np.stack([y[1], 500 * k * (1 - y[0] ** 2) * y[1] - y[0]])


def by_stiff(x, method, **options):
    found = scipy.integrate.solve_ivp(
        stiff, (0.0, 9.0), [x[1] + 1, 0.0], method,
        args=(x[2],), dense_output=True, rtol=1e-10, atol=[1e-10, 1e-11], **options,
    )  # fmt: skip
    angle, speed = found.y
    later = found.sol(np.array([5.0, 3.0 * x[2]])) - found.sol(x[0])[:, None]
    return angle[-1] + 9 * speed[-1] + found.y[0, 0] + found.t[-1] + later.sum()


def by_radau(x):
    return by_stiff(x, "Radau", vectorized=True, jac=None)


def by_bdf(x):
    return by_stiff(x, scipy.integrate.BDF, first_step=1e-6)


def by_lsoda(x):
    return by_stiff(x, "LSODA")


def by_stiff_odeint(x):
    y = scipy.integrate.odeint(
        lambda y, t: stiff(t, y, x[2]), [x[1] + 1, 0.0], [0.0, 9.0], rtol=1e-10, atol=[1e-10] * 2
    )
    return y[-1, 0]


def by_quad(x):
    return scipy.integrate.quad(lambda u: np.exp(-x[0] * u) * math.cos(u), 0.0, x[1])[0]


def by_quad_to_infinity(x):
    value, _ = scipy.integrate.quad(lambda u, k: np.exp(-k * u**2), -np.inf, np.inf, args=(x[2],))
    return value + scipy.integrate.quad(lambda u: np.exp(-x[0] * u), x[1], np.inf)[0]


@pytest.mark.parametrize(
    "f",
    [
        by_odeint, by_odeint_of_a_number, by_odeint_time_first, by_solve_ivp, by_radau, by_bdf,
        by_lsoda, by_stiff_odeint, by_quad, by_quad_to_infinity,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_values_and_gradients_are_those_of_scipy(f, client):
    value, gradient = gradwire.value_and_grad(f, client=client)(X)
    assert value == pytest.approx(f(X), abs=1e-6)
    for step, slope in zip(1e-4 * np.eye(3), gradient, strict=True):
        assert slope == pytest.approx((f(X + step) - f(X - step)) / 2e-4, abs=1e-4)


def test_integrators_of_plain_numbers_are_scipys(client):
    def f(x):
        value, error = scipy.integrate.quad(np.cos, 0.0, 1.0, epsabs=1e-3, limit=7)
        y = scipy.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], "BDF")
        assert type(value) is type(error) is float
        return x * (value + y.t.size)

    assert gradwire.function(f, client)(2.0) == f(2.0)


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("full_output", lambda x: scipy.integrate.odeint(
            lambda y, t: -x * y, 1.0, TIMES, full_output=True)),
        ("hmax", lambda x: scipy.integrate.odeint(lambda y, t: -x * y, 1.0, TIMES, hmax=0.1)),
        *[
            (name, lambda x, options=options: scipy.integrate.solve_ivp(
                lambda t, y: -x * y, (0, 1), [1.0], **options).y)
            for name, options in (
                ("max_step", {"t_eval": TIMES, "max_step": 0.1}),
                ("events", {"t_eval": TIMES, "events": lambda t, y: y[0]}),
                ("min_step", {"t_eval": TIMES, "method": "LSODA", "min_step": 0.1}),
                ("method='RK4'", {"t_eval": TIMES, "method": "RK4"}),
            )
        ],
        *[
            ("t_eval", lambda x, part=part: part(scipy.integrate.solve_ivp(
                lambda t, y: -x * y, (0, 1), [1.0, 2.0])))
            for part in (
                lambda found: found.y[0, 1], lambda found: found.y[:, 1:],
                lambda found: np.sum(found.y), lambda found: 2 * found.y, lambda found: found.y.T,
                lambda found: len(found.t), lambda found: np.trapezoid(found.y[0], found.t),
            )
        ],
        *[
            (name, lambda x, options=options: scipy.integrate.quad(
                lambda u: x * u, 0, 1, **options))
            for name, options in (
                ("points", {"points": [0.5]}), ("full_output", {"full_output": 1}),
                ("complex_func", {"complex_func": True}),
            )
        ],
    ],
    ids=itertools.count(),
)  # fmt: skip
def test_options_without_a_counterpart_are_refused_by_name(name, f, client):
    with pytest.raises(gradwire.NotTraceable, match=name):
        gradwire.function(f, client)(1.0)


@pytest.mark.parametrize(
    ("times", "said"), [([0.5, 2.0], "within"), ([-0.5, 0.0], "within"), ([0.5, 0.2], "sorted")]
)
def test_times_that_scipy_refuses_are_refused(times, said, client):
    def f(x):
        return scipy.integrate.solve_ivp(lambda t, y: -x * y, (0, 1), [1.0], t_eval=times).y

    with pytest.raises(ValueError, match=said):
        f(1.0)
    with pytest.raises(ValueError, match=said):
        gradwire.function(f, client)(1.0)


@pytest.mark.parametrize("times", [None, [1.0, 2.0]])
@pytest.mark.parametrize(
    "reached",
    [lambda found: found.success, lambda found: found.status == 0],
    ids=["success", "status"],
)
def test_a_solution_without_a_value_at_its_end_is_no_success(times, reached, client):
    def f(x):
        found = scipy.integrate.solve_ivp(
            lambda t, y: x * y**2, (0.0, 2.0), [1.0], t_eval=times, rtol=1e-8
        )
        return 2 * x if reached(found) else -x

    assert gradwire.function(f, client)(0.1) == f(0.1) == 0.2
    assert f(1.0) == -1
    with pytest.raises(gradwire.DomainError, match="reach the next time"):
        gradwire.function(f, client)(1.0)
