"""Sample points of joins."""

import numpy as np
from gradwire_engine.check import Call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
ROW = np.array([0.3, -0.8, 1.2])

SAMPLES = [
    *[Call.of(name, [X, X * 2, X], axis) for name in ("concatenate", "stack") for axis in (0, -1)],
    Call.of("concatenate", [X, ROW], None),
    Call.of("concatenate", [X[:, :1], X, X[:, :0]], 1),
    Call.of("concatenate", X),
    Call.of("concatenate", [X], 1),
    Call.of("stack", [ROW, [1.0, 2.0, 3.0]], 1, "float64"),
    Call.of("stack", [ROW[0:1].reshape(()), 2.0, 1]),
    *[Call.of(name, [X, X]) for name in ("hstack", "vstack", "column_stack")],
    *[Call.of(name, [ROW, ROW]) for name in ("hstack", "vstack", "column_stack")],
    *[Call.of(name, [ROW[:1].reshape(()), 1.5]) for name in ("hstack", "vstack", "column_stack")],
]
