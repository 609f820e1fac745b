import json
import math
import pathlib
import random
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.linalg
import scipy.stats
from gradwire.tracing.captured import Captured
from numpy import array, zeros
from numpy import random as draws

density = scipy.stats.norm.pdf

SCALE = 2.0


def scaled(x):
    return SCALE * x


def through_another(x):
    return scaled(x) + 1.0


def decorated(f):
    @wraps(f)
    def wrapper(x):
        return f(x)

    return wrapper


class Model:
    def __init__(self, power):
        self.power = power

    def value(self, x):
        return x**self.power


@pytest.mark.parametrize(
    "f", [scaled, through_another, decorated(through_another)], ids=["itself", "called", "wrapped"]
)
def test_changed_globals_are_noticed_also_in_called_functions(f, client, monkeypatch):
    slope = gradwire.grad(f, client=client)
    assert slope(1.0) == 2.0
    monkeypatch.setitem(scaled.__globals__, "SCALE", 5.0)
    assert slope(1.0) == 5.0


def test_a_replaced_helper_function_is_noticed(client, monkeypatch):
    slope = gradwire.grad(through_another, client=client)
    assert slope(1.0) == 2.0
    monkeypatch.setitem(through_another.__globals__, "scaled", lambda x: x**3)
    assert slope(2.0) == 12.0


def test_methods_and_partial_functions_can_be_recorded(client):
    assert gradwire.grad(Model(3).value, client=client)(2.0) == 12.0
    assert gradwire.grad(partial(lambda k, x: k * x, 4.0), client=client)(2.0) == 4.0


def test_equal_numbers_cause_no_new_recording(client, monkeypatch):
    slope = gradwire.grad(scaled, client=client)
    slope(1.0)
    (recorded,) = slope.recordings
    monkeypatch.setitem(scaled.__globals__, "SCALE", float("2.0"))
    slope(3.0)
    assert slope.recordings == [recorded]


class Chain:
    """A model whose methods have functions of libraries by name."""

    def __init__(self, rate):
        self.rate = rate

    @property
    def spread(self):
        return array([self.rate, 2.0])

    @staticmethod
    def start(x):
        y = zeros(2)
        y[0] = x
        return y

    def steps(self, x):
        y = self.start(x)
        for _ in range(3):
            y = y + array([y[1], -self.rate * y[0]])
        return np.sum(density(y) * self.spread * array([x, 1.0]))


def test_functions_by_name_are_recorded_in_methods_of_objects(client):
    chain = Chain(0.3)
    for f in (chain.steps, lambda x: chain.steps(x) * 1.0, lambda x: Chain(0.3).steps(x)):
        difference = (chain.steps(0.7 + 1e-6) - chain.steps(0.7 - 1e-6)) / 2e-6
        assert gradwire.grad(f, client=client)(0.7) == pytest.approx(difference)


def test_methods_of_libraries_objects_are_recorded_by_any_name(client):
    def f(x, log_density=scipy.stats.gamma.logpdf):
        return density(x) + log_density(x, 2.0)

    slope = gradwire.grad(f, client=client)(0.7)
    assert slope == pytest.approx(-0.7 * density(0.7) + 1 / 0.7 - 1)


class Holder:
    of_class: Any = math.sinh
    static = staticmethod(math.exp)

    def __init__(self, f):
        self.f = f
        self.table = {"first": [f]}


NAMES = ["atan"]
BY_NAME: dict[Any, Any] = {"f": math.sin, 3: scipy.linalg.expm}
IN_ORDER: list[Any] = [math.cos, zeros]
HELD = Holder(math.tanh)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: BY_NAME["f"](x) + BY_NAME[3](array([[x, 0.0], [x * x, 1.0]]))[1, 0],
        lambda x: IN_ORDER[0](x) + np.sum(IN_ORDER[1](2) + x),
        lambda x: HELD.f(x) * HELD.table["first"][0](x + 1),
        lambda x: Holder.of_class(x) + HELD.of_class(x) + HELD.static(x),
        lambda x: getattr(math, NAMES[0])(x) * 2,
        lambda x: Holder(math.log1p).f(x),
    ],
    ids=["dictionary", "list", "attribute", "class", "name", "new object"],
)
def test_functions_of_libraries_are_recorded_wherever_they_are_held(f, client):
    difference = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    assert gradwire.grad(f, client=client)(0.7) == pytest.approx(difference)
    assert (BY_NAME["f"], IN_ORDER[0], HELD.f) == (math.sin, math.cos, math.tanh)
    assert vars(Holder)["of_class"] is math.sinh


@pytest.mark.parametrize("given", [math.sin, {"f": [math.sin]}, Holder(math.sin)], ids=range(3))
def test_functions_of_libraries_are_recorded_as_arguments(given, client):
    def f(given, x):
        chosen = getattr(given, "f", given)
        return (chosen["f"][0] if isinstance(chosen, dict) else chosen)(x)

    assert gradwire.grad(f, 1, client=client)(given, 0.7) == pytest.approx(np.cos(0.7))


def test_libraries_that_the_function_imports_are_recorded_at_its_first_call(client):
    def f(x):
        import scipy.ndimage
        from numpy import asarray

        return np.sum(scipy.signal.convolve(asarray([x, 2 * x]), [1.0, 2.0]))

    assert gradwire.grad(f, client=client)(0.7) == pytest.approx(f(1.7) - f(0.7))


class Network:
    def __init__(self, read: Any) -> None:
        self.w, self.read = np.ones(3), read

    def __call__(self, x: Any) -> Any:
        return np.tanh(x @ self.w)


def imports(x: Any) -> Any:
    from time import time

    return x * time()


def calling(read: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda x: x * read()


def timed(clock: Any) -> Callable[[Any], Any]:
    return lambda x: x * clock.time()


GENERATOR = np.random.default_rng(3)
PURE: dict[str, Callable[..., Any]] = {
    "NumPy": lambda x: np.sum(np.sin(x)),
    "SciPy": lambda x: scipy.linalg.expm(x) + math.pi,
    "a helper": lambda x: [scaled(part) for part in x if len(x) > 1],
    "an object": Network(np.sin),
    "its method": Network(2.0).__call__,
    "a text": eval("lambda x: x + 1", {}),
    "an error": lambda x: x if x.size else next(iter([])),
}
IMPURE: dict[str, Callable[..., Any]] = {
    "a clock": lambda x: x * time.time(),
    "a clock of an object": Network(time.time),
    "an identity": lambda x: x * id(x),
    "memory": lambda x: x + np.empty(3),
    "draws": lambda x: x + np.random.normal(),
    "a stream": lambda x: x + GENERATOR.normal(),
    "an import": imports,
    "a file": lambda x: x * float(pathlib.Path("rates").read_text()),
    "a text that is evaluated": lambda x: eval("x + 1"),
    "a clock in a tuple": lambda x, clocks=(time.time,): x * clocks[0](),
    "a partial clock": partial(lambda clock, x: x * clock(), time.time),
    "a module in a cell": timed(time),
    "a stream's method": calling(GENERATOR.normal),
    "a law's method": calling(scipy.stats.norm(0, 1).rvs),
    "Python's stream": calling(random.random),
    "a module of draws": lambda x: x * draws.normal(),
    "another library": lambda x: x * len(json.dumps([1])),
}


@pytest.mark.parametrize("what", [*PURE, *IMPURE])
def test_what_cannot_differ_is_recorded_once(what):
    captured = Captured({**PURE, **IMPURE}[what])
    captured.changed()
    assert captured.is_pure == (what in PURE)
