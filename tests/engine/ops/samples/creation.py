"""Sample points of creation."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 6).reshape(2, 3)
END = np.array([0.4, -2.0])

SAMPLES = [
    *[Call.of(name, (2, 3)) for name in ("zeros", "ones")],
    Call.of("zeros", 4, "int32"),
    Call.of("full", (2, 2), 3),
    Call.of("full", (2, 2), END),
    Call.of("full", (), END[:1].reshape(()), "complex128"),
    *[Call.of(name, X) for name in ("zeros_like", "ones_like")],
    Call.of("zeros_like", X, "int8", (4,)),
    Call.of("full_like", X, END[:1]),
    *[Call.of("arange", *args) for args in ((5,), (2, 9, 3), (3, -2, -1), (0.0, 1.0, 0.3))],
    *[Call.of("linspace", END, X[0, 0:1], 4, axis=axis) for axis in (0, 1, -1)],
    *[Call.of("linspace", END, 3, n, endpoint=False) for n in (0, 1, 4)],
    Call.of("linspace", 0, 1),
    *[Call.of("meshgrid", END, X[0], X[1], indexing=order) for order in ("xy", "ij")],
    Call.of("meshgrid", END),
]
