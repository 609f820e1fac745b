"""Sample points of polar decompositions, also where singular values are equal."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(47)
SHAPES = ((3, 3), (4, 2), (2, 4), (2, 3, 3), (1, 1), (0, 0))


def regular(*shape):
    return RNG.normal(size=shape) * 0.4 + 2 * np.eye(*shape[-2:])


SAMPLES = [
    *[call("polar", regular(*shape)) for shape in SHAPES],
    *[call("linalg.polar", regular(*shape), "left") for shape in SHAPES[:3]],
    call("polar", np.eye(3) * 1.5),
    call("orthogonal_procrustes", regular(4, 3), regular(4, 3)),
]
