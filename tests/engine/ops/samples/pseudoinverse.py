"""Sample points of what rests on singular values."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(26)
SHAPES = ((3, 3), (4, 2), (2, 4), (2, 3, 3), (1, 1), (0, 0))


def apart(*shape):
    """Matrices whose singular values are well apart."""
    size = shape[-2:]
    return RNG.normal(size=shape) * 0.3 + np.eye(*size) * np.arange(1.0, size[-1] * 2, 2)


SAMPLES = [
    *[call("pinv", apart(*shape)) for shape in SHAPES],
    call("linalg.pinv", apart(2, 3), 1e-6),
    *[call("pinv", apart(*shape), 0.5) for shape in SHAPES[:5]],
    *[call("lstsq", apart(*shape), RNG.normal(size=shape[0])) for shape in SHAPES[:3]],
    call("linalg.lstsq", apart(4, 2), RNG.normal(size=(4, 3))),
    call("lstsq", apart(2, 4), RNG.normal(size=2), 0.5),
    *[call("matrix_rank", apart(*shape)) for shape in SHAPES],
    call("linalg.matrix_rank", apart(2, 3), 0.1),
    *[call("cond", apart(*shape)) for shape in SHAPES[:-2]],
    *[call("linalg.cond", apart(2, 3, 3), p) for p in (1, -2, "fro", "inf", "nuc")],
]
