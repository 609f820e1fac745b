"""Sparse and ragged leaves, and errors with their pointers."""

import numpy as np
import pytest
from gradwire_engine import Ragged, Sparse
from gradwire_service.problems import RequestError
from gradwire_service.wire.leaves import read_variables
from gradwire_service.wire.references import References

BYTES = {"dtype": "int32", "shape": [1, 2], "base64": "AgAAAAEAAAA="}


def read(document):
    return read_variables({"x": document}, References())["x"]


@pytest.mark.parametrize(
    ("document", "dtype", "indices", "values"),
    [
        ({"indices": [[0, 1], [2, 0]], "values": [1, 2]}, "float64", [[0, 1], [2, 0]], [1, 2]),
        ({"indices": [[1, 1.0]] * 2, "values": [1, 2]}, "float64", [[1, 1], [1, 1]], [1, 2]),
        ({"indices": [], "values": []}, "float64", np.zeros((0, 2)), []),
        ({"indices": [[2]], "values": [[1, 2, 3, 4]]}, "float64", [[2]], [[1, 2, 3, 4]]),
        ({"indices": BYTES, "values": [1], "dtype": "float32"}, "float32", [[2, 1]], [1]),
        ({"indices": [[2, 1]], "values": {"value": [1], "dtype": "int8"}}, "int8", [[2, 1]], [1]),
        ({"indices": [[0, 0]], "values": {"re": [1], "im": [2]}}, "complex128", [[0, 0]], [1 + 2j]),
    ],
)
def test_sparse_tensors(document, dtype, indices, values):
    found = read(document | {"shape": [3, 4], "trainable": False})
    assert isinstance(found, Sparse)
    assert found.shape == (3, 4)
    assert found["indices"].value.dtype == np.int64
    assert found["values"].value.dtype == dtype
    assert not found["values"].trainable
    np.testing.assert_array_equal(found["indices"].value, indices)
    np.testing.assert_array_equal(found["values"].value, values)


@pytest.mark.parametrize(
    ("values", "splits"),
    [([1, 2, 3], [0, 2, 3]), ([[1, 2], [3, 4]], [0, 0, 1, 2, 2]), ([], [0, 0]), ([], [0])],
)
def test_ragged_tensors(values, splits):
    found = read({"values": values, "row_splits": splits})
    assert isinstance(found, Ragged)
    assert found["values"].trainable
    np.testing.assert_array_equal(found["values"].value, values)
    np.testing.assert_array_equal(found["row_splits"].value, splits)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"indices": [[0, 1], [3, 0]]}, "/indices/1/0"),
        ({"indices": [[0, -1], [2, 0]]}, "/indices/0/1"),
        ({"indices": [[0, 1], [2, 0.5]]}, "/indices/1/1"),
        ({"indices": [[0, 1], [2]]}, "/indices/1"),
        ({"indices": [[0, 1]]}, "/values"),
        ({"indices": [0, 1]}, "/indices"),
        ({"indices": [[0, 1, 2], [0, 1, 2]]}, "/indices"),
        ({"indices": {"value": [[0.0, 1.0]]}}, "/indices"),
        ({"indices": "abc"}, "/indices"),
        ({"indices": None}, "/indices"),
        ({"values": [1, None]}, "/values/1"),
        ({"values": {"w": 1}}, "/values"),
        ({"values": 1}, "/values"),
        ({"values": {"value": [1, 2], "dtype": "int8"}, "dtype": "float32"}, "/values"),
        ({"shape": [3, -4]}, "/shape"),
        ({"shape": [3, 1 << 70]}, "/shape/1"),
        ({"shape": [3, 4] + [1] * 63}, "/shape"),
        ({"shape": [3, 0.5]}, "/shape/1"),
        ({"shape": [[3, 4]]}, "/shape"),
        ({"shape": None}, "/shape"),
        ({"dtype": "float31"}, "/dtype"),
        ({"trainable": 1}, "/trainable"),
        ({"dense_shape": [3, 4]}, ""),
    ],
)
def test_invalid_sparse_tensors_are_refused(changed, place):
    document = {"indices": [[0, 1], [2, 0]], "values": [1, 2], "shape": [3, 4]}
    refused(document | changed, place)


@pytest.mark.parametrize(
    ("splits", "place"),
    [
        ([1, 3], "/row_splits/0"),
        ([0, 2], "/row_splits/1"),
        ([0, 2, 1, 3], "/row_splits/2"),
        ([0, 5, 3], "/row_splits/2"),
        ([0, -1, 3], "/row_splits/1"),
        ([0, 1.5, 3], "/row_splits/1"),
        ([[0, 3]], "/row_splits"),
        ([], "/row_splits"),
        (3, "/row_splits"),
    ],
)
def test_invalid_ragged_tensors_are_refused(splits, place):
    refused({"values": [1, 2, 3], "row_splits": splits}, place)
    refused({"values": 1, "row_splits": [0]}, "/values")


def refused(document, place):
    with pytest.raises(RequestError) as caught:
        read(document)
    assert (caught.value.code, caught.value.pointer) == ("malformed_tensor", f"/variables/x{place}")
