"""Grids of affine maps, and images there."""

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate, trace
from gradwire_engine.errors import BadArgument, DtypeMismatch, ShapeMismatch

RNG = np.random.default_rng(51)
X = RNG.normal(size=(2, 3, 4, 5))
SAME = np.tile(np.eye(2, 3), (2, 1, 1))
POINTS = np.zeros((2, 1, 2))


def value(name, *args):
    call = Call.of(name, *args)
    return evaluate(call.record, call.values)[0]


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("corners", [False, True])
def test_the_identity_leaves_images_alone(mode, corners):
    grid = value("affine_grid", SAME, X.shape, corners)
    found = value("grid_sample", X, grid, mode, "zeros", corners)
    np.testing.assert_allclose(found, X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("corners", [False, True])
def test_exchanged_coordinates_flip_and_turn(corners):
    square = X[..., :4]
    swap = np.tile(np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), (2, 1, 1))
    grid = value("affine_grid", swap, square.shape, corners)
    found = value("grid_sample", square, grid, "bilinear", "zeros", corners)
    np.testing.assert_allclose(found, np.rot90(square, -1, (2, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ("padding", "expected"), [("zeros", 0.0), ("border", 2.0), ("reflection", 1.5)]
)
def test_what_lies_outside(padding, expected):
    line = np.array([[[1.0, 2.0]]])
    found = value("grid_sample", line, np.array([[[2.0]]]), "bilinear", padding)
    assert found.tolist() == [[[expected]]]


def test_a_repeated_border_has_no_slope(gradients):
    def border(f, x, points):
        return f.grid_sample(x, points, padding_mode="border", align_corners=True)

    bars = gradients(border, [[[1, 3, 7]]], [[[-1], [0], [1], [5]]])
    assert bars == [[[[1, 1, 2]]], [[[0], [4], [0], [0]]]]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("grid_sample", X, np.zeros((2, 1, 3))), ShapeMismatch),
        (("grid_sample", X, np.zeros((3, 1, 2))), ShapeMismatch),
        (("grid_sample", X[0, 0], np.zeros((2, 1))), ShapeMismatch),
        (("grid_sample", X[:, :, :0], POINTS), ShapeMismatch),
        (("grid_sample", X, POINTS * 1j), DtypeMismatch),
        (("grid_sample", X, POINTS, "linear"), BadArgument),
        (("grid_sample", X, POINTS, "bilinear", "wrap"), BadArgument),
        (("grid_sample", X, POINTS, "bilinear", "zeros", 1), BadArgument),
        (("affine_grid", SAME, (2, 3, 4)), ShapeMismatch),
        (("affine_grid", SAME, (3, 3, 4, 4)), ShapeMismatch),
        (("affine_grid", SAME, (2, 3, -4, 4)), BadArgument),
    ],
)
def test_refusals(args, error):
    call = Call.of(*args)
    with pytest.raises(error):
        trace(call.record, call.values)
