"""Sample points of blocks of pixels."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 48)

SAMPLES = [
    *[call("pixel_shuffle", X.reshape(2, 4, 3, 2), r) for r in (1, 2)],
    *[call("pixel_unshuffle", X.reshape(2, 6, 4), r) for r in (1, 2)],
    call("pixel_unshuffle", X[:0].reshape(1, 0, 4), 2),
    call("space_to_depth", X.reshape(2, 2, 6, 2), 2),
    call("space_to_depth", X.reshape(1, 2, 4, 6), 2, "NCHW"),
    call("depth_to_space", X.reshape(1, 2, 3, 8), 2),
    call("depth_to_space", X.reshape(1, 8, 2, 3), 2, data_format="NCHW"),
]
