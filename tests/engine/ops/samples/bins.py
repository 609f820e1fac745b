"""Sample points of bins and searches."""

import numpy as np
from gradwire_engine.check import Call

RISING = np.array([-1.0, 0.2, 0.7, 2.1])
POINTS = np.array([[-1.7, -0.4], [0.3, 2.0], [3.1, 0.9]])
COUNTED = np.array([2, 0, 2, 1])

REAL = ("searchsorted", "digitize", "histogram")
SAMPLES = [
    *[Call.of("searchsorted", RISING, POINTS, side) for side in ("left", "right")],
    *[Call.of("digitize", POINTS, RISING, right) for right in (False, True)],
    Call.of("bincount", COUNTED, minlength=4),
    Call.of("bincount", COUNTED, RISING, 3),
    Call.of("histogram", POINTS, 3),
    Call.of("histogram", POINTS, 3, (0.0, 1.0), weights=POINTS * POINTS),
    Call.of("histogram", POINTS, RISING, weights=POINTS),
    Call.of("histogram", POINTS, 3, density=True),
    Call.of("histogram", POINTS, RISING, None, True, POINTS * POINTS),
]
