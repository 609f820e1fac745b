"""Sample points of windows over the last axes."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(31)
X = RNG.normal(size=(2, 3, 7))
IMAGE = RNG.normal(size=(2, 5, 4))

SAMPLES = [
    call("sliding_window_view", X, (1, 2, 3)),
    call("sliding_window_view", X, (4, 2), (-1, 0)),
    call("sliding_window_view", X[0, 0], 7),
    call("sliding_window_view", X, 2, 1),
    call("sliding_window_view", np.array(0.5), ()),
    call("unfold", X, 3),
    call("unfold", X, 2, 3, 1, 2),
    call("unfold", X, (5,), 2, "same"),
    call("unfold", X, 1),
    call("unfold", X[:0], 3),
    call("unfold", IMAGE, (2, 3), (2, 1), ((1, 0), (0, 2)), (1, 2)),
    call("unfold", IMAGE, (3, 2), 1, "VALID"),
    call("unfold", IMAGE, (2, 2), 1, ((-1, 0), (1, -2))),
    call("fold", X, 9, 3),
    call("fold", X[:, :, :3], (6,), 3, 2, 1, 1),
    call("fold", RNG.normal(size=(2, 12, 9)), (4, 3), (2, 3), (2, 1), ((1, 1), (0, 2))),
    call("fold", RNG.normal(size=(20, 1)), (4, 5), (4, 5)),
]
