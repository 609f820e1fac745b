"""Sample points of functions of matrices."""

import numpy as np

from tests.engine.ops.calls import call

RNG = np.random.default_rng(23)
HALF = np.array(0.5)
L = np.array([1.5, 0.7, 1.1])
SHAPES = ((3, 3), (2, 3, 3), (1, 1), (0, 0))


def right_of_zero(*shape):
    """Matrices with eigenvalues in the right half plane."""
    return RNG.normal(size=shape) * 0.4 + 2 * np.eye(shape[-1])


SAMPLES = [
    *[call("expm", RNG.normal(size=shape)) for shape in SHAPES],
    *[call("sqrtm", right_of_zero(*shape)) for shape in SHAPES],
    *[call("logm", right_of_zero(*shape)) for shape in ((3, 3), (2, 2, 2), (1, 1), (0, 0))],
    *[
        call("solve_sylvester", right_of_zero(*a), right_of_zero(*b), RNG.normal(size=q))
        for a, b, q in (
            ((3, 3), (2, 2), (3, 2)),
            ((2, 3, 3), (2, 2), (3, 2)),
            ((1, 1), (1, 1), (2, 1, 1)),
        )
    ],
    *[
        call(name, right_of_zero(*a) * 0.3, RNG.normal(size=q))
        for name in ("solve_continuous_lyapunov", "solve_discrete_lyapunov")
        for a, q in (((3, 3), (3, 3)), ((2, 3, 3), (3, 3)))
    ],
    *[
        call(name, RNG.normal(size=a), RNG.normal(size=(3, 2)), np.diag(L[:3]), np.diag(L[1:]))
        for name in ("solve_continuous_are", "solve_discrete_are")
        for a in ((3, 3), (2, 3, 3))
    ],
    *[call("expm_frechet", *RNG.normal(size=(2, *shape))) for shape in SHAPES[:2]],
    call("linalg.expm_frechet", *RNG.normal(size=(2, 3, 3)), False),
    call("fractional_matrix_power", right_of_zero(2, 3, 3), -2),
    *[call("fractional_matrix_power", right_of_zero(2, 2), t) for t in (0.3, HALF)],
    *[call("signm", right_of_zero(3, 3) * sign) for sign in ([[1, 1, 1]], [[1, -1, 1]])],
]
