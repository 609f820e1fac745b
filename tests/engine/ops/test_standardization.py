"""Channels and groups have mean 0 and variance 1, or what they were given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.engine.ops.calls import result

X = np.random.default_rng(52).normal(1, 3, size=(4, 6, 5, 2))


@pytest.mark.parametrize(
    ("name", "args", "shape", "axes"),
    [
        ("batch_norm", (), X.shape, (0, 2, 3)),
        ("group_norm", (3,), (4, 3, 2, 5, 2), (2, 3, 4)),
        ("group_norm", (1,), X.shape, (1, 2, 3)),
        ("instance_norm", (), X.shape, (2, 3)),
    ],
)
def test_what_is_standardised(name, args, shape, axes):
    z = result(name, X, *args, epsilon=0.0).reshape(shape)
    assert_allclose(z.mean(axes), 0, atol=1e-12)
    assert_allclose(z.var(axes), 1)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_channels_may_be_last(name):
    weight, bias = np.arange(6.0), np.arange(6.0) - 3
    first = result(name, X, weight=weight, bias=bias)
    last = result(name, np.moveaxis(X, 1, -1), weight=weight, bias=bias, axis=-1)
    assert_allclose(np.moveaxis(last, -1, 1), first)


def test_given_statistics():
    mean, variance = np.arange(6.0), np.arange(6.0) + 1
    z = result("batch_norm", X, mean, variance, epsilon=0.5)
    expected = (X - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 0.5)
    assert_allclose(z, expected)


def test_root_mean_square():
    z = result("rms_norm", X, None, (2, 3), 0.0)
    assert_allclose((z**2).mean((2, 3)), 1)
    assert_allclose(z / X, np.abs(z / X))


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_responses_in_windows(size):
    z = result("local_response_norm", X, size, 0.8, 0.6, 1.5)
    for channel in range(6):
        window = X[:, max(channel - size // 2, 0) : channel + (size - 1) // 2 + 1]
        total = 1.5 + 0.8 / size * (window**2).sum(1)
        assert_allclose(z[:, channel], X[:, channel] / total**0.6)
