"""Zarr arrays whose chunks are not all there."""

import random
from typing import Any

import numpy as np
import pytest
from gradwire_service.cluster.zarr_arrays import find_zarr
from gradwire_service.problems import RequestError
from gradwire_service.wire.chunked import ChunkedReference

zarr = pytest.importorskip("zarr", reason="Dask is not installed")

FORMS: dict[str, dict[str, Any]] = {
    "version 2": {"zarr_format": 2},
    "version 2, nested": {
        "zarr_format": 2,
        "chunk_key_encoding": {"name": "v2", "separator": "/"},
    },
    "version 3": {"zarr_format": 3},
    "version 3, flat": {
        "zarr_format": 3,
        "chunk_key_encoding": {"name": "default", "separator": "."},
    },
    "version 3, keys of version 2": {
        "zarr_format": 3,
        "chunk_key_encoding": {"name": "v2", "separator": "."},
    },
    "shards": {"zarr_format": 3, "shards": (8, 4)},
    "not compressed": {"zarr_format": 3, "compressors": None},
}
#: Shapes with chunks of (4, 2), of the last axis 1, or none.
SHAPES = [(25, 3), (8, 4), (4, 2), (30, 1), (26, 4, 3)]


def made(path, form, shape=(25, 3), fill=0):
    """A complete array, its files that are chunks, and what it holds."""
    options = {**FORMS[form]}
    chunks = (4, 2, 3)[: len(shape)]
    if "shards" in options:
        options["shards"] = (8, 4, 3)[: len(shape)]
    array = zarr.create_array(
        str(path), shape=shape, chunks=chunks, dtype="f8", fill_value=fill, **options
    )
    values = np.random.default_rng(0).normal(size=shape)
    array[...] = values
    names = ("zarr.json", ".zarray", ".zattrs")
    files = [file for file in path.rglob("*") if file.is_file() and file.name not in names]
    return sorted(files), values


def found(path, **members):
    return find_zarr(str(path), ChunkedReference("zarr", "", **members), "/variables/X/zarr")


def rows(path, **members):
    array = found(path, **members)
    (recipe,) = array.divided([(0, array.shape[0])])
    return recipe.read()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_each_lost_chunk_is_named(tmp_path, form, shape):
    path = tmp_path / "group" / "x.zarr"
    files, values = made(path, form, shape)
    np.testing.assert_array_equal(rows(path), values)
    for file in random.Random(0).sample(files, min(len(files), 6)):
        before, name = found(path), file.relative_to(path).as_posix()
        content = file.read_bytes()
        file.unlink()
        with pytest.raises(RequestError) as caught:
            found(path)
        assert caught.value.code == "invalid_request"
        assert caught.value.pointer == "/variables/X/zarr"
        assert f"x.zarr: {name}: " in caught.value.detail
        hint = str(caught.value.hint)
        assert "write_empty_chunks=True" in hint
        assert '"missing": "fill"' in hint
        # Also if it is lost after the array was described, where its rows are read.
        (whole,) = before.divided([(0, shape[0])])
        with pytest.raises(RequestError, match="chunk is missing") as caught:
            whole.read()
        assert name in caught.value.detail
        filled = rows(path, missing="fill")
        kept = filled == values
        np.testing.assert_array_equal(filled[~kept], 0.0)
        assert not kept.all()
        file.write_bytes(content)
    np.testing.assert_array_equal(rows(path), values)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fill", [0.0, -1.0, np.nan])
def test_several_lost_chunks_are_counted(tmp_path, form, fill):
    files, _ = made(tmp_path / "x", form, (40, 4), fill)
    for file in files[1:4]:
        file.unlink()
    with pytest.raises(RequestError, match="and 2 others"):
        found(tmp_path / "x")
    filled = rows(tmp_path / "x", missing="fill")
    gone = np.isnan(filled) if np.isnan(fill) else filled == fill
    assert gone.any()


@pytest.mark.parametrize("form", FORMS)
def test_chunks_of_the_fill_value_are_written_or_declared(tmp_path, form):
    """Zarr leaves them out unless it is told not to: then nothing says whether they are lost."""
    options = {"shape": (32, 4), "chunks": (4, 2), "dtype": "f8", **FORMS[form]}
    values = np.zeros((32, 4))
    values[:8] = 1.0
    for empty in (False, True):
        path = tmp_path / str(empty)
        array = zarr.create_array(str(path), config={"write_empty_chunks": empty}, **options)
        array[...] = values
        np.testing.assert_array_equal(rows(path, missing="fill"), values)
        if empty:
            np.testing.assert_array_equal(rows(path), values)
        else:
            with pytest.raises(RequestError, match="chunk is missing"):
                found(path)


def test_below_a_url():
    """Of any kind that fsspec opens: here, files in memory."""
    fsspec = pytest.importorskip("fsspec")
    address = "memory://lost/x.zarr"
    array = zarr.create_array(address, shape=(20, 2), chunks=(4, 2), dtype="f8")
    array[...] = 1.0
    np.testing.assert_array_equal(rows(address), 1.0)
    fsspec.filesystem("memory").rm("/lost/x.zarr/c/3/0")
    with pytest.raises(RequestError, match="c/3/0"):
        found(address)


def test_the_check_is_one_listing(tmp_path, monkeypatch):
    files, _ = made(tmp_path / "x", "version 3", (1000, 4))
    assert len(files) == 500
    asked = {"list_prefix": 0, "exists": 0, "get": 0}

    def counted(name):
        original = getattr(zarr.storage.LocalStore, name)

        def call(*args, **options):
            asked[name] += 1
            return original(*args, **options)

        return call

    for name in asked:
        monkeypatch.setattr(zarr.storage.LocalStore, name, counted(name))
    found(tmp_path / "x")
    assert asked["list_prefix"] <= 1
    assert asked["exists"] + asked["get"] < 10


@pytest.mark.parametrize(
    ("attributes", "detail"),
    [
        ({"scale_factor": 0.1}, "scale_factor"),
        ({"add_offset": 3}, "add_offset"),
        ({"_FillValue": "?"}, "_FillValue"),
        ({"_FillValue": -999.0}, ""),
        ({"missing_value": [-1.0, -999.0]}, ""),
        ({"_FillValue": "AAAAAAA4j8A="}, ""),  # -999.0, as xarray writes it
    ],
)
def test_values_that_attributes_hide(tmp_path, attributes, detail):
    array = zarr.create_array(
        str(tmp_path / "x"), shape=(8,), chunks=(4,), dtype="f8", attributes=attributes
    )
    array[:] = np.arange(1.0, 9.0)
    if detail:
        with pytest.raises(RequestError, match=detail):
            found(tmp_path / "x")
        return
    np.testing.assert_array_equal(rows(tmp_path / "x"), np.arange(1.0, 9.0))
    array[5] = -999.0
    first, second = found(tmp_path / "x").divided([(0, 4), (4, 8)])
    first.read()
    with pytest.raises(RequestError, match="stand for missing"):
        second.read()


def test_nan_stands_for_itself(tmp_path):
    for attribute in (float("nan"), "AAAAAAAA+H8="):
        path = tmp_path / str(attribute)[:3]
        array = zarr.create_array(
            str(path), shape=(4,), dtype="f8", attributes={"_FillValue": attribute}
        )
        array[:] = [1.0, np.nan, 2.0, 3.0]
        np.testing.assert_array_equal(rows(path), [1.0, np.nan, 2.0, 3.0])


def test_an_optimisation_does_not_begin(solve, data):
    path = data.root / "lost.zarr"
    files, values = made(path, "version 3", (40, 2))
    variables: dict[str, Any] = {"x": {"zarr": "lost.zarr"}, "w": 0}
    request = {"program": "return sum((x - w) ** 2)", "variables": variables}
    answer = solve("minimize", request)
    np.testing.assert_allclose(answer["solution"]["w"], values.mean(), rtol=1e-6)
    files[3].unlink()
    problem = solve("minimize", request)
    assert (problem.code, problem.pointer) == ("invalid_request", "/variables/x/zarr")
    variables["x"] = {"zarr": "lost.zarr", "missing": "fill"}
    values[12:16] = 0.0
    answer = solve("minimize", request)
    np.testing.assert_allclose(answer["solution"]["w"], values.mean(), rtol=1e-6)


@pytest.mark.parametrize("shape", [(10**9,), (4, 10**9), (2000, 2000)], ids=str)
@pytest.mark.parametrize("missing", [None, "fill"])
@pytest.mark.parametrize("version", [2, 3])
def test_metadata_that_claims_endless_chunks_is_refused(tmp_path, shape, missing, version):
    path = tmp_path / "x.zarr"
    ones = (1,) * len(shape)
    zarr.create_array(str(path), shape=shape, chunks=ones, dtype="f8", zarr_format=version)
    with pytest.raises(RequestError, match="chunks, and at most") as caught:
        found(path, missing=missing)
    assert caught.value.pointer == "/variables/X/zarr"
