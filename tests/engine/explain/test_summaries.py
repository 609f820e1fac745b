"""Summaries say what is in an array, whatever its dtype."""

import numpy as np
import pytest
from gradwire_engine.explain.summaries import MOST_ELEMENTS, Summary, summarised
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = "bool int8 uint64 float16 float32 float64 complex64 complex128".split()
#: Sizes of complex elements that are larger are infinite.
LARGEST = {"complex64": float(np.finfo(np.float32).max)}
SIZES = st.integers(MOST_ELEMENTS + 1, 200)


def test_few_elements_are_given_as_they_are():
    x = np.arange(float(MOST_ELEMENTS)).reshape(8, -1)
    found = summarised(x[:, ::-1])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, x[:, ::-1], strict=True)
    assert not np.shares_memory(found, x)
    assert isinstance(summarised(np.zeros(MOST_ELEMENTS + 1)), Summary)


@given(st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, SIZES)))
def test_of_many_the_range_of_the_finite_ones(x):
    found = summarised(x)
    assert isinstance(found, Summary)
    finite = [_size(v) for v in x.tolist() if np.isfinite(v)]
    assert found.nonfinite == len(x) - len(finite)
    if not finite:
        assert found[:3] == (None, None, None)
        return
    rounding = 1e-6 if x.dtype == np.complex64 else 1e-15
    assert found.min == pytest.approx(min(finite), rel=rounding)
    largest = max(finite) if max(finite) <= LARGEST.get(x.dtype.name, np.inf) else np.inf
    assert found.max == pytest.approx(largest, rel=rounding)
    if np.isfinite(sum(finite)):
        assert found.mean == pytest.approx(
            sum(finite) / len(finite), rel=1e-6, abs=1e-12 * max(map(abs, finite))
        )


def _size(value):
    if not isinstance(value, complex):
        return float(value)
    try:
        return abs(value)
    except OverflowError:
        return np.inf
