"""Errors that values raise: where the function catches them, they decide as they do without."""

import math
import statistics
import struct
import warnings
from contextlib import suppress
from typing import Any

import gradwire
import numpy as np
import pytest
from numpy.linalg import LinAlgError
from scipy import linalg


def division(x: Any) -> Any:
    try:
        return 1 / float(np.maximum(x[0], 0)) * x[1]
    except ZeroDivisionError:
        return 10 * x[1]


def remainder(x: Any) -> Any:
    try:
        return float(x[1]) % float(np.maximum(0.9 * x[0], 0)) * x[1]
    except ZeroDivisionError:
        return 10 * x[1]


def power(x: Any) -> Any:
    try:
        return float(np.maximum(x[0], 0)) ** -1 * x[1]
    except ZeroDivisionError:
        return 3 * x[1]


def logarithm(x: Any) -> Any:
    try:
        return math.log(x[0]) * x[1]
    except ValueError:
        return 10 * x[1]


def suppressed(x: Any) -> Any:
    found = x[1]
    with suppress(ValueError):
        found = math.sqrt(x[0]) * x[1]
    return found


def overflow(x: Any) -> Any:
    try:
        return math.exp(1000 * x[0]) * x[1]
    except OverflowError:
        return x[1]


def _root(value: Any) -> Any:
    return math.sqrt(value)


def called(x: Any) -> Any:
    try:
        return _root(x[0]) * x[1]
    except ValueError:
        return 7 * x[1]
    finally:
        x = None


def cleaned_up(x: Any) -> Any:
    try:
        found = np.sum(np.sqrt(np.abs(x)))
    finally:
        x = x[::-1]
    return found * x[0]


def by_numpy(x: Any) -> Any:
    with np.errstate(invalid="raise", divide="raise"):
        try:
            return np.sum(np.log(x))
        except FloatingPointError:
            return np.sum(x)


def by_warnings(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return np.sum(np.log(x))
        except RuntimeWarning:
            return np.sum(x)


def _matrix(x: Any) -> Any:
    return np.eye(3) + np.diag(x[:2], 1) + np.diag(x[:2], -1)


def factors(x: Any) -> Any:
    try:
        return np.sum(np.linalg.cholesky(_matrix(x)))
    except LinAlgError:
        return np.trace(_matrix(x)) * x[0]


def by_scipy(x: Any) -> Any:
    try:
        return np.sum(linalg.cholesky(_matrix(x)))
    except LinAlgError:
        return x[0]


def solution(x: Any) -> Any:
    matrix = np.array([[np.maximum(x[0], 0), 1.0], [0.0, x[2]]])
    try:
        return np.sum(np.linalg.solve(matrix, x[:2]))
    except LinAlgError:
        return x[1]


def inverses(x: Any) -> Any:
    matrices = np.array([np.diag(np.maximum(x[:2], 0)), np.diag(np.abs(x[:2]))])
    try:
        return np.sum(np.linalg.inv(matrices)) * x[1]
    except LinAlgError:
        return x[1]


FUNCTIONS = [
    division, remainder, power, logarithm, suppressed, overflow, called, cleaned_up, by_numpy,
    by_warnings, factors, by_scipy, solution, inverses,
]  # fmt: skip
POINTS = [[0.5, 0.7, 1], [-0.5, 0.7, 1], [1.0, 0.3, 2], [-2.0, 3, 1], [0.1, 0.2, 0.3]]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_caught_errors_decide(f, client):
    """From each point to each other."""
    for first in POINTS:
        recorded = client.value_and_grad(f)
        for point in (first, *POINTS):
            x = np.array(point)
            value, slope = recorded(x)
            assert value == pytest.approx(f(x), rel=1e-12), (first, point)
            step = 1e-6 * np.array([1.0, 0.5, -0.25])
            expected = (f(x + step) - f(x - step)) / 2
            assert slope @ step == pytest.approx(expected, rel=1e-5, abs=1e-12), (first, point)


OUTSIDE: Any = np.ones(3)
NOT_RECORDED: list[Any] = [
    lambda x: float(x[0]),
    lambda x: np.array([1.0, x[1]], float)[1] * float(x[1]),
    lambda x: 2 * math.fsum(x),
    statistics.mean,
    lambda x: len(x.tobytes()) * x[0],
    lambda x: x.strides[0] * x[0],
    lambda x: struct.unpack("d", struct.pack("d", x[0]))[0],
    lambda x: np.percentile(x, 50, weights=np.abs(x), method="inverted_cdf"),
    lambda x: float(np.packbits(x > 0)[0] > 0) * x[0],
    lambda x: (OUTSIDE.put(0, x[0]), x[1])[1],
    lambda x: x[1:] @ x,
    lambda x: len(x[0]),
    lambda x: x["column"],
    float,
]


@pytest.mark.parametrize("caught", [Exception, TypeError, ValueError, AttributeError])
@pytest.mark.parametrize("number", range(len(NOT_RECORDED)))
def test_refusals_that_the_code_catches_are_refusals(number, caught, client):
    def f(x: Any) -> Any:
        try:
            return NOT_RECORDED[number](x)
        except caught:
            return -x[2]

    with suppress(gradwire.GradwireError, struct.error, IndexError):
        assert client.function(f)(np.array(POINTS[0])) == pytest.approx(f(np.array(POINTS[0])))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_lengths_of_vectors(count, check):
    check(math.hypot, *np.linspace(-1.0, 2.0, count))
