"""Sample points of determinants."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(9)
SHAPES = ((3, 3), (2, 3, 3), (2, 2), (1, 1), (0, 0))

SAMPLES = [
    call(name, RNG.normal(size=shape) + 2 * np.eye(shape[-1]))
    for name in ("det", "slogdet")
    for shape in SHAPES
]
