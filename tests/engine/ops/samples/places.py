"""Sample points of index arrays."""

import numpy as np
from gradwire_engine.check import Call

FLAT = np.array([[0, 5, 23], [7, 11, 12]])
TRIANGLES = ("tril_indices", "triu_indices")

SAMPLES = [
    *[Call.of(name, n, k) for name in TRIANGLES for n in (0, 3) for k in (0, 1)],
    *[Call.of(name, 2, -1, 4) for name in TRIANGLES],
    *[Call.of("diag_indices", n, 3) for n in (0, 2)],
    *[Call.of("indices", shape) for shape in ((2, 3), (4,))],
    Call.of("ix_", FLAT[0], FLAT[1, :2]),
    Call.of("unravel_index", FLAT, (2, 3, 4)),
    Call.of("ravel_multi_index", [FLAT // 12, FLAT % 12], (2, 12)),
]
