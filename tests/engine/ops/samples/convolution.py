"""Sample points of convolutions."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(15)
X = RNG.normal(size=6)
ROWS = RNG.normal(size=(2, 4, 7))
FILTERS = RNG.normal(size=(6, 4, 3)) / 3
IMAGES = RNG.normal(size=(2, 2, 5, 4))
SQUARES = RNG.normal(size=(4, 2, 2, 3)) / 3

SAMPLES = [
    *[
        call(name, X[:n], X[-m:], mode)
        for name in ("convolve", "correlate")
        for n, m in ((4, 3), (2, 5), (3, 4), (1, 1), (4, 4))
        for mode in ("full", "same", "valid")
    ],
    call("conv", ROWS, FILTERS),
    call("conv", ROWS[0], FILTERS, 2, 1, 2),
    call("conv", ROWS[:0], FILTERS, padding="same"),
    call("conv", ROWS[None], FILTERS[:, :2], 1, ((2, -1),), groups=2),
    call("conv", ROWS, FILTERS[:4, :1], 2, "same", groups=4),
    call("conv", ROWS, FILTERS[:, :, :1]),
    call("conv", ROWS, FILTERS, 2, 3, 1, 1, 3),
    call("conv", IMAGES, SQUARES),
    call("conv", IMAGES, SQUARES, (2, 1), "same", (1, 2)),
    call("conv", IMAGES, SQUARES[:, :1], 1, (1, 0), 1, 2, (1, 2)),
    call("conv", RNG.normal(size=(1, 2, 3, 4)), RNG.normal(size=(2, 1, 2, 1, 2))),
    call("conv_transpose", ROWS, FILTERS[:4, :2]),
    call("conv_transpose", ROWS[0], FILTERS[:4], 2, 1, 1, 2),
    call("conv_transpose", ROWS, FILTERS[:4, :1], 3, ((1, 0),), groups=2),
    call("conv_transpose", ROWS, FILTERS[:4, :1], 4, "same"),
    call("conv_transpose", IMAGES, SQUARES[:2], (2, 1), (1, 0), (1, 0)),
    call("conv_transpose", IMAGES, SQUARES[:2], 1, "same", 0, (1, 2), 2),
]
