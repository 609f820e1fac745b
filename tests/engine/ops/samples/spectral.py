"""Sample points of spectra; of eigenvectors, what does not depend on their phases."""

from dataclasses import dataclass

import numpy as np
from gradwire_engine.check import Call
from gradwire_engine.ops.pointwise.arithmetic import Absolute

from tests.engine.ops.calls import call

RNG = np.random.default_rng(21)
SHAPES = ((3, 3), (2, 3, 3), (1, 1), (0, 0))


def apart(*shape):
    """Matrices whose eigenvalues are well apart."""
    return RNG.normal(size=shape) * 0.5 + np.diag(np.arange(shape[-1]) * 2.0)


@dataclass(frozen=True, eq=False)
class OfVectors(Call):
    """A call with its second result, vectors, replaced by absolute values."""

    def record(self, b, *inputs):
        values, vectors = super().record(b, *inputs)
        return values, Absolute()(vectors)


SAMPLES = [
    *[OfVectors.of("eigh", apart(*shape)) for shape in SHAPES],
    OfVectors.of("linalg.eigh", apart(3, 3), "U"),
    *[call("eigvalsh", apart(*shape)) for shape in SHAPES],
    call("linalg.eigvalsh", apart(3, 3), UPLO="U"),
    *[OfVectors.of("eig", apart(*shape)) for shape in SHAPES],
    OfVectors.of("linalg.eig", np.array([[1.0, 2.0, 0.3], [-3.0, 1.2, 0.1], [0.2, 0.4, 4.0]])),
    *[call("eigvals", apart(*shape)) for shape in SHAPES],
    call("linalg.eigvals", np.array([[1.0, 2.0], [-3.0, 1.2]])),
]
