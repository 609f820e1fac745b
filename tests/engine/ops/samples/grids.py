"""Sample points of images at the points of grids."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(41)
IMAGES = RNG.normal(size=(2, 2, 3, 4))
GRID = RNG.uniform(-1.4, 1.4, size=(2, 3, 2, 2))
VOLUMES = RNG.normal(size=(1, 2, 2, 3, 4))
THETA = RNG.normal(size=(2, 2, 3))

REAL = ("grid_sample",)
SAMPLES = [
    *[
        call("grid_sample", IMAGES, GRID, mode, padding, (m + p) % 2 == 0)
        for m, mode in enumerate(("bilinear", "bicubic", "nearest"))
        for p, padding in enumerate(("zeros", "border", "reflection"))
    ],
    call("grid_sample", VOLUMES, RNG.uniform(-1.2, 1.2, size=(1, 2, 2, 1, 3))),
    call("grid_sample", IMAGES[:, :, :1, :1], GRID, padding_mode="border"),
    call("grid_sample", IMAGES, GRID[:, :0]),
    *[call("affine_grid", THETA, (2, 1, 3, 4), corners) for corners in (False, True)],
    call("affine_grid", THETA, (2, 1, 1, 1), True),
    call("affine_grid", RNG.normal(size=(1, 3, 4)), (1, 1, 2, 1, 3)),
]
