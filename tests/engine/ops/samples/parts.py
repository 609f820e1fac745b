"""Sample points of parts and divisors of numbers."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call

from tests.engine.ops.calls import call, calls


@dataclass(frozen=True, eq=False)
class Mantissa(Call):
    """The first of a call's results."""

    def record(self, b, *inputs):
        return super().record(b, *inputs)[0]


X = np.random.default_rng(67).normal(size=(2, 3)) * 3
K = np.array([[12, -18, 0], [7, 5, 30]])

SAMPLES = [
    *calls("modf fabs signbit", X),
    *calls("modf fabs signbit", np.array(0.5)),
    *calls("gcd lcm", K, K[0] + 2),
    call("nextafter", X, X[0] + 1),
    Mantissa.of("frexp", X),
]
