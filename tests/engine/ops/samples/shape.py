"""Sample points of views."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
THIN = X[:, :1, :1]
EMPTY = np.zeros((0, 3))

SAMPLES = [
    *[Call.of("reshape", X, shape) for shape in ((4, 6), (2, -1), -1, [1, 24, 1])],
    Call.of("reshape", X[:1, :1, 0], ()),
    Call.of("reshape", EMPTY, (3, 0, 2)),
    *[Call.of("reshape", X, shape, "F") for shape in ((4, 6), (2, -1, 3))],
    Call.of("ravel", X),
    Call.of("ravel", X, "F"),
    Call.of("ravel", EMPTY),
    *[Call.of("transpose", X, axes) for axes in (None, (1, 2, 0), (-1, 0, 1))],
    Call.of("matrix_transpose", X),
    Call.of("swapaxes", X, 0, -1),
    Call.of("moveaxis", X, 0, -1),
    Call.of("moveaxis", X, (0, 1), (-1, 0)),
    *[Call.of("expand_dims", X, axis) for axis in (0, -1, (0, 2), (-1, 1))],
    *[Call.of("squeeze", THIN, axis) for axis in (None, 1, (-1, 1))],
    Call.of("broadcast_to", THIN, (5, 2, 3, 4)),
    Call.of("broadcast_to", np.array(0.4), (2, 0)),
    Call.of("broadcast_arrays", X, THIN[0], np.array(1.5)),
]
