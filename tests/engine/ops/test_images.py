"""Colours, blocks of pixels and comparisons of images."""

import colorsys

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate, trace
from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch

RNG = np.random.default_rng(54)
COLORS = np.concatenate([RNG.uniform(size=(20, 3)), np.eye(3), 1 - np.eye(3), np.eye(2, 3) * 0])
X, Y = RNG.uniform(size=(2, 6, 4, 3)), RNG.uniform(size=(2, 6, 4, 3))


def value(name, *args, **kwargs):
    call = Call.of(name, *args, **kwargs)
    return evaluate(call.record, call.values)[0]


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb"])
def test_hues_are_pythons(name):
    expected = [getattr(colorsys, name)(*color) for color in COLORS.tolist()]
    np.testing.assert_allclose(value(name, COLORS), expected, atol=1e-12)


@pytest.mark.parametrize(("space", "digits"), [("hsv", 12), ("yuv", 6), ("yiq", 3)])
def test_there_and_back(space, digits):
    there = value(f"rgb_to_{space}", COLORS)
    np.testing.assert_allclose(value(f"{space}_to_rgb", there), COLORS, atol=10.0**-digits)


def test_grey_has_no_hue_and_black_no_saturation(gradients):
    for color, expected in (([0.5, 0.5, 0.5], [2, 0, -2]), ([0, 0, 0], [0, 0, 0])):
        assert gradients(lambda f, x: f.take(f.rgb_to_hsv(x), [0], -1), color) == [[0, 0, 0]]
        assert gradients(lambda f, x: f.take(f.rgb_to_hsv(x), [1], -1), color) == [expected]


def test_adjustments_that_change_nothing():
    for name, neutral in (("hue", 1.0), ("saturation", 1.0), ("contrast", 1.0), ("gamma", 1.0)):
        np.testing.assert_allclose(value(f"adjust_{name}", X, neutral), X, atol=1e-12)


@pytest.mark.parametrize(
    ("there", "back", "shape"),
    [
        ("pixel_shuffle", "pixel_unshuffle", (2, 12, 2, 3)),
        ("depth_to_space", "space_to_depth", (2, 2, 3, 12)),
    ],
)
def test_blocks_of_pixels_go_there_and_back(there, back, shape):
    x = np.arange(144).reshape(shape)
    np.testing.assert_array_equal(value(back, value(there, x, 2), 2), x)


def test_pixels_of_a_block():
    channels = np.arange(4).reshape(1, 1, 4)
    assert value("depth_to_space", channels, 2)[..., 0].tolist() == [[0, 1], [2, 3]]
    x = np.arange(8).reshape(8, 1, 1)
    assert value("pixel_shuffle", x, 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    first = value("depth_to_space", x[None], 2, "NCHW")
    assert first.tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]


def test_likeness():
    np.testing.assert_allclose(value("ssim", X, X, 1.0, 3), 1)
    assert value("psnr", X, X, 1.0).tolist() == [np.inf, np.inf]
    error = ((X - Y) ** 2).mean((1, 2, 3))
    np.testing.assert_allclose(value("psnr", X, Y, 2.0), 10 * np.log10(4 / error))
    x, y = X[0, :2, :2, 0], Y[0, :2, :2, 0]  # one window, of even weights
    covariance = (x * y).mean() - x.mean() * y.mean()
    c1, c2 = 0.01**2, 0.03**2
    expected = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
    expected *= (2 * covariance + c2) / (x.var() + y.var() + c2)
    np.testing.assert_allclose(value("ssim", x[..., None], y[..., None], 1.0, 2), expected)


def test_differences_between_pixels():
    down, right = np.diff(X, axis=1), np.diff(X, axis=2)
    expected = np.abs(down).sum((1, 2, 3)) + np.abs(right).sum((1, 2, 3))
    np.testing.assert_allclose(value("total_variation", X), expected)
    np.testing.assert_array_equal(value("image_gradients", X)[:, :-1], down)
    ramp = np.arange(20.0).reshape(5, 4, 1)
    assert value("sobel_edges", ramp)[1:-1, 1:-1, 0].tolist() == [[[32, 8]] * 2] * 3


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("rgb_to_hsv", X[..., :2]), ShapeMismatch),
        (("rgb_to_grayscale", X + 1j), DtypeMismatch),
        (("adjust_contrast", X[0, 0], 2.0), ShapeMismatch),
        (("pixel_shuffle", X, 2.0), BadArgument),
        (("pixel_shuffle", X, 0), BadArgument),
        (("pixel_shuffle", X, 4), ShapeMismatch),
        (("pixel_unshuffle", X[0], 2), ShapeMismatch),
        (("space_to_depth", X[0, 0], 2), ShapeMismatch),
        (("depth_to_space", X, 2), ShapeMismatch),
        (("space_to_depth", X, 2, "NHCW"), BadArgument),
        (("total_variation", X[0, 0]), ShapeMismatch),
        (("image_gradients", X + 1j), DtypeMismatch),
        (("sobel_edges", X[:, :1]), ShapeMismatch),
        (("ssim", X, Y, 1.0), ShapeMismatch),
        (("ssim", X, Y, 1.0, 0), ShapeMismatch),
        (("ssim", X, Y, 1.0, 1 << 50), ShapeMismatch),
        (("ssim", X, Y, 1.0, 3, "1"), BadArgument),
        (("ssim_multiscale", X, Y, 1.0, (), 3), BadArgument),
        (("ssim_multiscale", X, Y, 1.0, (0.5, 0.5), 3), ShapeMismatch),
        (("psnr", X, Y[:, :2], 1.0), ShapeMismatch),
    ],
)
def test_refusals(args, error):
    call = Call.of(*args)
    with pytest.raises(error):
        trace(call.record, call.values)
