"""Sample points of sequences and windows."""

import numpy as np
from gradwire_engine.check import Call

LOW, HIGH = np.array([0.2, 1.3]), np.array([[1.1], [2.4], [0.7]])
NAMES = ("hanning", "hamming", "blackman", "bartlett")
SPACED = ("logspace", "geomspace")

REAL = ("geomspace", "kaiser")
SAMPLES = [
    *[Call.of(name, LOW, HIGH, 4, axis=-1) for name in SPACED],
    *[Call.of(name, LOW[0], HIGH[0, 0], n) for name in SPACED for n in (0, 1, 3)],
    *[Call.of(name, LOW, HIGH, 3, False) for name in SPACED],
    Call.of("logspace", LOW, HIGH, 3, base=np.array(2.5)),
    Call.of("geomspace", -LOW, -HIGH, 3),
    *[Call.of(name, n) for name in NAMES for n in (0, 1, 5)],
    *[Call.of("kaiser", n, np.array(2.1)) for n in (0, 1, 5)],
]
