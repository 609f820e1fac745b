"""Poolings against loops; who of equals has the derivative."""

from math import inf, nan

import numpy as np
import pytest
from gradwire_engine.check import Call
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_allclose, assert_array_equal

from tests.engine.ops.sampled import checked

RNG = np.random.default_rng(8)
X = RNG.integers(0, 100, (2, 7, 5))
NUMBERS = [name for name, dtype in DTYPES.items() if dtype.kind in "iuf"]


def value(name, *args, **kwargs):
    call = Call.of(name, *args, **kwargs)
    found = checked(call)
    return found if len(found) > 1 else found[0]


def places(length, size, stride, padding, dilation, up):
    """Indices in each window along one axis."""
    room = length + 2 * padding - dilation * (size - 1) - 1
    room += -room % stride if up else 0
    firsts = [i - padding for i in range(0, room + 1, stride) if i < length + padding]
    reach = range(0, dilation * size, dilation)
    return [[i + step for step in reach if 0 <= i + step < length] for i in firsts]


def parts(length, count):
    """Indices in each of ``count`` parts."""
    return [range(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]


def pooled(x, rows, columns, reduce):
    return np.stack(
        [np.stack([reduce(x[:, r][:, :, c], (1, 2)) for c in columns], -1) for r in rows], 1
    )


GEOMETRIES = [
    (2, 2, 0, 1, False),
    (3, 2, 1, 1, True),
    (2, 3, 1, 2, True),
    (1, 2, 0, 1, False),
    (5, 4, 1, 1, True),
]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_windows_are_loops(geometry, dtype):
    x = (X - 50 if dtype[0] != "u" else X).astype(dtype)
    rows, columns = (places(n, *geometry) for n in x.shape[1:])
    size, *rest = geometry
    found = value("max_pool", x, (size, size), *rest)
    assert found.dtype == x.dtype
    assert_array_equal(found, pooled(x, rows, columns, np.max))
    found = value("average_pool", x, (size, size), *rest)
    assert_allclose(found, pooled(x, rows, columns, np.mean), rtol=1e-2)
    found = value("lp_pool", x, 1, (size, size), *rest[:3])
    if not rest[-1]:
        total = pooled(np.abs(x.astype(float)), rows, columns, np.sum)
        assert_allclose(found, total, rtol=1e-2)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (7, 5), (9, 4), (2, None)])
def test_parts_are_loops(shape):
    rows, columns = (
        parts(n, n if count is None else count) for n, count in zip((7, 5), shape, strict=True)
    )
    z, index = value("adaptive_max_pool", X, shape, return_indices=True)
    assert_array_equal(z, pooled(X, rows, columns, np.max))
    flat = X.reshape(2, 35)
    assert_array_equal(np.take_along_axis(flat, index.reshape(2, -1), 1), z.reshape(2, -1))
    found = value("adaptive_average_pool", X, shape)
    assert_allclose(found, pooled(X, rows, columns, np.mean))


def test_zeros_of_the_padding_are_counted_if_asked():
    ones = np.ones(4)
    for counted, expected in ((False, [1, 1, 1]), (True, [2 / 3, 1, 0.5])):
        found = value("average_pool", ones, 3, 2, 1, 1, True, counted)
        assert_allclose(found, expected)
    assert value("average_pool", ones, 2, divisor=4).tolist() == [0.5, 0.5]


def test_of_equals_the_first_has_the_derivative(gradients):
    ties = [[2, 2, 1], [2, 2, 3]]
    assert gradients(lambda f, x: f.max_pool(x, (2, 2), 1), ties) == [[[1, 0, 0], [0, 0, 1]]]
    assert gradients(lambda f, x: f.adaptive_max_pool(x, (1, 2)), ties) == [[[1, 0, 0], [0, 0, 1]]]
    equal = np.zeros((2, 4))
    assert value("max_pool", equal, (2, 3), 1, return_indices=True)[1].tolist() == [[0, 1]]
    assert value("max_pool", equal, (1, 2), return_indices=True)[1].tolist() == [[0, 2], [4, 6]]


def test_what_the_padding_adds_is_never_largest(gradients):
    lowest = np.full(3, -inf)
    z, index = value("max_pool", lowest, 2, 1, 1, return_indices=True)
    assert z.tolist() == [-inf] * 4
    assert index.tolist() == [0, 0, 1, 2]
    z, index = value("max_pool", np.full(3, -128, "int8"), 3, 1, "same", return_indices=True)
    assert index.tolist() == [0, 0, 1]
    assert gradients(lambda f, x: f.max_pool(x, 2, 1, 1), [-1, -2]) == [[2, 1]]


def test_nan_is_largest_and_stays_in_its_window(gradients):
    x = [1, nan, nan, 5, 6, 7]
    assert value("max_pool", np.array([*x, nan]), 3, 3, return_indices=True)[1].tolist() == [1, 5]
    assert gradients(lambda f, x: f.max_pool(x, 3), x) == [[0, 1, 0, 0, 0, 1]]
    found = value("adaptive_average_pool", np.array([inf, 1, 2, 3, 4.0]), 2)
    assert_array_equal(found, [inf, 3])
