"""Functions that leave NaN out are NumPy's, of every dtype; their derivatives are 0 at NaN."""

import warnings
from math import nan

import numpy as np
import pytest
from gradwire_engine.check import Call, evaluate
from numpy.testing import assert_allclose

from tests.engine.ops.calls import results

X = np.array([[3, 0, 1, 2], [1, 1, 0, 5], [2, 7, 1, 4]])
GAPS = np.array([[nan, 0.5, -1.5], [2.5, nan, 0.0], [nan, nan, -0.0], [nan, nan, nan]])
ARRAYS = [
    X,
    X > 1,
    X.astype("float16"),
    X + 1j,
    GAPS,
    GAPS.astype("float32"),
    (GAPS + 1j).astype("complex64"),
]
CASES = [
    *[(name, axis) for name in ("nanvar", "nanstd") for axis in (None, 0, -1, (0, 1))],
    *[(name, axis) for name in ("nancumsum", "nancumprod") for axis in (None, 0, -1)],
    *[(name, 1, None, 1) for name in ("nanvar", "nanstd")],
]


def compare(name, x, *args):
    (found,) = evaluate(Call.of(name, x, *args).record, [x])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        given = [arg for arg in args if arg is not None or len(args) == 1]
        named = {"ddof": given.pop()} if name in ("nanvar", "nanstd") and len(given) > 1 else {}
        expected = getattr(np, name)(x, *given, **named)
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert_allclose(found, expected, rtol=2e-3 if found.dtype.itemsize == 2 else 1e-6)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("x", ARRAYS, ids=[str(x.dtype) for x in ARRAYS])
def test_value(x, case):
    compare(case[0], x, *case[1:])


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_place(name, axis):
    compare(name, GAPS[:3], axis)
    compare(name, X, axis)


def test_place_where_nothing_is():
    assert results("nanargmax", GAPS, 1)[0].tolist() == [1, 0, 2, 0]


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_derivative_is_that_without_nan(name, gradients):
    values = [1.5, nan, 0.5, 4, nan]
    (found,) = gradients(lambda f, x: getattr(f, name)(x), values)
    present = [0, 2, 3]
    (other,) = gradients(lambda f, x: getattr(f, name[3:])(x), [values[i] for i in present])
    assert [found[i] for i in present] == pytest.approx(other)
    assert found[1] == found[4] == 0


def test_derivative_of_equal_elements_is_zero(gradients):
    assert gradients(lambda f, x: f.nanstd(x), [2, nan, 2]) == [[0, 0, 0]]
