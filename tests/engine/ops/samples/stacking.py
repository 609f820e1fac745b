"""Sample points of pieces put together and taken apart."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(73).normal(size=(2, 3, 4))
SIZES = (X, X[0], X[0, 0], X[0, 0, 0])

SAMPLES = [
    *[Call.of(f"atleast_{n}d", x) for n in (1, 2, 3) for x in SIZES],
    Call.of("atleast_2d", *SIZES),
    *[Call.of("dstack", [x, x + 1]) for x in SIZES],
    Call.of("append", X, X[0]),
    Call.of("append", X, X[:1], 0),
    *[Call.of("delete", X, places) for places in (3, (0, -1, 0))],
    *[Call.of("delete", X, (1, -1), axis) for axis in (1, -1)],
    Call.of("delete", X[:1], 0, 0),
    *[Call.of(name, X, parts) for name in ("hsplit", "dsplit") for parts in ((1,), (0, 2))],
    *[Call.of(name, X, 2) for name in ("vsplit", "dsplit")],
    Call.of("hsplit", X[0, 0], 2),
    *[Call.of("insert", X, places, np.array(0.5)) for places in (0, -1, 24, (3, 3, 1))],
    Call.of("insert", X, 2, X[0, 0]),
    *[Call.of("insert", X, (2, 0), X[0, 0, 0], axis) for axis in (1, -1)],
    Call.of("insert", X[0], 1, X[0, :, :2].T, -1),
    Call.of("insert", X[0], (1, 4), X[0, :, :2], 1),
    Call.of("block", X[0]),
    Call.of("block", [[X[0], X[1, :, :2]], [X[1, :1], X[0, 2, 1:3]]]),
    Call.of("block", [X[0, 0], 1.5, X[1, 0, :1]]),
    Call.of("block", [[[X[0, 0, 0]], [X[0, 0, 1]]]]),
]
