"""Grids of affine maps, and images there."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.engine.ops.calls import result

RNG = np.random.default_rng(51)
X = RNG.normal(size=(2, 3, 4, 5))
SAME = np.tile(np.eye(2, 3), (2, 1, 1))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("corners", [False, True])
def test_the_identity_leaves_images_alone(mode, corners):
    grid = result("affine_grid", SAME, X.shape, corners)
    found = result("grid_sample", X, grid, mode, "zeros", corners)
    assert_allclose(found, X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("corners", [False, True])
def test_exchanged_coordinates_flip_and_turn(corners):
    square = X[..., :4]
    swap = np.tile(np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]), (2, 1, 1))
    grid = result("affine_grid", swap, square.shape, corners)
    found = result("grid_sample", square, grid, "bilinear", "zeros", corners)
    assert_allclose(found, np.rot90(square, -1, (2, 3)), atol=1e-12)


@pytest.mark.parametrize(
    ("padding", "expected"), [("zeros", 0.0), ("border", 2.0), ("reflection", 1.5)]
)
def test_what_lies_outside(padding, expected):
    line = np.array([[[1.0, 2.0]]])
    found = result("grid_sample", line, np.array([[[2.0]]]), "bilinear", padding)
    assert found.tolist() == [[[expected]]]


def test_a_repeated_border_has_no_slope(gradients):
    def border(f, x, points):
        return f.grid_sample(x, points, padding_mode="border", align_corners=True)

    bars = gradients(border, [[[1, 3, 7]]], [[[-1], [0], [1], [5]]])
    assert bars == [[[[1, 1, 2]]], [[[0], [4], [0], [0]]]]
