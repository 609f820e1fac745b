"""Sample points of continuous distributions, smooth in their parameters for a fixed key."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.arrays.shape import swap_last

from tests.engine.ops.calls import call

KEY = np.array(5)
PAIR = np.array([2, 40])
COLUMN = np.array([[0.5], [1.5]])
ROW = np.array([0.3, -1.2, 2.0])
POSITIVE = np.array([0.4, 1.0, 3.5])
ONE = np.array(0.7)
VECTOR = np.array([0.5, -1.0])
MATRIX = np.array([[2.0, 0.6], [0.6, 1.0]])


@dataclass(frozen=True, eq=False)
class OfCovariance(Call):
    """A call on the symmetric part of the last argument: symmetric after any step."""

    def record(self, b, *inputs):
        *rest, matrix = inputs
        return super().record(b, *rest, (matrix + swap_last(matrix)) / 2)


LOCATION_SCALE = [f"random.{name}" for name in "normal laplace logistic gumbel cauchy".split()]

SAMPLES = [
    call("ndtri_exp", -POSITIVE),
    call("ndtri_exp", -POSITIVE[:0]),
    *[call(name, KEY, (2, 3)) for name in LOCATION_SCALE],
    *[call(name, PAIR, None, None, ROW, COLUMN) for name in LOCATION_SCALE],
    *[call(name, KEY, (0,), "float32", scale=ONE) for name in LOCATION_SCALE],
    call("random.exponential", KEY, 4, scale=ONE),
    call("random.rayleigh", KEY, POSITIVE, (2, 3)),
    call("random.weibull_min", PAIR, POSITIVE, COLUMN),
    call("random.pareto", KEY, POSITIVE),
    call("random.triangular", KEY, -POSITIVE, COLUMN, COLUMN + 1.5),
    call("random.triangular", KEY, 0.0, ONE, 1.0, (6,)),
    call("random.lognormal", KEY, COLUMN, (2, 3), mean=ROW),
    call("random.truncated_normal", KEY, -POSITIVE, COLUMN),
    *[call("random.truncated_normal", KEY, x, x + 1.5, 3) for x in (ONE * 9, ONE * -12)],
    OfCovariance.of("random.multivariate_normal", KEY, VECTOR, MATRIX),
    OfCovariance.of("random.multivariate_normal", KEY, VECTOR, MATRIX, (3,)),
    OfCovariance.of(
        "random.multivariate_normal", PAIR, np.stack([VECTOR, -VECTOR]), MATRIX, (0, 2)
    ),
    OfCovariance.of("random.multivariate_normal", PAIR, VECTOR, np.stack([MATRIX, MATRIX * 2])),
]
