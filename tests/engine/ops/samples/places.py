"""Sample points of index arrays."""

import numpy as np

from tests.engine.ops.calls import call

FLAT = np.array([[0, 5, 23], [7, 11, 12]])
TRIANGLES = ("tril_indices", "triu_indices")

SAMPLES = [
    *[call(name, n, k) for name in TRIANGLES for n in (0, 3) for k in (0, 1)],
    *[call(name, 2, -1, 4) for name in TRIANGLES],
    *[call("diag_indices", n, 3) for n in (0, 2)],
    *[call("indices", shape) for shape in ((2, 3), (4,))],
    call("ix_", FLAT[0], FLAT[1, :2]),
    call("unravel_index", FLAT, (2, 3, 4)),
    call("ravel_multi_index", [FLAT // 12, FLAT % 12], (2, 12)),
]
