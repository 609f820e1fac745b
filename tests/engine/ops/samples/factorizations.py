"""Sample points of factorisations."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.linalg import adjoint
from gradwire_engine.ops.products import MatMul

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


SAMPLES = [
    *[Call.of("qr", regular(*shape)) for shape in (*SHAPES, (4, 2), (2, 4), (2, 2, 3))],
    Call.of("linalg.qr", regular(4, 3), "r"),
    LastOnly.of("qr", regular(2, 3)),
    *[Call.of("lu", regular(*shape)) for shape in SHAPES],
    Call.of("linalg.lu", regular(3, 3)[[2, 0, 1]]),
    LastOnly.of("lu", regular(3, 3)),
    *[OfPositive.of("cho_factor", regular(2, 3, 3), lower) for lower in (False, True)],
]
