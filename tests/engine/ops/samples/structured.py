"""Sample points of matrices of a structure."""

import numpy as np
from gradwire_engine.check import Call

RNG = np.random.default_rng(25)


def bands(lower, upper, *shape):
    ab = RNG.normal(size=(*shape[:-1], lower + upper + 1, shape[-1])) * 0.4
    ab[..., upper, :] += 3
    return ab


def vector(*shape):
    return RNG.normal(size=shape) + 0.1


SAMPLES = [
    Call.of("solve_banded", (1, 1), bands(1, 1, 4), vector(4)),
    Call.of("solve_banded", (2, 1), bands(2, 1, 5), vector(5, 2)),
    Call.of("linalg.solve_banded", (0, 2), bands(0, 2, 2, 4), vector(4)),
    Call.of("solve_banded", (1, 0), bands(1, 0, 2, 3), vector(2, 3, 1)),
    Call.of("solve_banded", (2, 2), bands(2, 2, 2), vector(2)),
    Call.of("tridiagonal_solve", vector(4) * 0.3, vector(4) + 4, vector(4) * 0.3, vector(4)),
    Call.of(
        "linalg.tridiagonal_solve",
        vector(2, 3) * 0.3,
        vector(2, 3) + 4,
        vector(2, 3) * 0.3,
        vector(2, 3, 2),
    ),
    Call.of("block_diag", vector(2, 3), vector(2), vector(1, 1)),
    Call.of("linalg.block_diag", np.array(0.5)),
    Call.of("toeplitz", vector(3)),
    Call.of("linalg.toeplitz", vector(3), vector(4)),
    Call.of("toeplitz", vector(2, 3), vector(2, 2)),
    *[Call.of("circulant", vector(*shape)) for shape in ((3,), (2, 3), (0,))],
    Call.of("hankel", vector(3)),
    Call.of("linalg.hankel", vector(3), vector(4)),
    Call.of("hankel", vector(0), vector(2)),
    Call.of("vander", vector(3)),
    *[Call.of("vander", vector(3), n, True) for n in (0, 1, 4)],
    Call.of("vander", np.array([0.0, 1.5])),
    Call.of("cdist", vector(3, 2), vector(4, 2) + 5),
    *[Call.of("cdist", vector(2, 3, 2), vector(2, 2) + 5, p) for p in (1, 3, "inf")],
]
