"""Types, and the arrays that have them."""

import json

import numpy as np
import pytest
from gradwire_engine.tape import ArrayType, answer_bytes, nested_lists
from hypothesis import given
from hypothesis import strategies as st


@given(shape=st.lists(st.integers(0, 4), max_size=4).map(tuple))
def test_nested_lists_are_those_of_json(shape):
    assert nested_lists(shape) == json.dumps(np.zeros(shape).tolist()).count("[")


@pytest.mark.parametrize("shape", [(), (0,), (5, 0), (5, 1), (3, 0, 7), (100, 100)])
@pytest.mark.parametrize("dtype", [np.bool_, np.float64])
def test_an_answer_is_no_smaller_than_its_elements_and_its_lists(shape, dtype):
    kind = ArrayType(np.dtype(dtype), shape)
    text = json.dumps(np.zeros(shape, dtype).tolist(), separators=(",", ":"))
    brackets = text.count("[") + text.count("]") + text.count("],")
    assert answer_bytes(kind) >= max(kind.nbytes, brackets)
