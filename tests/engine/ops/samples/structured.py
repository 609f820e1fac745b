"""Sample points of matrices of a structure."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(25)


def bands(lower, upper, *shape):
    ab = RNG.normal(size=(*shape[:-1], lower + upper + 1, shape[-1])) * 0.4
    ab[..., upper, :] += 3
    return ab


def vector(*shape):
    return RNG.normal(size=shape) + 0.1


SAMPLES = [
    call("solve_banded", (1, 1), bands(1, 1, 4), vector(4)),
    call("solve_banded", (2, 1), bands(2, 1, 5), vector(5, 2)),
    call("linalg.solve_banded", (0, 2), bands(0, 2, 2, 4), vector(4)),
    call("solve_banded", (1, 0), bands(1, 0, 2, 3), vector(2, 3, 1)),
    call("solve_banded", (2, 2), bands(2, 2, 2), vector(2)),
    call("tridiagonal_solve", vector(4) * 0.3, vector(4) + 4, vector(4) * 0.3, vector(4)),
    call(
        "linalg.tridiagonal_solve",
        vector(2, 3) * 0.3,
        vector(2, 3) + 4,
        vector(2, 3) * 0.3,
        vector(2, 3, 2),
    ),
    call("block_diag", vector(2, 3), vector(2), vector(1, 1)),
    call("linalg.block_diag", np.array(0.5)),
    call("toeplitz", vector(3)),
    call("linalg.toeplitz", vector(3), vector(4)),
    call("toeplitz", vector(2, 3), vector(2, 2)),
    *[call("circulant", vector(*shape)) for shape in ((3,), (2, 3), (0,))],
    call("hankel", vector(3)),
    call("linalg.hankel", vector(3), vector(4)),
    call("hankel", vector(0), vector(2)),
    call("vander", vector(3)),
    *[call("vander", vector(3), n, True) for n in (0, 1, 4)],
    call("vander", np.array([0.0, 1.5])),
    call("cdist", vector(3, 2), vector(4, 2) + 5),
    *[call("cdist", vector(2, 3, 2), vector(2, 2) + 5, p) for p in (1, 3, "inf")],
]
