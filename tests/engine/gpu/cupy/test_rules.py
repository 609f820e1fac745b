"""On a GPU nothing is recorded that only NumPy computes sooner; kernels keep their rewrites."""

import numpy as np
import pytest
from gradwire_engine import Engine, Leaf, Query
from gradwire_engine.backends.llvm.rules import RULES as FOR_KERNELS
from gradwire_engine.backends.reference.backend import EXACT_IDENTITIES, ReferenceBackend
from gradwire_engine.optimize.target import rules
from gradwire_engine.polling import unhurried
from gradwire_gpu.cupy.rules import RULES


class Recording(ReferenceBackend):
    """Keeps the tapes that it makes ready."""

    def __init__(self, rewrites):
        self.rules = rules(EXACT_IDENTITIES, rewrites)
        self.tapes = []

    def compile(self, tape, poll, **options):
        self.tapes.append(tape)
        return super().compile(tape, poll, **options)


RANDOM = np.random.default_rng(0)
VALUES = {
    "x": RANDOM.random((300, 4)) + 0.5,
    "y": RANDOM.integers(1, 4, (300, 4)).astype(float),
    "z": RANDOM.random((300, 4)) + 1j,
}
PROGRAMS = {
    "power": ("sum(x ** y)", "x y"),
    "rows": ("sum(abs(z[arange(900) % 7]))", "z"),
    "diagonal": ("sum(linalg.solve(diag(x[:4, 0]), x[:4]))", "x"),
    "square": ("sum(x ** 3)", "x"),
}


def answered(program, rewrites):
    text, names = PROGRAMS[program]
    backend = Recording(rewrites)
    engine = Engine(backend=backend)
    leaves = {name: Leaf(VALUES[name]) for name in names.split()}
    call = engine.call(engine.parse(text), leaves, Query(kind="gradient"))
    answer = call.replay(unhurried)
    ops = [type(i.op) for tape in backend.tapes for i in tape.instructions]
    return answer, [op.name for op in ops if op.__module__.endswith("walk.operations")], ops


@pytest.mark.parametrize("program", ["power", "rows", "diagonal"])
def test_what_is_for_numpy_is_not_recorded(program):
    answer, of_numpy, _ = answered(program, RULES)
    expected, would_be, _ = answered(program, FOR_KERNELS)
    assert would_be
    assert of_numpy == []
    for name, slope in answer.gradients.items():
        assert np.allclose(slope, expected.gradients[name], 1e-12)


def test_powers_are_products():
    _, _, ops = answered("square", RULES)
    assert {op.name for op in ops} & {"power", "power_by_products"} == set()
