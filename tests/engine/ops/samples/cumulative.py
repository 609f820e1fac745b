"""Sample points of running reductions and differences."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(4).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)
ZEROS = np.array([[2.0, 0.0, 4.0, 0.0, 0.0], [0.0, 3.0, 1.0, 2.0, 0.0]])

SAMPLES = [
    *[call(name, X, axis) for name in ("cumsum", "cumprod") for axis in (None, 0, -1)],
    *calls("cumsum cumprod", np.array(0.7)),
    *[call(name, np.zeros((0, 2)), axis) for name in ("cumsum", "cumprod") for axis in (0, 1)],
    *[call("cumprod", ZEROS, axis) for axis in (None, 0, 1)],
    *[call("diff", X, n, axis) for n in (0, 1, 2, 5) for axis in (0, -1)],
    call("diff", X, prepend=X[..., :1], append=2.0),
    *[
        call(name, X, axis=axis, include_initial=True)
        for name in ("cumulative_sum", "cumulative_prod")
        for axis in (None, 0, -1)
    ],
    call("cumulative_sum", X[0, 0]),
    call("cumulative_prod", np.zeros((0, 2)), axis=0, include_initial=True),
]
