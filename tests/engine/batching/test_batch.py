"""Tapes for many examples: what is shared is computed once, what differs is refused or guarded."""

import numpy as np
import pytest
from gradwire_engine.batching.batch import batch
from gradwire_engine.check import Call, check, interpret, trace
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import GetItem, NonzeroIndices, ScatterAdd, SetItem
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.constants import Guard
from gradwire_engine.ops.patterns import ARRAY, FULL
from gradwire_engine.ops.reductions.reductions import AllOf
from gradwire_engine.tape import ArrayType
from numpy.testing import assert_allclose, assert_array_equal

RNG = np.random.default_rng(3)


def recorded(recording, *values):
    """Results for examples along axis 0 of the first value, and what was recorded for them."""
    b, inputs, outputs = trace(recording, [values[0][0], *values[1:]])
    before = len(b.instructions)
    every = b.input(ArrayType(values[0].dtype, values[0].shape))
    tape = b.tape(batch(b, outputs, {inputs[0]: every}))
    results = interpret(tape, [values[0][0], *values[1:], values[0]])
    return [results[slot] for slot in tape.outputs], tape.instructions[before:]


def test_what_examples_share_is_not_recorded_again():
    def program(b, x, w):
        f = FUNCTIONS["exp"].record
        return f(b, x) * f(b, w)

    (z,), added = recorded(program, np.ones((5, 3)), np.zeros(3))
    assert [i.type.shape for i in added if i.op.name == "exp"] == [(5, 3)]
    assert_allclose(z, np.full((5, 3), np.e))


def test_an_output_that_all_examples_share_is_repeated():
    (_, w), _ = recorded(lambda b, x, w: (x, w), np.ones((5, 3)), np.arange(2.0))
    assert_array_equal(w, np.tile(np.arange(2.0), (5, 1)))


def test_rows_of_all_examples_are_one_product_with_a_shared_matrix():
    def program(b, x, w):
        return FUNCTIONS["matmul"].record(b, x, w)

    _, added = recorded(program, np.ones((5, 3, 4)), np.ones((4, 2)))
    assert [i.type.shape for i in added if i.op.name == "matmul"] == [(15, 2)]


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


def decided(b, x):
    Guard(True)(x)
    return x


def test_a_decision_has_to_be_the_same_for_all_examples():
    (z,), added = recorded(decided, np.array([True, True]))
    assert z.all()
    assert [i.op for i in added if i.op.name in ("all", "guard")] == [AllOf((0,)), Guard(True)]


def test_a_mask_that_differs_between_examples_is_refused():
    with pytest.raises(BadArgument, match="different counts"):
        recorded(lambda b, mask: NonzeroIndices(1)(mask), np.array([[True, False], [False, True]]))


def test_products_of_vectors_and_stacks():
    shapes = [(3,), (3, 3), (2, 3, 3), (2, 1, 3, 3)]
    for left in shapes:
        for right in shapes:
            call = Call.of("matmul", RNG.normal(size=left), RNG.normal(size=right))
            assert check(call.record, call.values, order=1) == []
