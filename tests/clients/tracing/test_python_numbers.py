"""What gives Python numbers without a recording gives them in one: of double precision, and weak.

The cases are all functions of ``math`` that take numbers, methods and the like.
"""

import math
from collections.abc import Callable
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire import APIError, NotTraceable
from scipy import integrate, optimize

SINGLE = np.array([0.25, 0.75, 1.5], np.float32)


def _with(function: Any, more: tuple[float, ...]) -> Callable[[Any], Any]:
    return lambda x: function(x, *more)


def _of_math() -> dict[str, Callable[[Any], Any]]:
    """The functions of ``math``, of as many numbers as each takes, with a second one of 2.0."""
    found: dict[str, Callable[[Any], Any]] = {}
    for name, function in vars(math).items():
        for more in ((), (2.0,)):
            try:
                made = function(1.5 if name == "acosh" else 0.75, *more)
            except (TypeError, ValueError):
                continue
            if name not in ("trunc", "ulp") and isinstance(made, (int, float, tuple)):
                key = f"math.{name}({'x, 2.0' if more else 'x'})"
                found[key] = _with(function, more)
    return found


#: Functions of a number.
OF_MATH = _of_math()
OTHER: dict[str, Callable[[Any], Any]] = {
    "float(x)": float,
    "x.item()": lambda x: np.asarray(x).item(),
    "x[0].item()": lambda x: np.array([x, x])[0].item(),
    "x.item(0)": lambda x: np.array([x, x]).item(0),
    "x.tolist()": lambda x: np.array(x).tolist(),
    "x[0].tolist()": lambda x: np.array([x, x])[0].tolist(),
    "rows.tolist()": lambda x: np.array([[x, x]]).tolist()[0][1],
    "real": lambda x: float(x).real,
    "imag": lambda x: float(x).imag,
    "conjugate": lambda x: float(x).conjugate(),
    "complex real": lambda x: complex(x, 1.0).real,
    "complex conjugate": lambda x: complex(x, 1.0).conjugate().imag,
    "divmod": lambda x: divmod(float(x), 0.5)[1],
    "quad": lambda x: integrate.quad(lambda t: t * x, 0, 1)[0],
    "brentq": lambda x: optimize.brentq(lambda t: t - x, -3, 3),
    "bisect": lambda x: optimize.bisect(lambda t: t - x, -3, 3),
}
CASES = [(name, function) for name, function in (OF_MATH | OTHER).items()]
#: Those that no recording has.
REFUSED = {f"math.{name}" for name in ("ldexp", "fma", "isclose", "nextafter", "perm", "comb")}


def number_of(made: Any) -> Any:
    return made[0] if isinstance(made, tuple) else made


def same(client: gradwire.Client, name: str, function: Callable[[Any], Any], x: Any) -> None:
    try:
        found = client.function(function)(x)
    except (NotTraceable, APIError):
        assert name.partition("(")[0] in REFUSED
        return
    expected = function(x)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12 if name.startswith("math") else 2e-7)


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
def test_division_by_a_difference_raises_the_error_of_python(client, case, kind):
    name, function = case

    def caught(x):
        made = number_of(function(x))
        try:
            return 1.5 / (made - made)
        except ZeroDivisionError:
            return 7 * x

    same(client, name, caught, kind(1.5 if "acosh" in name else 0.75))


def test_arithmetic_goes_on_in_double_precision(client, case):
    name, function = case
    start = np.float32(1.3 if "acosh" in name else 0.7)
    same(client, name, lambda x: (3.7 + number_of(function(x))) ** 20, start)


def test_it_adopts_the_precision_of_an_array(client, case):
    name, function = case
    i = 2 if "acosh" in name else 1
    same(client, name, lambda x: np.multiply(x, number_of(function(x[i]))) + 1, SINGLE[:])


def test_its_class_is_that_of_python(client, case):
    name, function = case

    def classes(x):
        made = number_of(function(x))
        return x * sum(2**i * isinstance(made, kind) for i, kind in enumerate(KINDS))

    same(client, name, classes, np.float32(1.5 if "acosh" in name else 0.75))


KINDS = (float, int, bool, np.floating, np.ndarray)


def test_large_numbers_do_not_overflow(client):
    x = np.array([100.0, 3e-30], np.float32)
    for function in (
        lambda x: math.exp(x[0]),
        lambda x: math.log(math.exp(x[0])),
        lambda x: math.pow(x[0], 30),
        lambda x: x[0].item() ** 30,
        lambda x: x.tolist()[0] ** 30,
        lambda x: x.tolist()[1] ** 2,
        lambda x: math.hypot(x[0] * 1e17, x[0] * 1e17),
    ):
        found = client.function(function)(x)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, function(x), rtol=1e-12)


def test_a_rounded_one_is_rounded_as_a_decimal_number(client):
    assert client.function(lambda x: round(math.sqrt(x), 2))(2.675**2) == 2.67


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool])
def test_integers_of_lists_are_those_of_python(client, dtype):
    x = np.array([1, 200, 0]).astype(dtype)

    def listed(x):
        one, other, none = x.tolist()
        try:
            return one / none
        except ZeroDivisionError:
            return one * 1000 + other + other

    same(client, "tolist", listed, x)


def test_a_complex_power_is_refused_where_errors_are_caught(client):
    def root(x):
        try:
            return abs(x ** (1 / 3))
        except ZeroDivisionError:
            return x

    assert np.isclose(client.function(root)(8.0), 2.0)
    with pytest.raises(NotTraceable, match="complex in Python"):
        client.function(root)(-8.0)
    assert np.isnan(client.function(lambda x: x ** (1 / 3))(-8.0))


def test_it_is_differentiable_through(client):
    slope = client.grad(lambda x: math.exp(x[0]) * x.tolist()[1] * x[0].item())
    found = slope(SINGLE)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:2], np.exp(0.25) * np.array([1.25 * 0.75, 0.25]), rtol=1e-6)
