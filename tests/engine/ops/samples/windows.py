"""Sample points of windows over the last axes."""

import numpy as np
from gradwire_engine.check import Call

RNG = np.random.default_rng(31)
X = RNG.normal(size=(2, 3, 7))
IMAGE = RNG.normal(size=(2, 5, 4))

SAMPLES = [
    Call.of("sliding_window_view", X, (1, 2, 3)),
    Call.of("sliding_window_view", X, (4, 2), (-1, 0)),
    Call.of("sliding_window_view", X[0, 0], 7),
    Call.of("sliding_window_view", X, 2, 1),
    Call.of("sliding_window_view", np.array(0.5), ()),
    Call.of("unfold", X, 3),
    Call.of("unfold", X, 2, 3, 1, 2),
    Call.of("unfold", X, (5,), 2, "same"),
    Call.of("unfold", X, 1),
    Call.of("unfold", X[:0], 3),
    Call.of("unfold", IMAGE, (2, 3), (2, 1), ((1, 0), (0, 2)), (1, 2)),
    Call.of("unfold", IMAGE, (3, 2), 1, "VALID"),
    Call.of("unfold", IMAGE, (2, 2), 1, ((-1, 0), (1, -2))),
    Call.of("fold", X, 9, 3),
    Call.of("fold", X[:, :, :3], (6,), 3, 2, 1, 1),
    Call.of("fold", RNG.normal(size=(2, 12, 9)), (4, 3), (2, 3), (2, 1), ((1, 1), (0, 2))),
    Call.of("fold", RNG.normal(size=(20, 1)), (4, 5), (4, 5)),
]
