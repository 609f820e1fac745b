"""Arrays that are made while a function is recorded, and get recorded elements."""

import copy
from typing import Any

import gradwire
import numpy as np
import pytest
import scipy.linalg

X = np.array([0.3, 0.7, 1.1])
M = np.array([[1.0, 0.5, -0.3], [0.2, 2.0, 0.4]])
OUTSIDE = np.zeros(3)


def elements(x):
    g = np.zeros(3)
    g[0] = x[0] ** 2
    for i in range(1, 3):
        g[i] = g[i - 1] * x[i]
    return g


def rows(x):
    a = np.empty((2, 3))
    a[0] = x
    a[1, :] = x**2
    return a @ x


def two_axes(x):
    n = len(x)
    k = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            k[i, j] = np.exp(-((x[i] - x[j]) ** 2))
    return np.linalg.solve(k + 0.1 * np.eye(n), x)


def parts(x):
    a = np.ones(6)
    a[1:4] = x
    a[::2] *= 2.0
    a[4:] += x[0]
    a[a.shape[0] - 1] -= x[1]
    a[[0, 2]] *= x[:2]
    return a.cumsum() / a.sum()


def from_list(x):
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    a[0, 1] = x[0]
    a[1, 0] = -x[0]
    return np.linalg.inv(a), a.T @ a


def filled(x):
    a, b = np.full((2, 2), 0.5), np.zeros_like(x)
    a[1] = x[:2]
    b[:2] = x[1:]
    c = np.full_like(a, 2.0)
    c[0, 0] = x[2]
    return a, b, c, np.ones_like(b) * b


def through_views(x):
    a = np.zeros((3, 4))
    row, column, block, flat = a[1], a[:, 2], a[1:, ::2], a.reshape(-1)
    row[0] = x[0]
    column[:] = x
    block += 1.0
    flat[-1] = x[1]
    for part in a:
        part[3] += x[2]
    a.T[1] = x
    a[::-1, ::-2][0, 0] = 7.0
    np.asarray(a)[0, 0] = x[0]
    return a, row, column, block, flat, a[::-1][:, ::-1]


def in_fortran_order(x):
    a = np.zeros((2, 3), order="F")
    turned = a.T
    turned[1] = x[:2]
    return a, turned


def computed_before(x):
    a = np.arange(4.0)
    b = (2.0 * a + 1.0).copy()
    b[a > 1.5] = x[:2]
    b[[0, 1]] = x[1:]
    return b * a


def by_functions(x):
    a, b, c, d = np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.zeros(2)
    np.copyto(a, x)
    np.fill_diagonal(b, x)
    np.add.at(c, [0, 0, 2], x)
    np.put(d, [1], x[0])
    out = np.zeros(3)
    np.exp(x, out=out)
    a.fill(x[0])
    return a, b, c, d, out


def in_place(x):
    a = np.zeros(3)
    a += x
    a *= a
    b = np.ones((2, 3))
    b -= x
    b /= x
    return a, b, a == x, b != 0.0


def as_arguments(x):
    a = np.zeros(3)
    a[:] = x
    b = np.array([a, x])
    c = np.concatenate([a, [x[0]], np.zeros(1)])
    return np.stack([a, np.ones(3)]), b, c, np.where(x > 0.5, a, 0.0), x.dot(a), a.dot(x), sum(a)


def nested(x):
    a, b = np.zeros(2), np.zeros((2, 2))
    a[0] = x[0]
    b[0] = a
    b[:, 1] += a
    return {"a": a, "all": [b, np.zeros(2)]}


def methods(x):
    a = np.zeros((2, 3))
    a[0], a[1] = x, x[::-1]
    return a.sum(axis=1), a.T, a.mean(), a.reshape(3, 2), a.ravel(), a.max(), a.copy(), a.tolist()


def at_recorded_places(x):
    a = np.zeros(3)
    a[np.argmax(x)] = x[0]
    table = np.array([1.0, 4.0, 9.0])
    return a, table[np.argsort(x)], table[x > 0.5].sum()


def swept(x):
    u = np.zeros((4, 5))
    u[0, 1:4] = x
    for n in range(3):
        u[n + 1, 1:-1] = u[n, 1:-1] + 0.1 * (u[n, 2:] - 2 * u[n, 1:-1] + u[n, :-2])
    return u[-1]


TABLE = np.arange(12.0).reshape(3, 4)
HELD: dict[str, Any] = {"rows": [np.ones(3), TABLE], "pair": (TABLE[0], 2.0)}


class Model:
    weights = np.array([1.0, 2.0, 3.0])

    def __init__(self) -> None:
        self.bias = np.zeros(3)


MODEL = Model()


def copies_from_outside(x):
    a, b, c, d, e = TABLE.copy(), TABLE + 0, TABLE.astype(float), -TABLE[1:, ::2], TABLE.T.copy()
    a[0, 1:] = x
    b[1:-1] += x[0]
    c[:, 0] *= x
    d[0, 1] = x[2]
    e[1] -= x
    return a, b, c, d, e


def of_what_is_held(x):
    a, b = HELD["rows"][0].copy(), HELD["pair"][0] * HELD["pair"][1]
    c, d = MODEL.bias - 1, MODEL.weights.reshape(3, 1) @ np.ones((1, 2))
    a[1], b[2:], c[:], d[1, 1] = x[0], x[1:], x, x[1]
    return a, b, c, d


def of_functions(x):
    a, b, c = np.sort(TABLE, axis=1), np.diff(TABLE[0]), np.kron(TABLE[0], [1.0, 2.0])
    d, e = TABLE[[0, 2]], np.where(TABLE > 3, TABLE, 0.0)
    f, g, h = scipy.linalg.toeplitz([1.0, 2.0]), copy.deepcopy(TABLE[0]), np.fromiter([1, 2], float)
    a[0, 0], b[1], c[-1], d[1, 1], e[2] = x[0], x[1], x[2], x[0], x[1] * e[2]
    f[0], g[1], h[0] = x[:2], x[2], x[1]
    return a, b, c, d, e, f, g, h, TABLE.sum() + MODEL.bias.mean()


CASES = [
    (f.__name__, f)
    for f in (
        elements, rows, two_axes, parts, from_list, filled, through_views, in_fortran_order,
        computed_before, by_functions, in_place, as_arguments, nested, methods, at_recorded_places,
        swept, copies_from_outside, of_what_is_held, of_functions,
    )
]  # fmt: skip


def test_values_and_derivatives_are_those_of_numpy(case, check):
    check(case[1], X.copy())


def test_arrays_of_other_dtypes_convert_what_they_are_assigned(client):
    def f(x):
        single, truth, whole, pair = (np.zeros(3, kind) for kind in ("f", "?", "i", "D"))
        single[:] = x
        truth[:] = x > 0.5
        whole[0] = x.sum()
        pair[1] = x[0] + 1j * x[1]
        return single, truth, whole, pair

    for found, expected in zip(gradwire.function(f, client)(X), f(X), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_plain_results_are_new_plain_arrays(client):
    f = gradwire.function(lambda x: (x, np.zeros(3), np.array([1, 2])), client)
    _, zeros, pair = f(X)
    assert type(zeros) is type(pair) is np.ndarray
    zeros[0] = 1.0
    assert not f(X)[1].any()


def into_outside(x):
    OUTSIDE[0] = x[0]
    return OUTSIDE


def into_outside_view(x):
    part = np.asarray(OUTSIDE)[1:]
    part[0] = x[0]
    return part


def adding_to_outside(x):
    global OUTSIDE  # noqa: PLW0603 - of this name, too
    OUTSIDE += x


def into_other_bits(x):
    a = np.zeros(3)
    bits = a.view(np.int64)
    a[0] = x[0]
    return bits + x


def into_real_part(x):
    a = np.zeros(3, complex)
    a.real[:] = x
    return a


def in_a_loop(x):
    y = np.zeros(3)

    def body(i, carry):
        y[0] = carry
        return carry + 1.0

    return gradwire.fori(0, 3, body, x[0]) + y


REFUSED: dict[str, Any] = {
    "an array from outside": into_outside,
    "a view of one from outside": into_outside_view,
    "an operator on one from outside": adding_to_outside,
    "a part of complex numbers": into_real_part,
    "a view of another dtype": into_other_bits,
    "inside a function of the program": in_a_loop,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_lost_is_refused(name, client):
    with pytest.raises(gradwire.NotTraceable):
        gradwire.function(REFUSED[name], client)(X)
    assert not OUTSIDE.any()


def test_numpy_s_errors_are_raised_as_in_numpy(client):
    def kinds(x):
        n = np.zeros(3, int)
        n += x

    def shapes(x):
        a = np.zeros(3)
        a[:2] = x

    def read_only(x):
        a = np.zeros(3)
        a.flags.writeable = False
        a[0] = x[0]

    for f, error in ((kinds, TypeError), (shapes, ValueError), (read_only, ValueError)):
        with pytest.raises(error):
            f(X)
        with pytest.raises(error):
            gradwire.function(f, client)(X)


def test_elements_are_not_read_from_memory_once_they_are_recorded(client):
    def f(x):
        a: Any = np.zeros(3)
        a[0] = x[0]
        return x * sum(memoryview(a))

    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever Python says
        gradwire.function(f, client)(X)


def test_plain_arrays_from_outside_are_not_copied(client):
    table = np.zeros(3)

    def f(x):
        assert np.asarray(table) is table
        np.asarray(table)[0] += 1.0
        np.array(table)[1] = x[0]
        return x * table[0]

    np.testing.assert_array_equal(gradwire.function(f, client)(X), X)
    np.testing.assert_array_equal(table, [1.0, 0.0, 0.0])


def test_arrays_of_a_function_of_the_program_are_recorded_inside(client):
    def example(x):
        a = np.zeros(2)
        a[1] = x**2
        return a

    found = gradwire.vmap(example, client=client)(X)
    np.testing.assert_allclose(found, np.stack([np.zeros(3), X**2], axis=1))
