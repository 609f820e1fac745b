"""Ordinary differential equations, against closed forms, SciPy's solver and differences of it."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
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
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

TIMES = np.linspace(0, 5, 11)
WEIGHTS = np.linspace(-1, 1, 22).reshape(11, 2)
BY_STEPS, BACKWARD = "method='dopri5'", "method='dopri5', adjoint=True"
EXPLICIT = [BY_STEPS, BACKWARD]
ALL = [*EXPLICIT, "method='rodas5p'", "method='auto'", "method='rodas5p', adjoint=True"]
WAYS = [*ALL[:3], *[pytest.param(way, marks=pytest.mark.thorough) for way in ALL[3:]]]
#: ``y' = -k y cos t``: ``y = y0 exp(-k sin t)``.
DECAY = """
def last(k, y0, T):
    slope = lambda y, t: -k * y * cos(t)
    return odeint(slope, y0, [0.0, 1.0, T], rtol=1e-10, atol=1e-10, WAY)[-1]


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


@pytest.mark.parametrize("way", EXPLICIT)
def test_adaptive_steps_are_scipys_solution_and_its_differences(ask, way):
    text = f"""
slope = lambda y, t: stack([y[1], mu * (1 - y[0]**2) * y[1] - y[0]])
y = odeint(slope, y0, linspace(0, T, 11), rtol=1e-9, atol=1e-9, {way})
sum(w * y)
"""
    at: dict[str, Any] = {"mu": 1.5, "y0": np.array([2.0, 0.0]), "T": 5.0}
    answer = ask.answer(text, {**at, "w": WEIGHTS})
    found = van_der_pol(*at.values())
    assert_allclose(answer.gradients["w"], found, atol=1e-7)

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
    assert_allclose(got["y0"], want, rtol=1e-6)


#: What is asked of it in each way, and the rest where it is cheap: how the transformations go
#: together is no matter of the way.
ASKED = [
    ("grad(last)(k, y0, T)", lambda y, s, c: -s * y),
    ("grad(grad(last))(k, y0, T)", lambda y, s, c: s * s * y),
    ("vmap(grad(last))(stack([k, k]), stack([y0, 2 * y0]), stack([T, T]))[1]",
     lambda y, s, c: -2 * s * y),
    ("r = 0.0\nfor i in range(3):\n    r = r + last(k, y0, T)\nr", lambda y, s, c: 3 * y),
]  # fmt: skip
MORE = [
    ("hessian(lambda k: sum(last(k, y0, T)))(k)", lambda y, s, c: s * s * y),
    ("grad(lambda T: grad(last)(k, y0, T))(T)", lambda y, s, c: (-c + 1.3 * c * s) * y),
    ("sum(vmap(lambda y0: last(k, y0, T))(y0 * ones(3)))", lambda y, s, c: 3 * y),
    ("grad(lambda k: sum(vmap(last)(stack([k, 2.0]), ones(2) * y0, stack([T, 3.0]))))(k)",
     lambda y, s, c: -s * y),
    ("jacobian(lambda y: last(k, y, T))(stack([y0, 3.0]))[0, 0]", lambda y, s, c: y / 2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("way", "text", "want"),
    [(way, *asked) for way in ALL for asked in ASKED]
    + [(way, *asked) for way in EXPLICIT for asked in MORE]
    + [("method='rodas5p'", *asked) for asked in MORE[:2]],
)
def test_derivatives_mapped_and_of_higher_order_are_of_closed_form(ask, way, text, want):
    at = {"k": 1.3, "y0": 2.0, "T": 1.7}
    sine, cosine = np.sin(1.7), np.cos(1.7)
    found = ask.value(DECAY.replace("WAY", way) + text, at)
    assert found == pytest.approx(want(2 * np.exp(-1.3 * sine), sine, cosine), rel=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("way", EXPLICIT)
def test_examples_of_a_batch_take_steps_of_their_own(ask, way):
    k, end = np.array([0.2, 1.0, 5.0]), np.array([3.0, 0.5, -2.0])
    text = DECAY.replace("WAY", way) + "last(k, y0, T)"
    batch = {"k": 0, "T": 0}
    answer = ask.answer(text, {"k": k, "y0": 2.0, "T": end}, batch=batch)
    assert_allclose(answer.value, 2 * np.exp(-k * np.sin(end)), rtol=1e-7)
    want = -np.sin(end) * answer.value
    assert_allclose(answer.gradients["k"], want, rtol=1e-6, atol=1e-8)


@dataclass
class Stiff:
    """A stiff equation, and what SciPy's Radau gives of it and its variational equation.

    All values, and derivatives of the first one in initial values, parameters and time.
    """

    slope: str
    at: dict[str, Any]
    options: str
    values: list[float]
    slopes: dict[str, Any]
    speed: float
    #: Derivatives of steps are less exact than values where what is tiny grows to all there is.
    accuracy: float = 1e-6


#: To relative tolerances of 1e-10; values of HIRES are those of Mazzia and Magherini, Test Set for
#: Initial Value Problem Solvers (2008).
STIFF = {
    "robertson": Stiff(
        "stack([-k0*y[0] + k2*y[1]*y[2], k0*y[0] - k2*y[1]*y[2] - k1*y[1]**2, k1*y[1]**2])",
        {"y0": [1.0, 0.0, 0.0], "T": 1e3, "k0": 0.04, "k1": 3e7, "k2": 1e4},
        "atol=1e-14",
        [0.33687453066072, 2.0137023182617e-06, 0.66312345563700],
        {
            "y0": [0.45250139797, 0.44946017729, 0.44946048837],
            "k0": -5.931892366,
            "k1": -3.8542184088e-09,
            "k2": 2.3125341958e-05,
        },
        -1.2164882732928e-4,
    ),
    "van der Pol": Stiff(
        "stack([y[1], mu * (1 - y[0]**2) * y[1] - y[0]])",
        {"y0": [2.0, 0.0], "T": 700.0, "mu": 1000.0},
        "rtol=1e-9, atol=1e-9",
        [1.34289173128, -0.00167158867279],
        {"y0": [2.50738273059, 0.000835794336], "mu": 0.00117010878},
        -0.00167158867279,
    ),
    "van der Pol after its jump": Stiff(
        "stack([y[1], mu * (1 - y[0]**2) * y[1] - y[0]])",
        {"y0": [2.0, 0.0], "T": 1200.0, "mu": 1000.0},
        "rtol=1e-10, atol=1e-10",
        [-1.69971400346048, 0.0008997819505960868],
        {"y0": [-1.34967259, -0.000449890913], "mu": -0.0010793217},
        0.0008997819505960868,
        accuracy=2e-4,
    ),
    "hires": Stiff(
        """stack([
            -p*y[0] + 0.43*y[1] + 8.32*y[2] + 0.0007, p*y[0] - 8.75*y[1],
            -10.03*y[2] + 0.43*y[3] + 0.035*y[4], 8.32*y[1] + p*y[2] - 1.12*y[3],
            -1.745*y[4] + 0.43*y[5] + 0.43*y[6],
            -q*y[5]*y[7] + 0.69*y[3] + p*y[4] - 0.43*y[5] + 0.69*y[6],
            q*y[5]*y[7] - s*y[6], s*y[6] - q*y[5]*y[7]])""",
        {"y0": [1, 0, 0, 0, 0, 0, 0, 0.0057], "T": 321.8122, "p": 1.71, "q": 280.0, "s": 1.81},
        "atol=1e-11",
        [
            *(0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4),
            *(0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2),
            *(0.2849998395185769e-2, 0.2850001604814231e-2),
        ],
        {
            "y0": [
                *(0.002661960637, 0.00265588542, 0.002661305972, 0.002649901007, 0.00263260567),
                *(0.002533006905, -0.58152594996, -0.5837034019),
            ],
            "p": 0.081366114758,
            "q": -4.64269454e-07,
            "s": -0.00477268223,
        },
        -8.52524935859e-06,
    ),
}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("robertson", "'rodas5p'"),
        pytest.param("robertson", "'auto'", marks=pytest.mark.thorough),
        ("van der Pol", "'rodas5p', adjoint=True"),
        pytest.param("van der Pol after its jump", "'rodas5p'", marks=pytest.mark.thorough),
        pytest.param("hires", "'rodas5p', adjoint=True", marks=pytest.mark.thorough),
    ],
)
def test_stiff_equations_have_the_values_and_derivatives_of_tight_solutions(ask, name, way):
    case = STIFF[name]
    text = f"""
f = lambda y, t: {case.slope}
sum(w * odeint(f, y0, [0.0, T], method={way}, {case.options})[-1])
"""
    got = ask.gradients(text, case.at | {"w": np.eye(len(case.values))[0]})
    assert_allclose(got.pop("w"), case.values, rtol=1e-6)
    assert got.pop("T") == pytest.approx(case.speed, rel=1e-6)
    for source, slope in case.slopes.items():
        assert_allclose(got[source], slope, rtol=case.accuracy, err_msg=source)


@pytest.mark.parametrize(
    ("method", "along"),
    [
        ("rodas5p", "jvp(last(k[2], y0), y0, 1.0), jacobian(last)(k[2], y0)"),
        pytest.param("auto", "", marks=pytest.mark.thorough),
    ],
)
def test_a_stiff_equation_is_solved_by_few_steps_however_stiff(ask, method, along):
    """Prothero and Robinson's: ``y = cos t`` for each ``k``, and its derivative in ``k`` is 0."""
    text = """
def last(k, y0):
    def slope(y, t):
        a, b = y
        return [-k * (a - cos(t)) - sin(t), (1j - 1) * k * (b - a)]

    y = odeint(slope, [y0, 1.0 + 0j], [0.0, 1.0, 2.0], method='METHOD', max_steps=150)
    return y[0][-1]


vmap(value_and_grad(last))(k, ones(3)), """
    at = {"k": [1e2, 1e5, 1e9], "y0": 1.0}
    (values, slopes), *others = ask.value(text.replace("METHOD", method) + along, at)
    assert_allclose(values, np.cos(2), atol=1e-7)
    assert_allclose([*slopes, *others], 0, atol=1e-8)


@pytest.mark.parametrize("way", EXPLICIT)
@pytest.mark.parametrize("passes", [3, 200])
def test_names_mean_what_they_did_when_the_equation_was_solved(ask, way, passes):
    text = f"""
def slope(y, t):
    return -k * y


total = 0.0
for i in range({passes}):
    total = total + odeint(slope, 1.0, [0.0, 1.0], {way})[-1]
    k = k * 1.01
total
"""
    powers = 1.01 ** np.arange(passes)
    want = -(powers * np.exp(-0.3 * powers)).sum()
    assert ask.gradients(text, {"k": 0.3})["k"] == pytest.approx(want, rel=1e-6)


@pytest.mark.thorough
def test_the_adjoint_keeps_no_step(ask):
    text = "sum(odeint(lambda y, t: -k * y * cos(t), y0, [0, 1], {}{})[-1])"
    peaks = {}
    for way in ("", ", adjoint=True"):
        for steps in (150, 600):
            at = {"k": 1.3, "y0": np.ones(2000)}
            ask.gradients(text.format(f"steps={steps}", way), at)
            Engine.backend.release()  # else what it keeps is not asked for again
            tracemalloc.start()
            ask.gradients(text.format(f"steps={steps}", way), at)
            _, peaks[way, steps] = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    assert peaks["", 600] > 3 * peaks["", 150]
    assert peaks[", adjoint=True", 600] < 1.5 * peaks[", adjoint=True", 150]
    assert peaks[", adjoint=True", 600] < 0.1 * peaks["", 600]


@pytest.mark.parametrize("way", ["steps=32", *WAYS])
def test_nested_values_and_parameters_move_together(ask, way):
    """An oscillator, mapped over frequencies: its amplitude's derivatives are of closed form."""
    text = f"""
def swing(w):
    slope = lambda y, t, w: {{'x': y['v'], 'v': -w * w * y['x']}}
    return odeint(slope, {{'x': a, 'v': 0.0}}, linspace(0, 1, 6), w, {way})['x'][-1]


vmap(value_and_grad(swing))(w)
"""
    w, a = np.array([1.0, 2.0, 3.0]), 0.7
    value, slope = ask.value(text, {"w": w, "a": a})
    assert_allclose(value, a * np.cos(w), atol=1e-6)
    assert_allclose(slope, -a * np.sin(w), atol=1e-5)


@pytest.mark.parametrize("way", ["steps=20", *WAYS])
def test_times_may_fall_repeat_or_be_one(ask, way):
    text = f"odeint(lambda y, t: -k * y, y0, times, {way})"
    assert ask.value(text, {"k": 0.8, "y0": 3.0, "times": [2.0]}) == [3]
    for times in ([1.0, 1.0, 0.0, 0.0], [0.0, 2.0, 1.0]):
        answer = ask.answer(text, {"k": 0.8, "y0": 3.0, "times": times})
        want = 3 * np.exp(-0.8 * (np.array(times) - times[0]))
        assert_allclose(answer.value, want, rtol=1e-6)
        moved = -0.8 * want
        moved[0] = 0.8 * want[1:].sum()
        assert_allclose(answer.gradients["times"], moved, rtol=1e-5, atol=1e-6)
        assert answer.gradients["y0"] == pytest.approx(want.sum() / 3, rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [2, 127, 129, 300])
def test_times_are_as_many_as_wanted(ask, way, count):
    """They are taken in blocks: of values of two numbers up to 128 times make one."""
    times = 3 * np.linspace(0, 1, count) ** 2
    weights = np.random.default_rng(count).normal(size=(count, 2))
    text = f"sum(w * odeint(lambda y, t: -k * y, y0, times, rtol=1e-9, atol=1e-9, {way}))"
    y0, k = np.array([3.0, 4.0]), 0.8
    answer = ask.answer(text, {"w": weights, "k": k, "y0": y0, "times": times})
    falls = np.exp(-k * times)
    products = weights @ y0
    assert answer.value == pytest.approx(falls @ products, abs=1e-6)
    assert_allclose(answer.gradients["w"], falls[:, None] * y0, rtol=1e-6)
    assert_allclose(answer.gradients["y0"], falls @ weights, atol=1e-6)
    assert answer.gradients["k"] == pytest.approx(-(times * falls) @ products, abs=1e-5)
    moved = -k * falls * products
    assert_allclose(answer.gradients["times"][1:], moved[1:], atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_complex_values_turn(ask, way):
    text = f"real(odeint(lambda y, t: 1j * k * y, y0, [0.0, 1.0], {way})[-1])"
    got = ask.gradients(text, {"k": 0.6, "y0": 2.0 + 0j})
    assert got["k"] == pytest.approx(-2 * np.sin(0.6), rel=1e-6)
    assert got["y0"] == pytest.approx(np.exp(-0.6j), rel=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_values_keep_their_dtype(ask, way):
    text = f"odeint(lambda y, t: -y, y0, [0, 1], rtol=1e-5, atol=1e-5, {way})[-1]"
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
        *[(f"odeint(lambda y, t: y, a, [0, 1], method='{method}', steps=2)", BadArgument,
           f"{method}' does not take steps") for method in ("dopri5", "rodas5p", "auto")],
        *[(f"odeint(lambda y, t: y, a, [0, 1], {how}, {name}=9)", BadArgument,
           f"does not take {name}")
          for how in ("method='heun'", "steps=2") for name in ("rtol", "atol", "max_steps")],
        ("odeint(lambda y, t: y, a, 1.0)", BadArgument, "a list of times"),
        ("odeint(lambda y, t: y, a, [0, 1j])", DtypeMismatch, "times are real"),
        ("odeint(lambda y, t: [y, y], a, [0, 1])", BadArgument, "slope for each"),
        ("odeint(lambda y, t: stack([y, y]), a, [0, 1])", ShapeMismatch, "broadcast"),
        ("odeint(lambda y: y, a, [0, 1])", BadArgument, "takes 1 arguments"),
        ("odeint(lambda y, t: y, [], [0, 1])", BadArgument, "a value"),
        ("odeint(lambda y, t: 's', a, [0, 1])", EngineError, "expected an array"),
    ],
)  # fmt: skip
def test_mistakes_are_named_and_placed(ask, text, error, words):
    with pytest.raises(error, match=words) as caught:
        ask.value(text, {"a": 2.0})
    assert caught.value.at


@pytest.mark.parametrize(
    "text",
    [
        "odeint(lambda y, t: y * y, a, [0, 1], METHOD)[-1]",
        "vmap(lambda a: odeint(lambda y, t: y * y, a, [0, 1], METHOD)[-1])(stack([a, 0.1]))",
        "odeint(lambda y, t: y, a * nan, [0, 1], METHOD)[-1]",
        "grad(lambda a: odeint(lambda y, t: y * y, a, [0, 1], METHOD)[-1])(a)",
        "for i in range(9):\n    a = a + odeint(lambda y, t: y * y, a * i, [0, 0.1], METHOD)[-1]\n"
        "a",
        "f = lambda y, t: stack([y[1], 1e4 * (1 - y[0]**2) * y[1] - y[0]])\n"
        "odeint(f, array([a, 0.0]), [0, 1e4], METHOD)[-1, 0]",
    ],
)
@pytest.mark.parametrize("method", ["'dopri5'", "'dopri5', adjoint=True", "'rodas5p'", "'auto'"])
def test_what_is_not_solved_is_an_error_that_names_the_method_for_it(ask, text, method):
    with pytest.raises(DomainError, match="max_steps") as caught:
        ask.gradients(text.replace("METHOD", f"method={method}, max_steps=60"), {"a": 2.0})
    assert "rodas5p" in str(caught.value.hint)
    assert caught.value.at


@pytest.mark.thorough
def test_an_adjoint_equation_that_is_not_solved_is_an_error(ask):
    """Forward the solution comes from all sides, so that backward it goes to all."""
    text = "odeint(lambda y, t: -60 * (y**3 - cos(a * t)), a, [0, 1], WAY)[-1]"
    with pytest.raises(DomainError, match="max_steps"):
        ask.gradients(text.replace("WAY", BACKWARD), {"a": 2.0})
    want = ask.gradients(text.replace("WAY", BY_STEPS), {"a": 2.0})["a"]
    got = ask.gradients(text.replace("WAY", "method='rodas5p', adjoint=True"), {"a": 2.0})["a"]
    assert got == pytest.approx(want, rel=1e-6)
