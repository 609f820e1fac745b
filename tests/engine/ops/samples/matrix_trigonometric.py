"""Sample points of trigonometric and hyperbolic functions of matrices."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(43)
NAMES = ("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm")

SAMPLES = [
    *[call(name, RNG.normal(size=(3, 3)) * 0.5) for name in NAMES],
    *[call(f"linalg.{name}", RNG.normal(size=(2, 2, 2)) * 0.5) for name in NAMES],
    *[call(name, np.zeros((0, 0))) for name in NAMES],
]
