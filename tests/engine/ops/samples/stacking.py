"""Sample points of pieces put together and taken apart."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(73).normal(size=(2, 3, 4))
SIZES = (X, X[0], X[0, 0], X[0, 0, 0])

SAMPLES = [
    *[call(f"atleast_{n}d", x) for n in (1, 2, 3) for x in SIZES],
    call("atleast_2d", *SIZES),
    *[call("dstack", [x, x + 1]) for x in SIZES],
    call("append", X, X[0]),
    call("append", X, X[:1], 0),
    *[call("delete", X, places) for places in (3, (0, -1, 0))],
    *[call("delete", X, (1, -1), axis) for axis in (1, -1)],
    call("delete", X[:1], 0, 0),
    *[call(name, X, parts) for name in ("hsplit", "dsplit") for parts in ((1,), (0, 2))],
    *calls("vsplit dsplit", X, 2),
    call("hsplit", X[0, 0], 2),
    *[call("insert", X, places, np.array(0.5)) for places in (0, -1, 24, (3, 3, 1))],
    call("insert", X, 2, X[0, 0]),
    *[call("insert", X, (2, 0), X[0, 0, 0], axis) for axis in (1, -1)],
    call("insert", X[0], 1, X[0, :, :2].T, -1),
    call("insert", X[0], (1, 4), X[0, :, :2], 1),
    call("block", X[0]),
    call("block", [[X[0], X[1, :, :2]], [X[1, :1], X[0, 2, 1:3]]]),
    call("block", [X[0, 0], 1.5, X[1, 0, :1]]),
    call("block", [[[X[0, 0, 0]], [X[0, 0, 1]]]]),
]
