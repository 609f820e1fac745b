"""Ordinary differential equations, against closed forms, SciPy's solver and differences of it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from gradwire_engine.engine import Engine
from gradwire_engine.errors import (
    BadArgument,
    DomainError,
    DtypeMismatch,
    EngineError,
    ShapeMismatch,
)
from scipy.integrate import solve_ivp

TIMES = np.linspace(0, 5, 11)
WEIGHTS = np.linspace(-1, 1, 22).reshape(11, 2)
WAYS = ["", ", adjoint=True"]
#: ``y' = -k y cos t``: ``y = y0 exp(-k sin t)``.
DECAY = """
def last(k, y0, T):
    slope = lambda y, t: -k * y * cos(t)
    return odeint(slope, y0, [0.0, 1.0, T], method='dopri5', rtol=1e-10, atol=1e-10WAY)[-1]


"""


@pytest.mark.parametrize(
    ("method", "order"), [("euler", 1), ("midpoint", 2), ("heun", 2), ("rk4", 4)]
)
@pytest.mark.parametrize("steps", [(16, 32), (150, 300)])
def test_the_error_of_a_method_falls_with_its_order(ask, method, order, steps):
    """Few steps are recorded one by one, many as a loop."""
    errors, slopes = [], []
    for number in steps:
        text = f"odeint(lambda y, t: y * cos(t), y0, [0.0, 1.0, 2.0], method='{method}', steps=N)"
        answer = ask.answer(text.replace("N", str(number)) + "[-1]", {"y0": 1.0})
        errors.append(abs(answer.value - np.exp(np.sin(2))))
        slopes.append(abs(answer.gradients["y0"] - np.exp(np.sin(2))))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)
    assert np.log2(slopes[0] / slopes[1]) == pytest.approx(order, abs=0.4)


def test_many_steps_are_recorded_as_fast_as_few(ask):
    """``y' = -y``, by ten thousand steps of Euler's method: exactly ``(1 - h)^n``."""
    text = "odeint(lambda y, t: -k * y, 1.0, [0.0, 1.0], method='euler', steps=10000)[-1]"
    answer = ask.answer(text, {"k": 1.5})
    assert answer.value == pytest.approx((1 - 1.5e-4) ** 10000, rel=1e-11)
    assert answer.gradients["k"] == pytest.approx(-((1 - 1.5e-4) ** 9999), rel=1e-11)


def van_der_pol(mu: float, y0: Any, end: float) -> Any:
    def slope(t: float, y: Any) -> Any:
        return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]

    times = np.linspace(0, end, 11)
    found = solve_ivp(slope, (0, end), y0, t_eval=times, method="DOP853", rtol=1e-12, atol=1e-12)
    return found.y.T


@pytest.mark.parametrize("way", WAYS)
def test_adaptive_steps_are_scipys_solution_and_its_differences(ask, way):
    text = f"""
slope = lambda y, t: stack([y[1], mu * (1 - y[0]**2) * y[1] - y[0]])
y = odeint(slope, y0, linspace(0, T, 11), method='dopri5', rtol=1e-9, atol=1e-9{way})
sum(w * y)
"""
    at: dict[str, Any] = {"mu": 1.5, "y0": np.array([2.0, 0.0]), "T": 5.0}
    answer = ask.answer(text, {**at, "w": WEIGHTS})
    found = van_der_pol(*at.values())
    np.testing.assert_allclose(answer.gradients["w"], found, atol=1e-7)

    def difference(**step: Any) -> float:
        ahead, behind = [
            (WEIGHTS * van_der_pol(*[v + sign * step.get(k, 0) for k, v in at.items()])).sum()
            for sign in (1, -1)
        ]
        return float(ahead - behind) / 2e-5

    got = answer.gradients
    assert got["mu"] == pytest.approx(difference(mu=1e-5), rel=1e-6)
    assert got["T"] == pytest.approx(difference(T=1e-5), rel=1e-6)
    want = [difference(y0=step) for step in np.eye(2) * 1e-5]
    np.testing.assert_allclose(got["y0"], want, rtol=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("grad(last)(k, y0, T)", lambda y, s, c: -s * y),
        ("grad(grad(last))(k, y0, T)", lambda y, s, c: s * s * y),
        ("grad(lambda T: grad(last)(k, y0, T))(T)", lambda y, s, c: (-c + 1.3 * c * s) * y),
        ("sum(vmap(lambda y0: last(k, y0, T))(y0 * ones(3)))", lambda y, s, c: 3 * y),
        ("vmap(grad(last))(stack([k, k]), stack([y0, 2 * y0]), stack([T, T]))[1]",
         lambda y, s, c: -2 * s * y),
        ("grad(lambda k: sum(vmap(last)(stack([k, 2.0]), ones(2) * y0, stack([T, 3.0]))))(k)",
         lambda y, s, c: -s * y),
        ("jacobian(lambda y: last(k, y, T))(stack([y0, 3.0]))[0, 0]", lambda y, s, c: y / 2),
        ("hessian(lambda k: sum(last(k, y0, T)))(k)", lambda y, s, c: s * s * y),
        ("r = 0.0\nfor i in range(3):\n    r = r + last(k, y0, T)\nr", lambda y, s, c: 3 * y),
    ],
)  # fmt: skip
def test_derivatives_mapped_and_of_higher_order_are_of_closed_form(ask, way, text, want):
    at = {"k": 1.3, "y0": 2.0, "T": 1.7}
    sine, cosine = np.sin(1.7), np.cos(1.7)
    found = ask.value(DECAY.replace("WAY", way) + text, at)
    assert found == pytest.approx(want(2 * np.exp(-1.3 * sine), sine, cosine), rel=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_examples_of_a_batch_take_steps_of_their_own(ask, way):
    k, end = np.array([0.2, 1.0, 5.0]), np.array([3.0, 0.5, -2.0])
    text = DECAY.replace("WAY", way) + "last(k, y0, T)"
    batch = {"k": 0, "T": 0}
    answer = ask.answer(text, {"k": k, "y0": 2.0, "T": end}, batch=batch)
    np.testing.assert_allclose(answer.value, 2 * np.exp(-k * np.sin(end)), rtol=1e-7)
    want = -np.sin(end) * answer.value
    np.testing.assert_allclose(answer.gradients["k"], want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("passes", [3, 200])
def test_names_mean_what_they_did_when_the_equation_was_solved(ask, way, passes):
    text = f"""
def slope(y, t):
    return -k * y


total = 0.0
for i in range({passes}):
    total = total + odeint(slope, 1.0, [0.0, 1.0], method='dopri5'{way})[-1]
    k = k * 1.01
total
"""
    powers = 1.01 ** np.arange(passes)
    want = -(powers * np.exp(-0.3 * powers)).sum()
    assert ask.gradients(text, {"k": 0.3})["k"] == pytest.approx(want, rel=1e-6)


@pytest.mark.thorough
def test_the_adjoint_keeps_no_step(ask):
    text = "sum(odeint(lambda y, t: -k * y * cos(t), y0, [0, 1], steps={}{})[-1])"
    peaks = {}
    for way in WAYS:
        for steps in (500, 2000):
            at = {"k": 1.3, "y0": np.ones(1000)}
            ask.gradients(text.format(steps, way), at)
            Engine.backend.release()  # else what it keeps is not asked for again
            tracemalloc.start()
            ask.gradients(text.format(steps, way), at)
            _, peaks[way, steps] = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    assert peaks[WAYS[0], 2000] > 3 * peaks[WAYS[0], 500]
    assert peaks[WAYS[1], 2000] < 1.5 * peaks[WAYS[1], 500]
    assert peaks[WAYS[1], 2000] < 0.1 * peaks[WAYS[0], 2000]


@pytest.mark.parametrize("way", ["", ", method='dopri5'", ", method='dopri5', adjoint=True"])
def test_nested_values_and_parameters_move_together(ask, way):
    """An oscillator, mapped over frequencies: its amplitude's derivatives are of closed form."""
    text = f"""
def swing(w):
    slope = lambda y, t, w: {{'x': y['v'], 'v': -w * w * y['x']}}
    return odeint(slope, {{'x': a, 'v': 0.0}}, linspace(0, 1, 41), w{way})['x'][-1]


vmap(value_and_grad(swing))(w)
"""
    w, a = np.array([1.0, 2.0, 3.0]), 0.7
    value, slope = ask.value(text, {"w": w, "a": a})
    np.testing.assert_allclose(value, a * np.cos(w), atol=1e-6)
    np.testing.assert_allclose(slope, -a * np.sin(w), atol=1e-5)


@pytest.mark.parametrize("way", ["steps=20", "method='dopri5'", "method='dopri5', adjoint=True"])
def test_times_may_fall_repeat_or_be_one(ask, way):
    text = f"odeint(lambda y, t: -k * y, y0, times, {way})"
    assert ask.value(text, {"k": 0.8, "y0": 3.0, "times": [2.0]}) == [3]
    for times in ([1.0, 1.0, 0.0, 0.0], [0.0, 2.0, 1.0]):
        answer = ask.answer(text, {"k": 0.8, "y0": 3.0, "times": times})
        want = 3 * np.exp(-0.8 * (np.array(times) - times[0]))
        np.testing.assert_allclose(answer.value, want, rtol=1e-6)
        moved = -0.8 * want
        moved[0] = 0.8 * want[1:].sum()
        np.testing.assert_allclose(answer.gradients["times"], moved, rtol=1e-5, atol=1e-6)
        assert answer.gradients["y0"] == pytest.approx(want.sum() / 3, rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_complex_values_turn(ask, way):
    text = f"real(odeint(lambda y, t: 1j * k * y, y0, [0.0, 1.0], method='dopri5'{way})[-1])"
    got = ask.gradients(text, {"k": 0.6, "y0": 2.0 + 0j})
    assert got["k"] == pytest.approx(-2 * np.sin(0.6), rel=1e-6)
    assert got["y0"] == pytest.approx(np.exp(-0.6j), rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_values_keep_their_dtype(ask, way):
    text = f"odeint(lambda y, t: -y, y0, [0, 1], method='dopri5', rtol=1e-5, atol=1e-5{way})[-1]"
    answer = ask.answer(text, {"y0": np.float32(2)})
    assert answer.value.dtype == answer.gradients["y0"].dtype == np.float32
    assert answer.value == pytest.approx(2 / np.e, rel=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        "jax.experimental.ode.odeint(lambda y, t, k: -k * y, y0, t, k, rtol=1e-9, mxstep=1000)",
        "scipy.integrate.odeint(lambda y, t, k: -k * y, y0, t, (k,))",
        "scipy.integrate.odeint(lambda t, y: -k * y, y0, t, tfirst=True)",
        "torchdiffeq.odeint(lambda t, y: -k * y, y0, t, rtol=1e-9)",
        "torchdiffeq.odeint_adjoint(lambda t, y: -k * y, y0, t, rtol=1e-9, method='dopri5')",
    ],
)
def test_names_of_other_libraries(ask, call):
    answer = ask.answer(f"{call}[-1, 0]", {"k": 0.5, "y0": [2.0, 1.0], "t": [0.0, 1.0, 2.0]})
    assert answer.value == pytest.approx(2 / np.e, rel=1e-6)
    assert answer.gradients["k"] == pytest.approx(-4 / np.e, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("odeint(lambda y, t: y, a, [0, 1], method='rk5')", BadArgument, "knows the methods"),
        ("odeint(lambda y, t: y, a, [0, 1], steps=0)", BadArgument, "a step at least"),
        ("odeint(lambda y, t: y, a, 1.0)", BadArgument, "a list of times"),
        ("odeint(lambda y, t: y, a, [0, 1j])", DtypeMismatch, "times are real"),
        ("odeint(lambda y, t: [y, y], a, [0, 1])", BadArgument, "slope for each"),
        ("odeint(lambda y, t: stack([y, y]), a, [0, 1])", ShapeMismatch, "broadcast"),
        ("odeint(lambda y: y, a, [0, 1])", BadArgument, "takes 1 arguments"),
        ("odeint(lambda y, t: y, [], [0, 1])", BadArgument, "a value"),
        ("odeint(lambda y, t: y * y, a, [0, 1], method='dopri5', max_steps=99)",
         DomainError, "max_steps"),
        ("vmap(lambda a: odeint(lambda y, t: y * y, a, [0, 1], method='dopri5', max_steps=99))"
         "(stack([a, 0.1]))", DomainError, "max_steps"),
        ("odeint(lambda y, t: 's', a, [0, 1])", EngineError, "expected an array"),
    ],
)  # fmt: skip
def test_mistakes_are_named_and_placed(ask, text, error, words):
    with pytest.raises(error, match=words) as caught:
        ask.value(text, {"a": 2.0})
    assert caught.value.at
