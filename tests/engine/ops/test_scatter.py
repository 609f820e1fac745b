"""Scattered updates, blocks and segments against loops; who of equals has the derivative."""

from typing import Any

import numpy as np
import pytest
from gradwire_engine.backends.reference.namespace import NUMPY
from gradwire_engine.backends.walk.functions import function
from gradwire_engine.check import Call, evaluate
from gradwire_engine.errors import BadArgument
from gradwire_engine.ops.arrays.indexing import ScatterAdd
from gradwire_engine.ops.patterns import ARRAY, FULL, Span, index_of
from gradwire_engine.ops.promotion import DTYPES
from numpy.testing import assert_array_equal

from tests.engine.ops.sampled import checked

X = np.arange(6).reshape(2, 3) % 4
AT = np.array([[1, 2], [0, 0], [1, 2]])
NEW = np.array([7, 0, 2])
IDS = np.array([3, 0, 3])
UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "max": np.maximum,
    "min": np.minimum,
    "multiply": np.multiply,
}
NUMBERS = [name for name, dtype in DTYPES.items() if dtype.kind in "iuf"]


def value(name, *args):
    call = Call.of(name, *args)
    return checked(call)[0]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", [*UFUNCS, "update"])
def test_updates_are_applied_one_after_the_other(name, dtype):
    for along in (slice(None), slice(None, None, -1)):  # also backwards in memory
        at, updates = AT[along], NEW.astype(dtype)[along]
        found = value(f"tensor_scatter_nd_{name}", X.astype(dtype), at, updates)
        expected = X.astype(dtype)
        for place, new in zip(at, updates, strict=True):
            old = expected[tuple(place)]
            expected[tuple(place)] = new if name == "update" else UFUNCS[name](old, new)
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["add", "max", "min", "multiply"])
def test_segments_are_reduced(name, dtype):
    rows = np.stack([NEW, NEW + 1, NEW * 2]).astype(dtype)
    names = {"add": "sum", "multiply": "prod"}
    found = value(f"segment_{names.get(name, name)}", rows, IDS, 4)
    assert found.dtype == dtype
    assert_array_equal(found[0], rows[1])
    assert_array_equal(found[3], UFUNCS[name](rows[0], rows[2]))


@pytest.mark.parametrize("name", [*UFUNCS, "update"])
def test_places_outside_are_no_places_elsewhere(name):
    call = Call.of(f"tensor_scatter_nd_{name}", X, np.array([[0, 5]]), NEW[:1])
    with pytest.raises(IndexError):
        evaluate(call.record, call.values)
    last, first = np.array([[-1, -1]]), np.array([[1, 2]])
    found, expected = (value(call.function, X, at, NEW[:1]) for at in (last, first))
    assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_examples_have_segments_of_their_own(name, ask):
    variables = {"x": 1 + X.ravel(), "ids": np.array([[0, 255, 0, 7, 7, 1], [1] * 6], "uint8")}
    found = ask.value(f"vmap(lambda u: segment_{name}(x, u, 256))(ids)", variables)
    rows = [value(f"segment_{name}", variables["x"], ids, 256) for ids in variables["ids"]]
    assert_array_equal(found, rows)


@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_an_id_out_of_range_is_no_other_examples(name, ask):
    with pytest.raises(BadArgument, match="an index is out of range"):
        ask.value(f"vmap(lambda u: segment_{name}(x, u, 2))(ids)", {"x": X[0], "ids": X})


def test_segments_without_rows():
    rows = np.ones((3, 1))
    for name, empty in (("sum", 0), ("mean", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf)):
        assert value(f"segment_{name}", rows, IDS, 4)[1] == [empty]
    assert value("segment_max", rows.astype("int8"), IDS, 4)[1] == [-128]
    assert value("segment_min", rows.astype("uint8"), IDS, 4)[1] == [255]


@pytest.mark.parametrize("start", [[0, 1], [1, -5], [9, 9]])
def test_blocks_are_moved_inside(start):
    row, column = np.clip(start, 0, [1, 1])
    block = value("dynamic_slice", X, start, (1, 2))
    assert_array_equal(block, X[row : row + 1, column : column + 2])
    expected = X.copy()
    expected[row : row + 1, column : column + 2] = 9
    found = value("dynamic_update_slice", X, np.full((1, 2), 9), np.array(start))
    assert_array_equal(found, expected)


def test_ties(gradients):
    at = [[0], [0]]
    assert gradients(lambda f, x, v: f.tensor_scatter_nd_max(x, at, v), [3, 0], [3, 3]) == [
        [1, 1],
        [0, 0],
    ]
    assert gradients(lambda f, x, v: f.tensor_scatter_nd_max(x, at, v), [1, 0], [3, 3]) == [
        [0, 1],
        [0.5, 0.5],
    ]
    assert gradients(lambda f, x, v: f.tensor_scatter_nd_update(x, at, v), [1, 0], [3, 4]) == [
        [0, 1],
        [0, 1],
    ]
    assert gradients(lambda f, x: f.segment_min(x, [0, 0, 2], 3), [2, 2, 5]) == [[0.5, 0.5, 1]]
    assert gradients(lambda f, x: f.segment_prod(x, [0, 0, 2], 3), [0, 2, 5]) == [[2, 0, 1]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(("count", "shape"), [((3000,), (50, 3)), ((40, 60), (900, 2, 2))])
def test_many_rows_are_added_in_their_order(dtype, count, shape):
    """To the last bit as NumPy adds them one by one, whatever their sizes."""
    rng = np.random.default_rng(11)
    index = rng.integers(-shape[0], shape[0], count)
    sizes = 10.0 ** rng.uniform(-9, 9, (*count, *shape[1:]))
    rows = (rng.choice([-1, 1], sizes.shape) * sizes).astype(dtype)
    rows[(5,) * len(count)] = np.inf
    expected = np.zeros(shape, dtype)
    np.add.at(expected, index, rows)
    op = ScatterAdd((ARRAY, *[FULL] * (len(shape) - 1)), shape)
    found = op.kernel(NUMPY, rows, index)
    assert (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())
    index.flat[0] = shape[0]
    with pytest.raises(IndexError):
        op.kernel(NUMPY, rows, index)


@pytest.mark.parametrize("pattern", [(1,), (Span(0, 2, None),), (None, Span(1, None, None))])
def test_zeros_keep_their_signs_where_nothing_is_selected_twice(pattern):
    op = ScatterAdd(pattern, (3,))
    part = np.full(np.zeros(3)[index_of(pattern, ())].shape, -0.0)
    for scattered in (op.kernel(NUMPY, part), function(op)(part)):
        assert np.signbit(scattered).sum() == part.size
