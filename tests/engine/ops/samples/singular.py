"""Sample points of singular values and, of vectors, their projections."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.arrays.shape import unsqueeze
from gradwire_engine.ops.arrays.slicing import sliced
from gradwire_engine.ops.linalg.products import MatMul
from gradwire_engine.ops.linalg.solving import adjoint

from tests.engine.ops.calls import call

RNG = np.random.default_rng(22)
SHAPES = ((3, 3), (4, 2), (2, 4), (2, 3, 3), (1, 1), (0, 0))


def apart(*shape):
    """Matrices whose singular values are well apart."""
    size = shape[-2:]
    return RNG.normal(size=shape) * 0.3 + np.eye(*size) * np.arange(1.0, size[-1] * 2, 2)


@dataclass(frozen=True, eq=False)
class OfTriple(Call):
    """A decomposition, less the phases: first singular vectors' projectors, and ``u f(s) v^H``."""

    def record(self, b, *inputs):
        u, s, vh = super().record(b, *inputs)
        scale = b.cast(s * s, u.dtype)
        rebuilt = MatMul()(u * unsqueeze(scale, (s.ndim - 1,)), vh)
        if not s.shape[-1]:
            return rebuilt
        left = sliced(u, u.ndim - 1, 0, 1)
        right = sliced(vh, vh.ndim - 2, 0, 1)
        mixed = MatMul()(left, right)
        return s, rebuilt, mixed, MatMul()(left, adjoint(left)), MatMul()(adjoint(right), right)


@dataclass(frozen=True, eq=False)
class OfSquares(Call):
    """A decomposition with square matrices of vectors: projectors on those without a value."""

    def record(self, b, *inputs):
        u, s, vh = super().record(b, *inputs)
        k = s.shape[-1]
        left = sliced(u, u.ndim - 1, k, u.shape[-1])
        right = sliced(vh, vh.ndim - 2, k, vh.shape[-1])
        return MatMul()(left, adjoint(left)), s, MatMul()(adjoint(right), right)


SAMPLES = [
    *[OfTriple.of("svd", apart(*shape), False) for shape in SHAPES],
    *[OfSquares.of("linalg.svd", apart(*shape)) for shape in (*SHAPES, (2, 4, 2))],
    call("svd", apart(3, 2), compute_uv=False),
    *[call("svdvals", apart(*shape)) for shape in SHAPES],
    *[call("norm", apart(3, 4), order) for order in ("nuc", 2, -2)],
    call("norm", apart(2, 3, 3), "nuc", (0, 2), True),
]
