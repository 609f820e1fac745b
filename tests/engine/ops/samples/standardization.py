"""Sample points of channels and groups scaled by statistics."""

import numpy as np

from tests.engine.ops.calls import call

X = np.random.default_rng(42).permutation(np.linspace(-1.1, 1.9, 48)).reshape(2, 4, 3, 2)
WEIGHT = np.array([0.5, -1.2, 0.8, 1.1])
BIAS = np.array([0.2, 0.1, -0.4, 0.6])
MEAN = np.array([0.1, -0.3, 0.2, 0.4])
VARIANCE = np.array([0.5, 1.3, 0.9, 2.1])

REAL = ("batch_norm",)
SAMPLES = [
    call("batch_norm", X),
    call("batch_norm", X, None, None, WEIGHT, BIAS, epsilon=0.1),
    call("batch_norm", X, MEAN, VARIANCE, WEIGHT, BIAS),
    call("batch_norm", X[:, :, 0, 0], MEAN, VARIANCE, bias=BIAS, axis=-1),
    call("batch_norm", X[0], np.array(0.3), VARIANCE, axis=0, epsilon=np.array(0.2)),
    *[call("group_norm", X, groups, WEIGHT, BIAS) for groups in (1, 2, 4)],
    call("group_norm", X[:, :, :, 0], 3, axis=-1),
    call("instance_norm", X),
    call("instance_norm", X, WEIGHT[:2], BIAS[:2], axis=-1, epsilon=0.01),
    call("rms_norm", X),
    call("rms_norm", X, WEIGHT[:2], (0, -1), 0.1),
    *[call("local_response_norm", X, size, 0.7, 0.6, 1.3) for size in (1, 2, 3, 9)],
    call("local_response_norm", X, 5, np.array(0.4), np.array(0.8), np.array(0.9), -2),
]
