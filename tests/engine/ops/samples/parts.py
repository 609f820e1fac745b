"""Sample points of parts and divisors of numbers."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(67).normal(size=(2, 3)) * 3
K = np.array([[12, -18, 0], [7, 5, 30]])

SAMPLES = [
    *[Call.of(name, X) for name in ("modf", "fabs", "signbit")],
    *[Call.of(name, np.array(0.5)) for name in ("modf", "fabs", "signbit")],
    *[Call.of(name, K, K[0] + 2) for name in ("gcd", "lcm")],
]
