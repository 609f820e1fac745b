"""Sample points of blocks of pixels."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 48)

SAMPLES = [
    *[Call.of("pixel_shuffle", X.reshape(2, 4, 3, 2), r) for r in (1, 2)],
    *[Call.of("pixel_unshuffle", X.reshape(2, 6, 4), r) for r in (1, 2)],
    Call.of("pixel_unshuffle", X[:0].reshape(1, 0, 4), 2),
    Call.of("space_to_depth", X.reshape(2, 2, 6, 2), 2),
    Call.of("space_to_depth", X.reshape(1, 2, 4, 6), 2, "NCHW"),
    Call.of("depth_to_space", X.reshape(1, 2, 3, 8), 2),
    Call.of("depth_to_space", X.reshape(1, 8, 2, 3), 2, data_format="NCHW"),
]
