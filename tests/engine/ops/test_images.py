"""Colours, blocks of pixels and comparisons of images."""

import colorsys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.calls import result

RNG = np.random.default_rng(54)
COLORS = np.concatenate([RNG.uniform(size=(20, 3)), np.eye(3), 1 - np.eye(3), np.eye(2, 3) * 0])
X, Y = RNG.uniform(size=(2, 6, 4, 3)), RNG.uniform(size=(2, 6, 4, 3))


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb"])
def test_hues_are_pythons(name):
    expected = [getattr(colorsys, name)(*color) for color in COLORS.tolist()]
    assert_allclose(result(name, COLORS), expected, atol=1e-12)


@pytest.mark.parametrize(("space", "digits"), [("hsv", 12), ("yuv", 6), ("yiq", 3)])
def test_there_and_back(space, digits):
    there = result(f"rgb_to_{space}", COLORS)
    assert_allclose(result(f"{space}_to_rgb", there), COLORS, atol=10.0**-digits)


def test_grey_has_no_hue_and_black_no_saturation(gradients):
    for color, expected in (([0.5, 0.5, 0.5], [2, 0, -2]), ([0, 0, 0], [0, 0, 0])):
        assert gradients(lambda f, x: f.take(f.rgb_to_hsv(x), [0], -1), color) == [[0, 0, 0]]
        assert gradients(lambda f, x: f.take(f.rgb_to_hsv(x), [1], -1), color) == [expected]


def test_adjustments_that_change_nothing():
    for name, neutral in (("hue", 1.0), ("saturation", 1.0), ("contrast", 1.0), ("gamma", 1.0)):
        assert_allclose(result(f"adjust_{name}", X, neutral), X, atol=1e-12)


@pytest.mark.parametrize(
    ("there", "back", "shape"),
    [
        ("pixel_shuffle", "pixel_unshuffle", (2, 12, 2, 3)),
        ("depth_to_space", "space_to_depth", (2, 2, 3, 12)),
    ],
)
def test_blocks_of_pixels_go_there_and_back(there, back, shape):
    x = np.arange(144).reshape(shape)
    assert_array_equal(result(back, result(there, x, 2), 2), x)


def test_pixels_of_a_block():
    channels = np.arange(4).reshape(1, 1, 4)
    assert result("depth_to_space", channels, 2)[..., 0].tolist() == [[0, 1], [2, 3]]
    x = np.arange(8).reshape(8, 1, 1)
    assert result("pixel_shuffle", x, 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    first = result("depth_to_space", x[None], 2, "NCHW")
    assert first.tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]


def test_likeness():
    assert_allclose(result("ssim", X, X, 1.0, 3), 1)
    assert result("psnr", X, X, 1.0).tolist() == [np.inf, np.inf]
    error = ((X - Y) ** 2).mean((1, 2, 3))
    assert_allclose(result("psnr", X, Y, 2.0), 10 * np.log10(4 / error))
    x, y = X[0, :2, :2, 0], Y[0, :2, :2, 0]  # one window, of even weights
    covariance = (x * y).mean() - x.mean() * y.mean()
    c1, c2 = 0.01**2, 0.03**2
    expected = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
    expected *= (2 * covariance + c2) / (x.var() + y.var() + c2)
    assert_allclose(result("ssim", x[..., None], y[..., None], 1.0, 2), expected)


def test_differences_between_pixels():
    down, right = np.diff(X, axis=1), np.diff(X, axis=2)
    expected = np.abs(down).sum((1, 2, 3)) + np.abs(right).sum((1, 2, 3))
    assert_allclose(result("total_variation", X), expected)
    assert_array_equal(result("image_gradients", X)[:, :-1], down)
    ramp = np.arange(20.0).reshape(5, 4, 1)
    assert result("sobel_edges", ramp)[1:-1, 1:-1, 0].tolist() == [[[32, 8]] * 2] * 3
