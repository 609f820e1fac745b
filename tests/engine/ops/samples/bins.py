"""Sample points of bins and searches."""

import numpy as np

from tests.engine.ops.calls import call

RISING = np.array([-1.0, 0.2, 0.7, 2.1])
POINTS = np.array([[-1.7, -0.4], [0.3, 2.0], [3.1, 0.9]])
COUNTED = np.array([2, 0, 2, 1])

REAL = ("searchsorted", "digitize", "histogram")
SAMPLES = [
    *[call("searchsorted", RISING, POINTS, side) for side in ("left", "right")],
    *[call("digitize", POINTS, RISING, right) for right in (False, True)],
    call("bincount", COUNTED, minlength=4),
    call("bincount", COUNTED, RISING, 3),
    call("histogram", POINTS, 3),
    call("histogram", POINTS, 3, (0.0, 1.0), weights=POINTS * POINTS),
    call("histogram", POINTS, RISING, weights=POINTS),
    call("histogram", POINTS, 3, density=True),
    call("histogram", POINTS, RISING, None, True, POINTS * POINTS),
]
