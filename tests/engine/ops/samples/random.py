"""Sample points of keys and uniform numbers."""

import numpy as np
from gradwire_engine.check import Call

KEY = np.array(7)
PAIR = np.array([3, -5])

SAMPLES = [
    *[Call.of(name, KEY) for name in ("random.key", "random.split")],
    *[Call.of("random.split", PAIR, num) for num in (0, 3)],
    Call.of("random.fold_in", PAIR, np.array(9)),
    Call.of("random.fold_in", KEY, -1),
    *[Call.of("random.uniform", key, (2, 3)) for key in (KEY, PAIR, 11)],
    *[Call.of("random.uniform", KEY, shape) for shape in ((), (0, 2), 1)],
    Call.of(
        "random.uniform", KEY, None, None, np.array([[-1.0], [0.5]]), np.array([2.0, 1.5, 3.0])
    ),
    Call.of("random.uniform", KEY, (2, 3), "float32", maxval=2.5),
]
