"""Expressions in the names of this library, with their variables."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))

#: Each an expression and its variables.
CASES = [
    ("tf.math.reduce_std(x, axis=0)", {"x": X}),
]
