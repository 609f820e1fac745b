"""Sample points of parts and divisors of numbers."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call


@dataclass(frozen=True, eq=False)
class Mantissa(Call):
    """The first of a call's results."""

    def record(self, b, *inputs):
        return super().record(b, *inputs)[0]


X = np.random.default_rng(67).normal(size=(2, 3)) * 3
K = np.array([[12, -18, 0], [7, 5, 30]])

SAMPLES = [
    *[Call.of(name, X) for name in ("modf", "fabs", "signbit")],
    *[Call.of(name, np.array(0.5)) for name in ("modf", "fabs", "signbit")],
    *[Call.of(name, K, K[0] + 2) for name in ("gcd", "lcm")],
    Call.of("nextafter", X, X[0] + 1),
    Mantissa.of("frexp", X),
]
