"""Sample points of linear algebra."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.arrays.diagonals import embedded
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import adjoint

from tests.engine.ops.calls import call

RNG = np.random.default_rng(8)


def regular(*shape):
    return RNG.normal(size=shape) + 2 * np.eye(shape[-1])


@dataclass(frozen=True, eq=False)
class OfPositive(Call):
    """A call on ``x x^H + 1`` in place of a matrix ``x``: Hermitian after any step."""

    def record(self, b, *inputs):
        x, *rest = inputs
        if x.ndim < 2:
            return super().record(b, x, *rest)
        one = embedded(b.full(1, x.type._replace(shape=x.type.shape[:-1])))
        return super().record(b, MatMul()(x, adjoint(x)) + one, *rest)


RIGHT = [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 1)), ((1, 1), (1,))]

SAMPLES = [
    *[call("inv", regular(*shape)) for shape in ((3, 3), (2, 3, 3), (1, 1), (0, 0))],
    *[call("solve", regular(*a), RNG.normal(size=b)) for a, b in RIGHT],
    call("linalg.solve", regular(3, 3), [1.0, 2.0, 3.0]),
    *[call("solve_triangular", regular(*a), RNG.normal(size=b), lower=True) for a, b in RIGHT],
    *[call("solve_triangular", regular(3, 3), RNG.normal(size=3), t) for t in (0, 1, 2, "C")],
    *[
        call("solve_triangular", regular(*a), RNG.normal(size=b), 1, lower, True)
        for a, b in RIGHT[1:3]
        for lower in (False, True)
    ],
    *[OfPositive.of("cholesky", RNG.normal(size=s)) for s in ((3, 3), (2, 3, 3), (1, 1), (0, 0))],
    OfPositive.of("cholesky", RNG.normal(size=(3, 3)), upper=True),
    *[call("cho_solve", [regular(3, 3), lower], RNG.normal(size=3)) for lower in (True, False)],
    *[call("matrix_power", regular(2, 3, 3), n) for n in (0, 1, 2, 5, -1, -3)],
    call("tensorsolve", RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3))),
    call("tensorsolve", RNG.normal(size=(2, 3, 2, 3)), RNG.normal(size=(3, 2)), (0, 3)),
    call("tensorinv", RNG.normal(size=(2, 3, 6))),
    call("linalg.tensorinv", RNG.normal(size=(4, 2, 2)), 1),
]
