"""Sample points of activations."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-4.3, -0.4, 0.2], [0.7, 1.1, 7.3]])
SLOPES = np.array([0.1, 0.3, 0.5])

SMOOTH = ("sigmoid", "softplus", "log_sigmoid", "silu", "mish", "gelu", "softsign")
BENT = ("relu", "relu6", "leaky_relu", "elu", "selu", "celu")
HARD = ("hardtanh", "hardsigmoid", "hardswish")

SAMPLES = [
    *[call(name, X) for name in (*SMOOTH, *BENT, *HARD)],
    call("leaky_relu", X, SLOPES),
    call("elu", X, alpha=SLOPES),
    call("celu", X, alpha=0.7),
    call("softplus", X, beta=2.0),
    call("softplus", X, beta=SLOPES),
    call("gelu", X, approximate="tanh"),
    call("hardtanh", X, -2.0, SLOPES),
]
