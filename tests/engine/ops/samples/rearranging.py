"""Sample points of rearrangements and repetitions."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)

SAMPLES = [
    *[call("flip", X, axis) for axis in (None, 0, (-1, 0))],
    *calls("fliplr flipud rot90", X),
    call("item", np.array([[0.5]])),
    *[call("rot90", X, k, (2, 0)) for k in (0, 2, 3, -1)],
    *[call("roll", X, shift) for shift in (2, -7, 0)],
    *[call("roll", X, *moves) for moves in ((1, -1), ((1, 2), (0, 0)), (1, (0, 1)))],
    *[call("tile", X, reps) for reps in (2, (2, 1), (2, 1, 3, 1), 0, ())],
    *[call("repeat", X, repeats) for repeats in (2, 0)],
    *[call("repeat", X, repeats, 1) for repeats in (2, [1, 0, 2], [0, 0, 0], [3])],
]
