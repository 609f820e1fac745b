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
        assert repr(x) == repr(V)
        assert (str(x), f"{x[0]:.2f}") == (str(V), f"{V[0]:.2f}")
        assert copy.deepcopy(x) is not x
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


def filled(a, order):
    made = np.zeros(a.shape, order="F" if order in ("F", "f") else "C")
    made[...] = a
    return made


#: Arrays of two axes and of three, in each layout in memory that NumPy makes of them.
LAYOUTS: dict[str, Any] = {
    "C": lambda a: a.copy("C"),
    "F": lambda a: a.copy("F"),
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1],
    "stepping": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "swapped": lambda a: np.swapaxes(a, 0, 1),
}
#: What makes arrays of another order in memory, or reads them in one.
MAKING: dict[str, Any] = {
    "itself": lambda a, o: a,
    "copy": lambda a, o: a.copy(o),
    "np.copy": np.copy,
    "astype": lambda a, o: a.astype(np.float64, order=o),
    "array": lambda a, o: np.array(a, order=o),
    "array as it is": lambda a, o: np.array(a),
    "array of a list": lambda a, o: np.array([a[0], a[1]], order=o),
    "asarray": lambda a, o: np.asarray(a, order=o),
    "asarray by position": lambda a, o: np.asarray(a, None, o),
    "ascontiguousarray": lambda a, o: np.ascontiguousarray(a),
    "asfortranarray": lambda a, o: np.asfortranarray(a),
    "copy.copy": lambda a, o: copy.copy(a),
    "copy.deepcopy": lambda a, o: copy.deepcopy(a),
    "ufunc": lambda a, o: np.add(a, 1.0, order=o),
    "ufunc of two": lambda a, o: np.multiply(a, a.copy("F"), order=o),
    "operator": lambda a, o: a + 1.0,
    "operator with a row": lambda a, o: a * a[0],
    "transpose": lambda a, o: a.T,
    "moveaxis": lambda a, o: np.moveaxis(a, 0, -1) * 2.0,
    "slice": lambda a, o: a[:, 1:],
    "rows": lambda a, o: a[1:],
    "sum": lambda a, o: np.sum(a, axis=0, keepdims=True),
    "matmul": lambda a, o: a @ np.swapaxes(a, -1, -2),
    "concatenate": lambda a, o: np.concatenate([a, a], axis=1),
    "stack": lambda a, o: np.stack([a, a], axis=-1),
    "where": lambda a, o: np.where(a > 2.0, a, 0.0),
    "zeros_like": lambda a, o: np.zeros_like(a, order=o) + a,
    "filled": filled,
    "reshape": lambda a, o: a.reshape(a.shape[::-1], order=o),
    "cumsum": lambda a, o: np.cumsum(a, axis=0),
    "take": lambda a, o: np.take(a, [1, 0], axis=1),
    "clip": lambda a, o: np.clip(a, 1.0, 3.0),
    "roll": lambda a, o: np.roll(a, 1, axis=0),
    "linspace": lambda a, o: np.linspace(a, a + 1.0, 3, axis=-1),
    "sort": lambda a, o: np.sort(a, axis=0),
    "repeat": lambda a, o: np.repeat(a, 2, axis=0),
    "tile": lambda a, o: np.tile(a, 2),
}
READING: dict[str, Any] = {
    "ravel": lambda a, o: a.ravel(o),
    "np.ravel": lambda a, o: np.ravel(a, order=o),
    "flatten": lambda a, o: a.flatten(o),
    "reshape": lambda a, o: a.reshape(-1, order=o),
    "np.reshape": lambda a, o: np.reshape(a, (a.size,), o),
    "nditer": lambda a, o: np.stack([np.multiply(x, 1.0) for x in np.nditer(a)]),
    "isfortran": lambda a, o: a.ravel("F" if np.isfortran(a) else "C"),
    "flat": lambda a, o: np.array(a.flat[:]),
}
ORDERS = ["C", "F", "A", "K", "c", "f", "a", "k", "X", None]


def same_or_refused(client, f, a):
    """NumPy's elements or its error, or that it depends on what is not known."""
    try:
        expected = f(a)
    except (TypeError, ValueError) as error:
        with pytest.raises((type(error), gradwire.GradwireError)):
            client.function(f)(a)
        return
    try:
        found = client.function(f)(a)
    except (gradwire.NotTraceable, gradwire.BadArgument):
        return
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("read", READING)
def test_elements_are_read_in_the_order_that_they_have_in_memory(client, layout, read):
    for shape in [(2, 3), (2, 3, 4), (6,)] if layout != "swapped" else [(2, 3, 4)]:
        a = LAYOUTS[layout](np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape))
        for order in ORDERS:
            same_or_refused(client, lambda a, order=order: READING[read](a, order), a)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", MAKING)
def test_the_order_in_memory_of_what_is_made_is_known_or_refused(client, layout, make):
    a = LAYOUTS[layout](np.arange(1.0, 25.0).reshape(2, 3, 4))
    for order in ORDERS[:-2]:
        same_or_refused(client, lambda a, order=order: MAKING[make](a, order).ravel("K"), a)


def test_a_known_order_in_memory_is_read(client):
    def f(a):
        made = np.sin(a) * 2.0
        return made.ravel("K"), made.copy().reshape(-1, order="A"), made.flatten("A")

    assert np.allclose(client.function(f)(M), f(M))


def test_one_axis_has_one_order(client):
    f = client.function(lambda v: (v[::-1].ravel("K"), v.reshape(3, order="A")))
    assert np.allclose(f(np.repeat(V, 2)[::2]), (V[::-1], V))
