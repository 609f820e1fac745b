"""Sample points of reductions beside NaN."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(11).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)

NAMES = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
PLACES = ("nanargmax", "nanargmin")
RUNNING = ("nancumsum", "nancumprod")

REAL = PLACES

SAMPLES = [
    *[call(name, X, axis) for name in NAMES for axis in (None, 0, -1, (0, 2))],
    *[call(name, X, 1, keepdims=True) for name in NAMES],
    *calls("nansum nanprod", np.zeros((0, 3)), 0),
    *[call("nansum", np.array(0.3))],
    *calls("nanvar nanstd", X, 1, ddof=1),
    *[call(name, X, axis) for name in (*PLACES, *RUNNING) for axis in (None, 0, -1)],
    *[call(name, X, 1, True) for name in PLACES],
    call("nan_to_num", np.array([0.5, -np.inf, 1.5, np.nan]), 2.0, None, 3.0),
]
