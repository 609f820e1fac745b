"""Borders and choices are NumPy's."""

import numpy as np
import pytest
from gradwire_engine.answer import Limits
from gradwire_engine.check import Call
from gradwire_engine.errors import OverBudget
from gradwire_engine.ops.base import FUNCTIONS
from gradwire_engine.ops.builder import Builder
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_array_equal

from tests.engine.ops.sampled import checked

X = np.arange(6).reshape(2, 3) % 4
ROW = np.array([5, 6, 7])


def compare(name, *args):
    call = Call.of(name, *args)
    (ours,) = checked(call)
    theirs = getattr(np, name)(*args)
    assert ours.dtype == theirs.dtype
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_borders_are_numpys(mode, dtype):
    for width in (0, 2, (1, 4), ((9, 0), (0, 7))):
        compare("pad", X.astype(dtype), width, mode)


@pytest.mark.parametrize("dtype", DTYPES)
def test_choices_are_numpys(dtype):
    x, row = X.astype(dtype), ROW.astype(dtype)
    compare("select", [X > 2, X < 1], [x, row])
    compare("choose", np.array([0, 1, 0]), [x, row])


def test_copies_add_up(gradients):
    assert gradients(lambda f, x: f.pad(x, (2, 1), "edge"), [1, 2, 3]) == [[3, 1, 2]]
    assert gradients(lambda f, x: f.pad(x, (2, 0), "reflect"), [1, 2, 3]) == [[1, 2, 2]]


def test_a_huge_border_is_refused_before_it_is_made():
    b = Builder(Limits())
    with pytest.raises(OverBudget):
        FUNCTIONS["pad"].record(b, [1.0, 2.0], 10**15, "wrap")
