"""Sample points of creation."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.linspace(-1.1, 1.9, 6).reshape(2, 3)
END = np.array([0.4, -2.0])

SAMPLES = [
    *calls("zeros ones", (2, 3)),
    call("zeros", 4, "int32"),
    call("full", (2, 2), 3),
    call("full", (2, 2), END),
    call("full", (), END[:1].reshape(()), "complex128"),
    *calls("zeros_like ones_like", X),
    call("zeros_like", X, "int8", (4,)),
    call("full_like", X, END[:1]),
    *[call("arange", *args) for args in ((5,), (2, 9, 3), (3, -2, -1), (0.0, 1.0, 0.3))],
    *[call("linspace", END, X[0, 0:1], 4, axis=axis) for axis in (0, 1, -1)],
    *[call("linspace", END, 3, n, endpoint=False) for n in (0, 1, 4)],
    call("linspace", 0, 1),
    *[call("meshgrid", END, X[0], X[1], indexing=order) for order in ("xy", "ij")],
    call("meshgrid", END),
]
