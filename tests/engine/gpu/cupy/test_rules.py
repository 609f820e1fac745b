"""On a GPU what is recorded are the rewrites for kernels."""

import numpy as np
from gradwire_engine import Engine, Leaf
from gradwire_engine.backends.reference.backend import EXACT_IDENTITIES, ReferenceBackend
from gradwire_engine.optimize.target import rules
from gradwire_engine.polling import no_deadline
from gradwire_gpu.cupy.rules import RULES
from numpy.testing import assert_allclose

from tests.engine.conftest import called


class Recording(ReferenceBackend):
    """Keeps the tapes that it makes ready."""

    def __init__(self, rewrites):
        self.rules = rules(EXACT_IDENTITIES, rewrites)
        self.tapes = []

    def compile(self, tape, poll, **options):
        self.tapes.append(tape)
        return super().compile(tape, poll, **options)


def test_powers_are_products():
    backend = Recording(RULES)
    engine = Engine(backend=backend)
    x = np.random.default_rng(0).random((300, 4)) + 0.5
    call = called(engine, "sum(x ** 3)", {"x": Leaf(x)}, "gradient")
    answer = call.replay(no_deadline)
    names = {i.op.name for tape in backend.tapes for i in tape.instructions}
    assert "power" not in names
    assert_allclose(answer.gradients["x"], 3 * x**2, rtol=1e-12)
