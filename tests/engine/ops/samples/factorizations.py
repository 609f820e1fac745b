"""Sample points of factorisations."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import adjoint

from tests.engine.ops.calls import call

RNG = np.random.default_rng(24)
SHAPES = ((3, 3), (2, 3, 3), (1, 1), (0, 0))


def regular(*shape):
    return RNG.normal(size=shape) * 0.4 + 2 * np.eye(*shape[-2:])


@dataclass(frozen=True, eq=False)
class LastOnly(Call):
    """A call of whose results only the last is looked at."""

    def record(self, b, *inputs):
        return super().record(b, *inputs)[-1]


@dataclass(frozen=True, eq=False)
class OfPositive(Call):
    """A call on ``x x^H`` in place of a matrix ``x``: Hermitian after any step."""

    def record(self, b, *inputs):
        (x,) = inputs
        return super().record(b, MatMul()(x, adjoint(x)))


@dataclass(frozen=True, eq=False)
class Complete(Call):
    """A factorisation with a square ``q``: ``r``, and what does not depend on ``q``'s basis."""

    def record(self, b, *inputs):
        q, r = super().record(b, *inputs)
        k = min(inputs[0].shape[-2:])
        parts = (sliced(q, q.ndim - 1, 0, k), sliced(q, q.ndim - 1, k, q.shape[-1]))
        return parts[0], r, MatMul()(parts[1], adjoint(parts[1]))


@dataclass(frozen=True, eq=False)
class OfFactors(Call):
    """A solution with the factors of the matrix that is given first."""

    def record(self, b, *inputs):
        matrix, *rest = inputs
        packed = FUNCTIONS["lu_factor"].record(b, matrix)
        return FUNCTIONS["lu_solve"].record(b, packed, *rest, **self.kwargs)


SAMPLES = [
    *[call("qr", regular(*shape)) for shape in (*SHAPES, (4, 2), (2, 4), (2, 2, 3))],
    call("linalg.qr", regular(4, 3), "r"),
    LastOnly.of("qr", regular(2, 3)),
    *[Complete.of("qr", regular(*shape), "complete") for shape in ((4, 2), (2, 3), (2, 4, 2))],
    *[call("lu", regular(*shape)) for shape in (*SHAPES, (4, 2), (2, 4), (2, 2, 3), (3, 0))],
    call("lu", regular(4, 3), True),
    *[call("lu_factor", regular(*shape)) for shape in SHAPES],
    *[
        OfFactors.of("lu_solve", regular(*shape), RNG.normal(size=size), trans=trans)
        for shape, size in (((3, 3), 3), ((2, 3, 3), (3, 2)))
        for trans in (0, 1, 2)
    ],
    call("linalg.lu", regular(3, 3)[[2, 0, 1]]),
    LastOnly.of("lu", regular(3, 3)),
    *[OfPositive.of("cho_factor", regular(2, 3, 3), lower) for lower in (False, True)],
]
