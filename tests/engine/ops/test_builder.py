"""Constants that are made while recording: what they are, and when they are refused."""

import numpy as np
import pytest
from gradwire_engine import Limits
from gradwire_engine.errors import BadArgument, OverBudget
from gradwire_engine.ops import builder
from gradwire_engine.ops.builder import Builder
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from numpy.testing import assert_allclose, assert_array_equal

INT64 = np.dtype("int64")


def value(var):
    return var.builder.instructions[var.slot].op.value


@given(array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6), st.integers(1, 20), st.data())
def test_a_table_is_its_rule_of_all_indices_whichever_pieces_it_is_made_in(shape, piece, data):
    by = data.draw(st.sampled_from([None, *range(len(shape))]))

    def rule(*at):
        return np.ravel_multi_index(np.broadcast_arrays(*at), shape) - 3

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(builder, "_TABLE_PIECE", piece)
        found = Builder(Limits()).table(shape, rule, by=by)
    assert found.type == ArrayType(INT64, shape)
    assert_array_equal(value(found), np.arange(np.prod(shape)).reshape(shape) - 3)


def test_a_rule_sees_all_along_the_other_axes():
    table = Builder(Limits()).table(
        (300, 1000), lambda i, j: (i + j) / (i + j).sum(1, keepdims=True), np.dtype(float), by=0
    )
    assert_allclose(value(table).sum(1), 1)


def refused(*_):
    raise AssertionError("something was made")


@pytest.mark.parametrize("shape", [(10**6, 10**6), (0, 10**12), (2**40,)])
def test_a_table_beyond_the_budget_is_refused_before_any_of_it_is_made(shape):
    with pytest.raises(OverBudget, match="would make int64"):
        Builder(Limits()).table(shape, refused)


def test_tables_are_looked_after_while_they_are_made():
    looks: list[int] = []
    b = Builder(Limits(), poll=lambda: looks.append(0))
    b.table((1000, 1000), lambda i, j: i + j)
    assert len(looks) > 10


def test_constants_are_counted_together_as_long_as_they_are_kept():
    b = Builder(Limits(total_bytes=100_000))
    for _ in range(20):
        with b.aside():
            b.numbers(10_000)
    b.numbers(10_000)
    with pytest.raises(OverBudget, match="takes 160,000 bytes"):
        b.numbers(10_000)
    with pytest.raises(OverBudget, match="takes 160,000 bytes"):
        b.afford(ArrayType(INT64, (10_000,)))
    with pytest.raises(OverBudget, match="takes 160,000 bytes"):
        b.constant(np.zeros(10_000))


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
def test_large_integers_have_the_dtype_that_programs_know(number):
    for literal in (number, [number]):
        found = Builder(Limits()).array(literal)
        assert found.dtype is value(found).dtype is np.dtype("uint64")
        assert value(found).tolist() == literal


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**200])
def test_larger_ones_are_refused(number):
    with pytest.raises(BadArgument) as refused:
        Builder(Limits()).array([number, 3])
    assert refused.value.hint == "integers have at most 64 bits"
