"""Sample points of joins."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
ROW = np.array([0.3, -0.8, 1.2])

SAMPLES = [
    *[call(name, [X, X * 2, X], axis) for name in ("concatenate", "stack") for axis in (0, -1)],
    call("concatenate", [X, ROW], None),
    call("concatenate", [X[:, :1], X, X[:, :0]], 1),
    call("concatenate", X),
    call("concatenate", [X], 1),
    call("stack", [ROW, [1.0, 2.0, 3.0]], 1, "float64"),
    call("stack", [ROW[0:1].reshape(()), 2.0, 1]),
    *calls("hstack vstack column_stack", [X, X]),
    *calls("hstack vstack column_stack", [ROW, ROW]),
    *calls("hstack vstack column_stack", [ROW[:1].reshape(()), 1.5]),
]
