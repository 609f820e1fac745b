"""NumPy contracts arrays of any labels, and gives what einsum gives."""

import gradwire_engine.ops  # noqa: F401  (fills the registry)
import numpy as np
import pytest
from gradwire_engine.backends.walk import contraction, steps
from gradwire_engine.backends.walk.executable import WalkExecutable
from gradwire_engine.backends.walk.functions import function
from gradwire_engine.check import check
from gradwire_engine.ops.constants import Input
from gradwire_engine.ops.linalg.contraction import Contract, contract
from gradwire_engine.tape import ArrayType, Instruction, Tape
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from tests.tables import cases

#: Which arrays have a label: both operands and the result, one operand and the result, or both
#: operands.
OWNERS = st.sampled_from(["xyz", "xz", "yz", "xy"])


@st.composite
def contractions(draw):
    """Any labels that a contraction may have, in any orders, and their lengths."""
    owners = draw(st.lists(OWNERS, min_size=1, max_size=5).filter(lambda owners: "xy" in owners))
    lengths = [draw(st.sampled_from([1, 2, 3, 5, 17])) for _ in owners]
    labels = []
    for array in "xyz":
        own = [i for i, owner in enumerate(owners) if array in owner]
        labels.append(tuple(draw(st.permutations(own))))
    return contract(*labels), [tuple([lengths[i] for i in own]) for own in labels[:2]]


@given(
    contractions(),
    st.sampled_from(["float64", "float32", "complex128"]),
    st.sampled_from([1, 10**9]),
    st.sampled_from([1, 10**9]),
    st.integers(0, 2**32 - 1),
)
def test_every_lowering_is_einsum(drawn, dtype, many, large, seed):
    op, shapes = drawn
    rng = np.random.default_rng(seed)
    values = [rng.integers(-3, 4, size=shape).astype(dtype) for shape in shapes]
    if dtype == "complex128":
        values = [x + 1j * rng.integers(-3, 4, size=x.shape) for x in values]
    expected = np.einsum(op.subscripts, *values)
    with pytest.MonkeyPatch.context() as patch:  # arrays count as large, or as small
        patch.setattr(contraction, "_MANY", many)
        patch.setattr(contraction, "_LARGE", large)
        contraction.lowered.cache_clear()
        found = function(op)(*values)
        kinds = [ArrayType(x.dtype, x.shape) for x in values]
        inputs = [Instruction(Input(i), (), kind, 0) for i, kind in enumerate(kinds)]
        tape = Tape((*inputs, Instruction(op, (0, 1), op.infer(*kinds), 0)), (0, 1), (2,))
        patch.setattr(steps, "POOLED_BYTES", 1)
        ((into,), _, _) = WalkExecutable(tape).replay(values, lambda: None)
    contraction.lowered.cache_clear()
    for value in (found, into):
        assert_array_equal(value, expected)
        assert np.asarray(value).dtype == expected.dtype


@given(contractions(), st.sampled_from(["float64", "complex128"]), st.integers(0, 2**32 - 1))
def test_derivatives_of_contractions(drawn, dtype, seed):
    op, shapes = drawn
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=[min(n, 3) for n in shape]).astype(dtype) for shape in shapes]
    assert check(lambda b, x, y: op(x, y), values) == []


@cases("subscripts, shapes, expected")
def test_how_arrays_are_contracted(subscripts, shapes, expected):
    found = contraction.lowered(Contract(subscripts), *map(tuple, shapes), "f")
    assert found.function == (expected if isinstance(expected, str) else tuple(expected))
