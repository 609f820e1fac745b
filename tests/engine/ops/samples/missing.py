"""Sample points of reductions beside NaN."""

import numpy as np
from gradwire_engine.check import Call

X = np.random.default_rng(11).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)

NAMES = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
PLACES = ("nanargmax", "nanargmin")
RUNNING = ("nancumsum", "nancumprod")

REAL = PLACES

SAMPLES = [
    *[Call.of(name, X, axis) for name in NAMES for axis in (None, 0, -1, (0, 2))],
    *[Call.of(name, X, 1, keepdims=True) for name in NAMES],
    *[Call.of(name, np.zeros((0, 3)), 0) for name in ("nansum", "nanprod")],
    *[Call.of("nansum", np.array(0.3))],
    *[Call.of(name, X, 1, ddof=1) for name in ("nanvar", "nanstd")],
    *[Call.of(name, X, axis) for name in (*PLACES, *RUNNING) for axis in (None, 0, -1)],
    *[Call.of(name, X, 1, True) for name in PLACES],
    Call.of("nan_to_num", np.array([0.5, -np.inf, 1.5, np.nan]), 2.0, None, 3.0),
]
