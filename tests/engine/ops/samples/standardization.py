"""Sample points of channels and groups scaled by statistics."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(42).permutation(np.linspace(-1.1, 1.9, 48)).reshape(2, 4, 3, 2)
WEIGHT = np.array([0.5, -1.2, 0.8, 1.1])
BIAS = np.array([0.2, 0.1, -0.4, 0.6])
MEAN = np.array([0.1, -0.3, 0.2, 0.4])
VARIANCE = np.array([0.5, 1.3, 0.9, 2.1])

REAL = ("batch_norm",)
SAMPLES = [
    Call.of("batch_norm", X),
    Call.of("batch_norm", X, None, None, WEIGHT, BIAS, epsilon=0.1),
    Call.of("batch_norm", X, MEAN, VARIANCE, WEIGHT, BIAS),
    Call.of("batch_norm", X[:, :, 0, 0], MEAN, VARIANCE, bias=BIAS, axis=-1),
    Call.of("batch_norm", X[0], np.array(0.3), VARIANCE, axis=0, epsilon=np.array(0.2)),
    *[Call.of("group_norm", X, groups, WEIGHT, BIAS) for groups in (1, 2, 4)],
    Call.of("group_norm", X[:, :, :, 0], 3, axis=-1),
    Call.of("instance_norm", X),
    Call.of("instance_norm", X, WEIGHT[:2], BIAS[:2], axis=-1, epsilon=0.01),
    Call.of("rms_norm", X),
    Call.of("rms_norm", X, WEIGHT[:2], (0, -1), 0.1),
    *[Call.of("local_response_norm", X, size, 0.7, 0.6, 1.3) for size in (1, 2, 3, 9)],
    Call.of("local_response_norm", X, 5, np.array(0.4), np.array(0.8), np.array(0.9), -2),
]
