"""Refusals of arguments that PyTorch's functions do not take: they say which they do take."""

import numpy as np
import pytest
from gradwire_engine.errors import BadArgument, EngineError, UnknownOperation
from numpy.testing import assert_array_equal

from tests.tables import cases

VARIABLES = {
    "x": np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]),
    "v": np.array([3.0, 1.0, 2.0]),
    "k": np.array([2, 0]),
    "c": np.array([1 + 2j, 3 - 1j]),
}


@cases("text, message")
def test_is_refused(ask, text, message):
    with pytest.raises(EngineError, match=message):
        ask.value(text, VARIABLES)


@cases("text, error, message")
def test_is_refused_as_what_it_is(ask, text, error, message):
    with pytest.raises(error, match=message) as caught:
        ask.value(text, VARIABLES)
    assert type(caught.value) is error


def test_functions_that_are_methods_say_so(ask):
    with pytest.raises(UnknownOperation) as caught:
        ask.value("torch.expand(v, 2, 3)", VARIABLES)
    assert caught.value.hint == "it is a method: x.expand()"
    with pytest.raises(BadArgument) as named:
        ask.value("v.expand", VARIABLES)
    assert named.value.hint == "call it: .expand()"


def test_a_slice_from_the_end_may_be_replaced(ask):
    found = ask.value("torch.slice_scatter(v, 2 * v[:2], 0, -2)", VARIABLES)
    assert_array_equal(found, [3.0, 6.0, 2.0])
