"""Whether outputs are finite: the same verdict as NumPy's, without warnings, for every array."""

import threading
import warnings

import numpy as np
import pytest
from gradwire_engine.backends.errstate import errstate
from gradwire_engine.backends.finite import all_finite
from gradwire_engine.backends.walk.finite import unsure
from gradwire_engine.tape import ArrayType
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

FLOATS = st.sampled_from(["float16", "float32", "float64", "complex64", "complex128"])


@st.composite
def outputs(draw):
    """Arrays of any strides: as they came, transposed, every other one, reversed, repeated."""
    dtype = draw(FLOATS)
    x = draw(arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0)))
    views = [x, x.T, x[::-1], x[..., ::2]] if x.ndim else [x]
    view = draw(st.sampled_from(views))
    return draw(st.sampled_from([view, np.broadcast_to(view, (3, *view.shape))]))[()]


@given(st.lists(outputs(), max_size=3))
def test_the_verdict_is_that_on_the_elements(xs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all_finite(xs) == all(bool(np.isfinite(x).all()) for x in xs)


@given(st.lists(outputs(), max_size=3))
def test_a_replay_says_finite_only_of_what_is(xs):
    left = errstate.run(unsure([ArrayType(x.dtype, x.shape) for x in xs]), [], tuple(xs))
    assert all_finite(left) == all_finite(xs)
    if all(np.abs(x).max(initial=0) < 100 for x in xs):
        assert not left


def test_large_results_are_left_to_be_looked_at():
    small, large = ArrayType(np.dtype(float), (3,)), ArrayType(np.dtype(float), (10**6,))
    told = unsure([small, large], (), [2])
    xs = np.ones(3), np.ones(10**6)
    assert told([*xs, 1.0], xs) == (xs[1],)
    assert told([*xs, np.inf], xs)[0] is xs[0]


def test_results_that_kernels_checked_are_not_looked_at():
    told = unsure([ArrayType(np.dtype(float), (3,))], (0,), [0])
    xs = (np.ones(3),)
    assert told([0.0], xs) == ()
    assert told([np.nan], xs) is xs


@pytest.mark.parametrize("x", [np.full(4, 1e200), np.full((2, 2), -1.7e308), np.array([2, 3])])
def test_what_overflows_in_the_test_is_still_finite(x):
    assert all_finite([x, x[()], x.T])


def test_quiet_is_the_thread_that_asked_and_no_other():
    one = np.ones(2)
    seen = []

    def look():
        seen.append(errstate.run(np.geterr)["divide"])
        seen.append(np.geterr()["divide"])

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["ignore", "warn"] * 2
    assert np.isinf(errstate.run(np.divide, one, 0)).all()
    with pytest.warns(RuntimeWarning):
        np.divide(one, 0)
