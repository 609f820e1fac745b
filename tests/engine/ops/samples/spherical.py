"""Sample points of spherical Bessel functions."""

import numpy as np

from tests.engine.ops.calls import call

X = np.array([[-2.3, -0.4, 0.0], [0.8, 1.7, 4.6]])
P = np.array([0.8, 1.7, 4.6])

SAMPLES = [
    *[call("spherical_in", n, X) for n in (0, 1, 3)],
    *[call(name, n, P) for name in ("spherical_yn", "spherical_kn") for n in (0, 1, 3)],
]
