"""Tapes for many examples: what is shared is computed once, what differs is refused or guarded."""

from dataclasses import replace

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.autodiff.batching import batch
from gradwire_engine.check import Call, check, interpret, trace
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.constants import Guard, GuardFailed
from gradwire_engine.ops.indexing import GetItem, NonzeroIndices, ScatterAdd, SetItem
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.tape import ArrayType

RNG = np.random.default_rng(3)


def recorded(recording, values, marks):
    """The tape for the examples along axis 0 of the marked values."""
    size = next(len(v) for v, own in zip(values, marks, strict=True) if own)
    one = [v[0] if own else v for v, own in zip(values, marks, strict=True)]
    b, _, outputs = trace(recording, one)
    tape = b.tape(outputs)
    b = Builder(Limits())
    inputs = [b.input(ArrayType(v.dtype, v.shape)) for v in values]
    return b.tape(batch(b, tape, inputs, marks, size))


def test_what_examples_share_is_computed_once():
    def program(b, x, w):
        f = FUNCTIONS["exp"].record
        return f(b, x) * f(b, w)

    tape = recorded(program, [np.ones((5, 3)), np.ones(3)], [True, False])
    shapes = [i.type.shape for i in tape.instructions if i.op.name == "exp"]
    assert shapes == [(5, 3), (3,)]


def test_an_output_that_all_examples_share_is_repeated():
    tape = recorded(lambda b, x, w: (x, w), [np.ones((5, 3)), np.arange(2.0)], [True, False])
    _, w = (interpret(tape, [np.ones((5, 3)), np.arange(2.0)])[slot] for slot in tape.outputs)
    np.testing.assert_array_equal(w, np.tile(np.arange(2.0), (5, 1)))


def test_one_shared_matrix_is_one_product():
    def program(b, x, w):
        return FUNCTIONS["matmul"].record(b, x, w)

    tape = recorded(program, [np.ones((5, 3, 4)), np.ones((4, 2))], [True, False])
    product = next(i for i in tape.instructions if i.op.name == "matmul")
    assert product.type.shape == (15, 2)


INDEX, OTHER = np.array([[0, 2], [1, 1]]), np.array([1, 0])
PATTERNS = [
    ((ARRAY, FULL, FULL), [INDEX]),
    ((FULL, ARRAY, FULL), [INDEX]),
    ((FULL, ARRAY, ARRAY), [INDEX, OTHER]),
    ((ARRAY, FULL, ARRAY), [INDEX, OTHER]),
    ((ARRAY, None, ARRAY, FULL), [INDEX, OTHER]),
    ((FULL, None, ARRAY, 1), [INDEX]),
    ((1, FULL, ARRAY), [OTHER]),
    ((FULL, 1, FULL, None), []),
]


@pytest.mark.parametrize(("pattern", "arrays"), PATTERNS)
def test_indexing_of_every_pattern(pattern, arrays):
    x = RNG.normal(size=(3, 3, 3))
    region = GetItem(pattern)
    _, _, (z,) = trace(lambda b, *xs: region(*xs), [x, *arrays])
    v = RNG.normal(size=z.shape)
    for op, values in (
        (region, [x, *arrays]),
        (ScatterAdd(pattern, x.shape), [v, *arrays]),
        (SetItem(pattern), [x, v, *arrays]),
        (SetItem(pattern), [x, v[(0,) * v.ndim], *arrays]),
        (SetItem(pattern), [x, v[..., :1], *arrays]),
    ):
        assert check(lambda b, *xs, op=op: op(*xs), values) == []


def test_a_decision_holds_for_all_examples_or_fails():
    tape = recorded(lambda b, x: Guard(True)(x), [np.array([True, True])], [True])
    (slot,) = (s for s, i in enumerate(tape.instructions) if isinstance(i.op, Guard))
    tape = replace(tape, outputs=(slot,))
    interpret(tape, [np.array([True, True])])
    with pytest.raises(GuardFailed):
        interpret(tape, [np.array([True, False])])


def test_a_mask_that_differs_between_examples_is_refused():
    def program(b, mask):
        return NonzeroIndices(1)(mask)

    with pytest.raises(BadArgument, match="different counts"):
        recorded(program, [np.array([[True, False], [False, True]])], [True])


def test_products_of_vectors_and_stacks():
    shapes = [(3,), (3, 3), (2, 3, 3), (2, 1, 3, 3)]
    for left in shapes:
        for right in shapes:
            call = Call.of("matmul", RNG.normal(size=left), RNG.normal(size=right))
            assert check(call.record, call.values, order=1) == []
