"""Sample points of Struve functions."""

import numpy as np
from gradwire_engine.check import Call

P = np.array([[0.4, 1.7, 4.2], [0.9, 2.2, 6.1]])

SAMPLES = [
    *[Call.of(name, [0.0, 1.0, 2.5], P) for name in ("struve", "modstruve")],
    *[Call.of(name, 0.7, np.array(1.3)) for name in ("struve", "modstruve")],
]
