"""Sample points of borders."""

import numpy as np

from tests.engine.ops.calls import call

X = np.linspace(-1.1, 1.9, 24).reshape(2, 3, 4)
WIDTHS = (1, ((0, 5), (7, 0), (2, 3)))

SAMPLES = [
    *[call("pad", X, width) for width in (1, (1, 2), ((0, 1), (2, 0), (0, 0)))],
    call("pad", X, ((1,), (0,), (2,)), constant_values=2.5),
    call("pad", X, 1, constant_values=np.array(0.3)),
    *[call("pad", X, w, m) for w in WIDTHS for m in ("edge", "reflect", "symmetric", "wrap")],
    call("pad", X[:0], ((0, 0), (1, 2), (0, 0)), "wrap"),
]
