"""References to chunked variables."""

import pytest
from gradwire_service.wire.arrays_in import Malformed
from gradwire_service.wire.chunked import ChunkedReference, read_chunked


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"dask": "X"}, ChunkedReference("dask", "X")),
        ({"zarr": "train/X.zarr"}, ChunkedReference("zarr", "train/X.zarr")),
        ({"parquet": "t", "columns": "y"}, ChunkedReference("parquet", "t", "y")),
        (
            {"zarr": "x", "shape": [9, 2], "dtype": "float32"},
            ChunkedReference("zarr", "x", None, (9, 2), "float32"),
        ),
        ({"parquet": "t", "columns": ["a", "b"]}, ChunkedReference("parquet", "t", ("a", "b"))),
        ({"zarr": "x", "missing": "fill"}, ChunkedReference("zarr", "x", missing="fill")),
    ],
)
def test_references(value, read):
    assert read_chunked(value) == read


@pytest.mark.parametrize(
    "value",
    [None, 1.0, "zarr", [1.0], {}, {"value": 1.0}, {"zarr": [1.0]}, {"dask": {"value": 1}}],
)
def test_other_values(value):
    assert read_chunked(value) is None


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"zarr": ""}, "/zarr"),
        ({"dask": "x" * 2000}, "/dask"),
        ({"zarr": "x", "columns": ["a"]}, ""),
        ({"zarr": "x", "dask": "y"}, ""),
        ({"dask": "x", "trainable": False}, ""),
        ({"zarr": "x", "shape": 9}, "/shape"),
        ({"zarr": "x", "shape": [-1]}, "/shape"),
        ({"zarr": "x", "dtype": "float"}, "/dtype"),
        ({"zarr": "x", "missing": "refuse"}, "/missing"),
        ({"zarr": "x", "missing": True}, "/missing"),
        ({"dask": "x", "missing": "fill"}, ""),
        ({"parquet": "t", "columns": "a", "missing": "fill"}, ""),
        ({"parquet": "t"}, "/columns"),
        ({"parquet": "t", "columns": []}, "/columns"),
        ({"parquet": "t", "columns": ["a", 1]}, "/columns"),
        ({"parquet": "t", "columns": {"a": 1}}, "/columns"),
    ],
)
def test_malformed_references(value, pointer):
    with pytest.raises(Malformed) as caught:
        read_chunked(value)
    assert caught.value.pointer == pointer
