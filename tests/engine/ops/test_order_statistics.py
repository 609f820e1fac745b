"""Quantiles are NumPy's, by every method, also with ``q`` as a variable and beside NaN."""

import warnings
from math import inf, nan

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results

X = np.random.default_rng(5).normal(size=(3, 7, 2)).round(1)
GAPS = np.array([[nan, 0.5, -1.5, 2], [2.5, nan, 0.0, nan], [nan, nan, nan, nan], [7, 7, 1, inf]])
Q = np.linspace(0, 1, 29)
METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest".split()
)


def compare(name, *args, **kwargs):
    (found,) = results(name, *args, **kwargs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = getattr(np, name)(*args, **kwargs)
    assert found.shape == expected.shape
    assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_method(name, method):
    for values in (X, X[:, :6]):
        compare(name, values, Q, 1, method=method)
        for q in (0.0, 0.25, 0.5, 2 / 3, 1.0):
            compare(name, values, q, 1, method=method)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_beside_nan(axis):
    finite = GAPS[:3]
    for q in (0.3, Q):
        compare("nanquantile", finite, q, axis)
        compare("nanpercentile", finite, q * 100, axis, keepdims=True)
    for values in (finite, finite[:, :3]):
        compare("nanmedian", values, axis)


def test_median_beside_infinity():
    compare("nanmedian", GAPS[3:], 1)
    compare("median", GAPS[3:, 1:], 1)


def test_derivative_at_ties_is_shared_and_none_at_nan(gradients):
    (found,) = gradients(lambda f, x: f.nanmedian(x), [1, 3, nan, 3, 5])
    assert found == [0, 0.5, 0, 0.5, 0]


def test_derivative_in_q_is_the_slope_to_the_right(gradients):
    _, found = gradients(lambda f, x, q: f.quantile(x, q), [1, 2, 4], [0, 0.5, 0.75, 1])
    assert found == [2, 4, 4, 0]


def test_a_variable_out_of_range_gives_nan():
    (found,) = evaluate(Call.of("quantile", X, Q).record, [X, np.array([-0.1, 0.5, 1.1, nan])])
    assert np.isnan(found).tolist() == [True, False, True, True]
