"""Sample points of the gamma distribution and those made of it, for a fixed key."""

import numpy as np

from tests.engine.ops.calls import call

KEY = np.array(5)
POSITIVE = np.array([0.05, 1.0, 3.5])
COLUMN = np.array([[0.5], [20.0]])

SAMPLES = [
    *[
        call(f"random.{name}", KEY, parameter)
        for name in ("gamma", "loggamma", "chisquare", "t")
        for parameter in (POSITIVE, np.array(2.5), POSITIVE[:0])
    ],
    call("random.gamma", np.array([1, 2]), COLUMN, (2, 3)),
    *[call(f"random.{name}", KEY, POSITIVE, COLUMN) for name in ("beta", "f")],
    call("random.maxwell", KEY, (2, 3)),
    call("random.beta", KEY, POSITIVE, 1.0, (2, 3)),
    *[call("random.dirichlet", KEY, POSITIVE, shape) for shape in (None, (2,), ())],
    call("random.dirichlet", KEY, COLUMN * POSITIVE, (3, 2)),
]
