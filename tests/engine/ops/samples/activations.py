"""Sample points of activations."""

import numpy as np
from gradwire_engine.check import Call

X = np.array([[-4.3, -0.4, 0.2], [0.7, 1.1, 7.3]])
SLOPES = np.array([0.1, 0.3, 0.5])

SMOOTH = ("sigmoid", "softplus", "log_sigmoid", "silu", "mish", "gelu", "softsign")
BENT = ("relu", "relu6", "leaky_relu", "elu", "selu", "celu")
HARD = ("hardtanh", "hardsigmoid", "hardswish")

SAMPLES = [
    *[Call.of(name, X) for name in (*SMOOTH, *BENT, *HARD)],
    Call.of("leaky_relu", X, SLOPES),
    Call.of("elu", X, alpha=SLOPES),
    Call.of("celu", X, alpha=0.7),
    Call.of("softplus", X, beta=2.0),
    Call.of("softplus", X, beta=SLOPES),
    Call.of("gelu", X, approximate="tanh"),
    Call.of("hardtanh", X, -2.0, SLOPES),
]
