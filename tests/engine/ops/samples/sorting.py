"""Sample points of sorting."""

import numpy as np

from tests.engine.ops.calls import call, calls

X = np.random.default_rng(5).permutation(np.linspace(-1.1, 1.9, 24)).reshape(2, 3, 4)

SAMPLES = [
    *[call(name, X, axis) for name in ("sort", "argsort") for axis in (None, 0, -1)],
    *calls("sort argsort", X, 1, descending=True),
    *calls("sort argsort", np.zeros((2, 0))),
    *[call("top_k", X, k) for k in (0, 1, 3)],
    *[call(name, X, 2, axis) for name in ("partition", "argpartition") for axis in (1, -1)],
    call("partition", X, (0, -1), None),
    *[call("lexsort", keys) for keys in ([X[0], X[1] > 0], X)],
    call("lexsort", [X > 1, X > 0], 1),
]
