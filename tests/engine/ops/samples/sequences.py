"""Sample points of sequences and windows."""

import numpy as np

from tests.engine.ops.calls import call

LOW, HIGH = np.array([0.2, 1.3]), np.array([[1.1], [2.4], [0.7]])
NAMES = ("hanning", "hamming", "blackman", "bartlett")
SPACED = ("logspace", "geomspace")

REAL = ("geomspace", "kaiser")
SAMPLES = [
    *[call(name, LOW, HIGH, 4, axis=-1) for name in SPACED],
    *[call(name, LOW[0], HIGH[0, 0], n) for name in SPACED for n in (0, 1, 3)],
    *[call(name, LOW, HIGH, 3, False) for name in SPACED],
    call("logspace", LOW, HIGH, 3, base=np.array(2.5)),
    call("geomspace", -LOW, -HIGH, 3),
    *[call(name, n) for name in NAMES for n in (0, 1, 5)],
    *[call("kaiser", n, np.array(2.1)) for n in (0, 1, 5)],
]
