"""Sample points of rearrangements and repetitions."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[Call.of("flip", X, axis) for axis in (None, 0, (-1, 0))],
    *[Call.of(name, X) for name in ("fliplr", "flipud", "rot90")],
    Call.of("item", np.array([[0.5]])),
    *[Call.of("rot90", X, k, (2, 0)) for k in (0, 2, 3, -1)],
    *[Call.of("roll", X, shift) for shift in (2, -7, 0)],
    *[Call.of("roll", X, *moves) for moves in ((1, -1), ((1, 2), (0, 0)), (1, (0, 1)))],
    *[Call.of("tile", X, reps) for reps in (2, (2, 1), (2, 1, 3, 1), 0, ())],
    *[Call.of("repeat", X, repeats) for repeats in (2, 0)],
    *[Call.of("repeat", X, repeats, 1) for repeats in (2, [1, 0, 2], [0, 0, 0], [3])],
]
