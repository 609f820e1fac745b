"""Sample points of views."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
THIN = X[:, :1, :1]
EMPTY = np.zeros((0, 3))

SAMPLES = [
    *[call("reshape", X, shape) for shape in ((4, 6), (2, -1), -1, [1, 24, 1])],
    call("reshape", X[:1, :1, 0], ()),
    call("reshape", EMPTY, (3, 0, 2)),
    *[call("reshape", X, shape, "F") for shape in ((4, 6), (2, -1, 3))],
    call("ravel", X),
    call("ravel", X, "F"),
    call("ravel", EMPTY),
    *[call("transpose", X, axes) for axes in (None, (1, 2, 0), (-1, 0, 1))],
    call("matrix_transpose", X),
    call("swapaxes", X, 0, -1),
    call("moveaxis", X, 0, -1),
    call("moveaxis", X, (0, 1), (-1, 0)),
    *[call("expand_dims", X, axis) for axis in (0, -1, (0, 2), (-1, 1))],
    *[call("squeeze", THIN, axis) for axis in (None, 1, (-1, 1))],
    call("broadcast_to", THIN, (5, 2, 3, 4)),
    call("broadcast_to", np.array(0.4), (2, 0)),
    call("broadcast_arrays", X, THIN[0], np.array(1.5)),
]
