"""Sample points of keys and uniform numbers."""

import numpy as np

from tests.engine.ops.calls import call, calls

KEY = np.array(7)
PAIR = np.array([3, -5])

SAMPLES = [
    *calls("random.key random.split", KEY),
    *[call("random.split", PAIR, num) for num in (0, 3)],
    call("random.fold_in", PAIR, np.array(9)),
    call("random.fold_in", KEY, -1),
    *[call("random.uniform", key, (2, 3)) for key in (KEY, PAIR, 11)],
    *[call("random.uniform", KEY, shape) for shape in ((), (0, 2), 1)],
    call("random.uniform", KEY, None, None, np.array([[-1.0], [0.5]]), np.array([2.0, 1.5, 3.0])),
    call("random.uniform", KEY, (2, 3), "float32", maxval=2.5),
]
