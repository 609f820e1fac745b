"""Sample points of the gamma distribution and those made of it, for a fixed key."""

import numpy as np
from gradwire_engine.check import Call

KEY = np.array(5)
POSITIVE = np.array([0.05, 1.0, 3.5])
COLUMN = np.array([[0.5], [20.0]])

SAMPLES = [
    *[
        Call.of(f"random.{name}", KEY, parameter)
        for name in ("gamma", "loggamma", "chisquare", "t")
        for parameter in (POSITIVE, np.array(2.5), POSITIVE[:0])
    ],
    Call.of("random.gamma", np.array([1, 2]), COLUMN, (2, 3)),
    *[Call.of(f"random.{name}", KEY, POSITIVE, COLUMN) for name in ("beta", "f")],
    Call.of("random.maxwell", KEY, (2, 3)),
    Call.of("random.beta", KEY, POSITIVE, 1.0, (2, 3)),
    *[Call.of("random.dirichlet", KEY, POSITIVE, shape) for shape in (None, (2,), ())],
    Call.of("random.dirichlet", KEY, COLUMN * POSITIVE, (3, 2)),
]
