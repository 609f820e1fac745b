"""Unrecordable code is refused with its line and an alternative."""

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradwire
import numpy as np
import pytest
from gradwire.tracing.numpy_trace import NumpyTrace
from gradwire.tracing.terms import Term
from gradwire.tracing.traces import current

V = np.array([0.3, 0.7, 1.1])
M = np.arange(6.0).reshape(2, 3)
KEPT: list[Any] = []


def kept(x):
    KEPT.append(x)
    return x


OUTSIDE = np.zeros(3)


def into_plain(x):
    OUTSIDE[0] = x[0]
    return OUTSIDE


def into_plain_out(x):
    return np.exp(x, out=OUTSIDE)


def into_argument(x):
    x[0] = 1.0
    return x


def adding_to_argument(x):
    x += 1.0
    return x


def through_a_view_of_an_argument(x):
    first = x[:2]
    first *= 2.0
    return x


def in_a_loop(x):
    y = x.copy()

    def body(i, carry):
        y[0] = carry
        return carry + 1.0

    return gradwire.fori(0, 3, body, 0.0) + y


def from_inside(x):
    gradwire.vmap(kept)(x)
    return KEPT[-1]


def deciding_inside(x):
    return gradwire.vmap(lambda e: e if e > 0 else -e)(x)


def through_a_reshaped_copy(x):
    turned = (x * 2.0).reshape(1, 3).T.copy(order="F")
    mixed = np.stack([turned, turned])[:, ::-1]
    flat = mixed.reshape(-1)
    flat[0] = 1.0
    return mixed


def through_a_diagonal(x):
    square = np.outer(x, x)
    np.diagonal(square)[0] = 1.0
    return square


REFUSED: dict[str, Any] = {
    "ragged": (lambda x: np.array([x, x[:2]]), "numpy.concatenate"),
    "list to a ufunc": (lambda x: np.exp([x[0], 1.0]), "numpy.array"),
    "plain": (into_plain, "numpy.zeros(shape)"),
    "plain out": (into_plain_out, "numpy.zeros_like"),
    "argument": (into_argument, "x.copy()"),
    "argument by operator": (adding_to_argument, "x.copy()"),
    "argument by view": (through_a_view_of_an_argument, "x.copy()"),
    "from outside of a loop": (in_a_loop, "return"),
    "out of a loop": (from_inside, "return"),
    "deciding inside": (deciding_inside, "gradwire.cond"),
    "view or copy": (through_a_reshaped_copy, "copy the array"),
    "read only": (through_a_diagonal, "the array itself"),
    "undefined": (lambda x: np.sqrt(x, where=x > 0.5), "out="),
    "no method": (lambda x: np.hypot.reduceat(x, x.astype(int)), "numpy.sum"),
    "object": (lambda x: x.sum(axis=object()), "NumPy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unrecordable_code_is_reported_with_line_and_alternative(name, client):
    f, hint = REFUSED[name]
    with pytest.raises(gradwire.NotTraceable) as refused:
        gradwire.function(f, client)(V)
    assert hint in str(refused.value)
    assert name == "out of a loop" or "test_tracer.py:" in str(refused.value.place)


def test_an_array_kept_from_another_recording_is_refused(client):
    gradwire.function(kept, client)(V)
    with pytest.raises(gradwire.NotTraceable, match="outside of its recording"):
        gradwire.function(lambda x: x + KEPT[-1], client)(V)


def test_numpy_s_errors_are_raised_as_in_numpy(client):
    def kinds(x):
        n = np.zeros(3, np.int64, like=x)
        n += x

    def shapes(x):
        y = x + 1.0
        y += np.ones((2, 3))

    for f, error in ((kinds, TypeError), (shapes, ValueError), (lambda x: len(x[0]), TypeError)):
        with pytest.raises(error):
            f(V.copy())
        with pytest.raises(error):
            gradwire.function(f, client)(V)


def test_arguments_and_captured_arrays_are_not_changed(client):
    table = np.arange(3.0)

    def f(x, y):
        x = x.copy()
        x[0] = 5.0
        first = y["a"] * table
        table[0] += 1.0  # as in NumPy, for later code
        return x, first, y["a"] * table

    given = {"a": V.copy()}
    kept, first, second = gradwire.function(f, client)(V, given)
    assert np.allclose(kept, [5.0, 0.7, 1.1])
    assert np.allclose(first, V * [0, 1, 2])
    assert np.allclose(second, V * [1, 1, 2])
    assert np.allclose(given["a"], V)
    assert V[0] == 0.3


def test_arrays_in_another_memory_order_are_recorded_again(client):
    def f(x):
        y = x * 1.0
        flat = y.reshape(-1)
        flat[0] = 9.0
        return y

    recorded = gradwire.function(f, client)
    assert np.allclose(recorded(M), f(M))
    with pytest.raises(gradwire.NotTraceable, match="order in memory"):
        recorded(np.asfortranarray(M))


def test_shape_and_dtype_are_known_while_recording(client):
    def f(x):
        known = x.shape, x.dtype, x.ndim, x.size, x.itemsize, x.nbytes, len(x), x.device
        assert known == (V.shape, V.dtype, 1, 3, 8, 24, 3, V.device)
        assert repr(x) == "Tracer(float64[3])"
        assert (str(x), f"{x[0]:.2f}") == (str(V), f"{V[0]:.2f}")
        assert type(copy.deepcopy(x)).__name__ == "Tracer"
        return x

    gradwire.function(f, client)(V)


def test_other_libraries_may_override_operators(client):
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "taken over"

    assert gradwire.function(lambda x: x * len(x + Other()), client)(V)[0] == 0.3 * len(
        "taken over"
    )


def test_values_are_fetched_outside_of_the_recording():
    seen: list[Any] = []

    def fetch(terms):
        seen.append((current(), type(np.zeros(2))))
        return [np.zeros(2) for _ in terms]

    trace = NumpyTrace(fetch)
    with trace.recording():
        trace.values([Term("lax.zeros", (2,))])
        assert seen == [(None, np.ndarray)]
        assert current() is trace


def test_threads_that_the_function_starts_record(client):
    def by_threads(x):
        with ThreadPoolExecutor() as pool:
            return sum(pool.map(lambda v: np.sin(v) @ v + v[0], [x, 2 * x]))

    np.testing.assert_allclose(gradwire.function(by_threads, client)(V), by_threads(V))
