"""Sample points of splines through the elements of an array."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(41)
X = RNG.normal(size=(4, 5))
CUBE = RNG.normal(size=(2, 3, 4))
LINE = RNG.normal(size=6)
POINTS = np.array([[[0.3, 2.6], [1.2, 2.2]], [[3.7, 0.4], [1.6, 2.3]]])
OUTSIDE = np.array([[-1.3, 4.7, -7.6], [6.2, -0.7, 12.4]])
MODES = "constant nearest mirror reflect wrap grid-constant grid-wrap".split()

REAL = ("map_coordinates",)
SAMPLES = [
    *[call("map_coordinates", X, POINTS, order) for order in range(4)],
    *[
        call("map_coordinates", X, OUTSIDE, order, mode, 0.5)
        for order in (1, 3)
        for mode in MODES
        if (order, mode) != (3, "grid-wrap")
    ],
    call("map_coordinates", X, OUTSIDE, 2, "grid-wrap", prefilter=False),
    call("map_coordinates", X, OUTSIDE, 1, cval=np.array(0.7)),
    call("map_coordinates", LINE, np.array([[0.2, 4.9]]), 3, "mirror"),
    call("map_coordinates", LINE, np.array([2.7]), 2),
    call("map_coordinates", LINE[:1], np.array([[0.4, -0.7]]), 3, "reflect"),
    call("map_coordinates", LINE + 1j, np.array([[1.4, 2.7]]), 1),
    call("map_coordinates", CUBE, np.array([[0.3], [1.2], [2.6]]), 2, "nearest"),
    call("map_coordinates", X, POINTS[:, :0], 1),
]
