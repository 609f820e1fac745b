"""Rows in Zarr arrays and Parquet files, as a worker finds and reads them."""

import numpy as np
import pytest
from gradwire_service.cluster import parquet_files, reading, zarr_arrays
from gradwire_service.problems import RequestError
from gradwire_service.wire.chunked import ChunkedReference

zarr = pytest.importorskip("zarr", reason="Dask is not installed")
pyarrow = pytest.importorskip("pyarrow", reason="Dask is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="Dask is not installed")


def find_zarr(address, pointer, **members):
    return zarr_arrays.find_zarr(address, ChunkedReference("zarr", "", **members), pointer)


def find_parquet(address, columns, pointer, **members):
    reference = ChunkedReference("parquet", "", columns, **members)
    return parquet_files.find_parquet(address, reference, pointer)


BOUNDS = [(0, 3), (3, 10), (10, 11), (11, 25)]


def written(path, array, chunks, **options):
    made = zarr.create_array(
        str(path), shape=array.shape, dtype=array.dtype, chunks=chunks, **options
    )
    made[...] = array
    return str(path)


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2", "bool", "c16"])
@pytest.mark.parametrize("format", [2, 3])
def test_rows_of_zarr_arrays(tmp_path, dtype, format):
    array = np.random.default_rng(0).integers(0, 100, (25, 2, 3)).astype(dtype)
    address = written(tmp_path / "x.zarr", array, (4, 1, 3), zarr_format=format)
    found = find_zarr(address, "/p")
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.shape == array.shape
    assert found.chunks == (4, 4, 4, 4, 4, 4, 1)
    for (start, stop), rows in zip(BOUNDS, found.divided(BOUNDS), strict=True):
        read = rows.read()
        assert read.dtype == found.dtype
        np.testing.assert_array_equal(read, array[start:stop])


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    lists = pyarrow.array(rng.normal(size=(25, 3)).ravel())
    return pyarrow.table(
        {
            "a": rng.normal(size=25),
            "b": rng.normal(size=25),
            "i": np.arange(25),
            "lists": pyarrow.FixedSizeListArray.from_arrays(lists, 3),
            "holes": pyarrow.array([None, *range(24)], pyarrow.float64()),
            "names": [f"{i}" for i in range(25)],
        }
    )


@pytest.fixture(params=["file", "folder"])
def address(request, tmp_path, table):
    if request.param == "file":
        parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=4)
        return str(tmp_path / "rows.parquet")
    for number, (start, stop) in enumerate(BOUNDS):
        part = table.slice(start, stop - start)
        parquet.write_table(part, tmp_path / f"{number}.parquet", row_group_size=5)
    (tmp_path / "_SUCCESS").touch()
    return str(tmp_path)


@pytest.mark.parametrize("columns", ["a", ("a",), ("b", "a"), "i", "lists"])
def test_rows_of_parquet_files(address, table, columns):
    if columns == "lists":
        expected = np.array(table.column("lists").to_pylist())
    elif isinstance(columns, str):
        expected = table.column(columns).to_numpy()
    else:
        expected = np.stack([table.column(name).to_numpy() for name in columns], axis=1)
    found = find_parquet(address, columns, "/p")
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert sum(found.chunks) == 25
    for bounds in (BOUNDS, [(0, 25)], [(i, i + 1) for i in range(25)]):
        for (start, stop), rows in zip(bounds, found.divided(bounds), strict=True):
            np.testing.assert_array_equal(rows.read(), expected[start:stop])


@pytest.mark.parametrize(
    ("columns", "code", "detail"),
    [
        ("c", "invalid_request", "no column c"),
        (("a", "i"), "dtype_mismatch", "equal types, got double in a and int64 in i"),
        (("a", "lists"), "dtype_mismatch", "equal types"),
        (("lists",), "invalid_request", "a variable of its own"),
        ("names", "dtype_mismatch", "object"),
    ],
)
def test_columns_that_are_no_variable(address, columns, code, detail):
    with pytest.raises(RequestError) as caught:
        find_parquet(address, columns, "/p")
    assert (caught.value.code, caught.value.pointer) == (code, "/p")
    assert detail in caught.value.detail
    assert caught.value.hint


def test_rows_below_urls(table):
    """Of any kind that fsspec opens: here, files in memory."""
    fsspec = pytest.importorskip("fsspec")
    array = np.arange(50.0).reshape(25, 2)
    written("memory://bucket/x.zarr", array, (4, 2))
    first, *_ = find_zarr("memory://bucket/x.zarr", "/p").divided(BOUNDS)
    np.testing.assert_array_equal(first.read(), array[:3])
    for number in range(2):
        with fsspec.open(f"memory://bucket/rows/{number}.parquet", "wb") as file:
            parquet.write_table(table, file, row_group_size=10)
    found = find_parquet("memory://bucket/rows", "i", "/p")
    assert found.chunks == (10, 10, 5) * 2
    (rows,) = found.divided([(20, 30)])
    np.testing.assert_array_equal(rows.read(), [20, 21, 22, 23, 24, 0, 1, 2, 3, 4])


def test_missing_values_have_no_number(address):
    (rows,) = find_parquet(address, "holes", "/p").divided([(0, 3)])
    with pytest.raises(RequestError, match="missing values") as caught:
        rows.read()
    assert caught.value.code == "invalid_request"


def test_what_is_no_array_or_file(tmp_path, table):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("text")
    zarr.create_array(str(tmp_path / "scalar"), shape=(), dtype="f8")
    zarr.create_array(str(tmp_path / "no rows"), shape=(0, 2), dtype="f8")
    zarr.create_group(str(tmp_path / "group"))
    parquet.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    for name in ("empty", "text.parquet", "scalar", "no rows", "group"):
        with pytest.raises(RequestError) as caught:
            find_zarr(str(tmp_path / name), "/p")
        assert caught.value.code == "invalid_request"
        assert name in caught.value.detail
    for name in ("empty", "text.parquet", "none.parquet", "group"):
        with pytest.raises(RequestError) as caught:
            find_parquet(str(tmp_path / name), "a", "/p")
        assert caught.value.code == "invalid_request"
        assert name in caught.value.detail


def test_a_damaged_chunk_is_a_problem(tmp_path):
    address = written(tmp_path / "x.zarr", np.ones((8, 2)), (4, 2))
    rows, _ = find_zarr(address, "/p").divided([(0, 4), (4, 8)])
    chunk = next(path for path in (tmp_path / "x.zarr" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"damaged")
    with pytest.raises(RequestError, match=r"x\.zarr"):
        rows.read()


def test_a_read_that_fails_is_repeated(tmp_path, monkeypatch):
    address = written(tmp_path / "x.zarr", np.ones((4, 2)), (4, 2))
    opened, fails = zarr_arrays._zarr, [OSError("network"), OSError("network")]

    def flaky(address):
        if fails:
            raise fails.pop()
        return opened(address)

    monkeypatch.setattr(zarr_arrays, "_zarr", flaky)
    monkeypatch.setattr(reading, "_RETRY_SECONDS", (0.0, 0.0))
    assert find_zarr(address, "/p").shape == (4, 2)
    fails += [OSError("network")] * 3
    with pytest.raises(RequestError) as caught:
        find_zarr(address, "/p")
    assert caught.value.code == "cluster_unavailable"
    assert caught.value.retry_after_seconds
