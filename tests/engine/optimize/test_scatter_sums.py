"""Sums of scattered parts are made in one array, with the values that the sums had."""

from typing import Any

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.backends.walk.backend import NUMPY_BACKEND
from gradwire_engine.check import check, interpret
from gradwire_engine.ops.arrays.indexing import GetItem, ScatterAdd
from gradwire_engine.ops.arrays.placements import Placed
from gradwire_engine.ops.arrays.slicing import Pad
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.patterns import ARRAY, FULL, Span, indexed_shape
from gradwire_engine.optimize.simplify import optimize
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

SHAPE = (3, 4)
SPANS = [FULL, Span(1, None, None), Span(None, -1, None), Span(None, None, -2), Span(2, 2, None)]
ITEMS = st.sampled_from([*SPANS, 0, -1])
PATTERNS = st.builds(
    lambda rows, columns, new: (rows, None, columns) if new else (rows, columns),
    ITEMS,
    ITEMS,
    st.booleans(),
)
#: Parts by index, parts with zeros around, and whole arrays, and which two to add next.
TERMS = st.lists(PATTERNS | st.just("pad") | st.just("whole"), min_size=2, max_size=9)
ORDER = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=8, max_size=8)


def term(b, pattern, dtype):
    """The derivative of a slice, or a whole array."""
    if pattern == "whole":
        return b.input(ArrayType(dtype, SHAPE))
    if pattern == "pad":
        return Pad((1, 0), (0, 3))(b.input(ArrayType(dtype, (2, 1))))
    shape = indexed_shape(SHAPE, pattern, ())
    return ScatterAdd(pattern, SHAPE)(b.input(ArrayType(dtype, shape)))


def summed(terms, order, dtype, *, shared):
    """A tape of a sum in some order, in which a sum may be read twice."""
    b = Builder(Limits())
    values = [term(b, pattern, dtype) for pattern in terms]
    first: Any = None
    while len(values) > 1:
        i, j = order[len(values) % len(order)]
        x = values.pop(i % len(values))
        y = values.pop(j % len(values))
        values.append(x + y)
        first = first or values[-1]
    return b.tape([values[0], *([first] if shared else [])])


@given(
    TERMS,
    ORDER,
    st.sampled_from(["float64", "complex64", "int32", "bool"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_sums_of_parts_keep_their_values(terms, order, dtype, shared, seed):
    tape = summed(terms, order, np.dtype(dtype), shared=shared)
    rng = np.random.default_rng(seed)
    kinds = [tape.instructions[slot].type for slot in tape.inputs]
    inputs = [rng.integers(-99, 99, size=kind.shape).astype(kind.dtype) for kind in kinds]
    better = optimize(tape, NUMPY_BACKEND)
    before, after = interpret(tape, inputs), interpret(better, inputs)
    for old, new in zip(tape.outputs, better.outputs, strict=True):
        assert tape.instructions[old].type[:2] == better.instructions[new].type[:2]
        assert_array_equal(before[old], after[new])


def names(tape):
    return [i.op.name for i in tape.instructions if i.op.name != "input"]


LOW, HIGH, ROW = (Span(None, -1, None), FULL), (Span(1, None, None), FULL), (0, FULL)


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        ([LOW, HIGH], ["placed"]),
        ([LOW, HIGH, "whole"], ["placed"]),
        (["whole", ROW], ["placed"]),
        ([ROW, ROW], ["add", "scatter_add"]),
        ([LOW, HIGH, LOW, ROW], ["add", "placed"]),
        (["whole", "whole"], ["add"]),
        (["pad", "pad", LOW], ["add", "placed"]),
    ],
)
def test_how_parts_are_summed(terms, left):
    b = Builder(Limits())
    first, *rest = [term(b, pattern, np.dtype(float)) for pattern in terms]
    for value in rest:
        first = first + value
    tape = b.tape([first])
    assert names(optimize(tape, NUMPY_BACKEND)) == left
    assert "placed" not in names(optimize(tape, NUMPY_BACKEND, exact=True))


def test_parts_at_computed_places_stay():
    b = Builder(Limits())
    index = b.constant(np.array([2, 0, 2]))
    x = b.input(ArrayType(np.dtype(float), (3,)))
    parts = [ScatterAdd((ARRAY,), (5,))(x, index), ScatterAdd((Span(1, 4, None),), (5,))(x)]
    assert names(optimize(b.tape([parts[0] + parts[1]]), NUMPY_BACKEND)) == [
        "constant",
        "scatter_add",
        "placed",
    ]


def test_a_long_sum_is_one_placement():
    b = Builder(Limits())
    x = b.input(ArrayType(np.dtype(float), (500,)))
    total = ScatterAdd((0,), (500,))(GetItem((0,))(x))
    for i in range(1, 500):
        total = total + ScatterAdd((i,), (500,))(GetItem((i,))(x))
    better = optimize(b.tape([total]), NUMPY_BACKEND)
    assert names(better).count("placed") == 1
    values = np.arange(500.0)
    assert (interpret(better, [values])[better.outputs[0]] == values).all()


def test_of_large_arrays_few_parts_are_kept():
    b = Builder(Limits())
    shape = (1 << 18,)
    x = b.input(ArrayType(np.dtype(float), shape))
    total = x
    for i in range(1, 12):
        pattern = (Span(i, None, None),)
        total = total + ScatterAdd(pattern, shape)(FUNCTIONS["sin"].record(b, GetItem(pattern)(x)))
    tape = b.tape([total])
    better = optimize(tape, NUMPY_BACKEND)
    assert max(len(i.args) for i in better.instructions) == 4
    values = np.linspace(0, 1, *shape)
    before, after = (interpret(t, [values])[t.outputs[0]] for t in (tape, better))
    assert_allclose(before, after, rtol=1e-14)


@pytest.mark.parametrize(
    "patterns",
    [
        (LOW, HIGH),
        ((0, FULL), (Span(1, None, None), FULL)),
        ((FULL, 0), (FULL, -1), (1, 2)),
        ((FULL, FULL), (2, None, FULL)),
    ],
)
def test_derivatives_of_a_placement(patterns):
    shapes = [indexed_shape(SHAPE, pattern, ()) for pattern in patterns]
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=shape) for shape in shapes]
    assert check(lambda b, *xs: Placed(patterns, SHAPE)(*xs), parts) == []
