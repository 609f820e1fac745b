import gradwire
import numpy as np
import pytest
from gradwire.chunked import published
from gradwire.values import encode


@pytest.fixture(scope="module")
def connection():
    """A client of a cluster of one thread."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def cluster(connection):
    """The current client."""
    with connection.as_current():
        yield connection


def array():
    dask = pytest.importorskip("dask.array", reason="Dask is not installed")
    return dask.from_array(np.arange(20.0).reshape(10, 2), chunks=(5, 2))


def test_files_are_sent_by_their_path():
    x = gradwire.ChunkedArray({"zarr": "train/x.zarr"}, [10, 2], "float32")
    sent = {"zarr": "train/x.zarr", "shape": [10, 2], "dtype": "float32"}
    assert encode({"x": x}, "data") == {"x": sent}
    assert (x.shape, x.ndim, x.dtype) == ((10, 2), 2, np.dtype(np.float32))
    assert repr(x) == "ChunkedArray({'zarr': 'train/x.zarr'}, (10, 2), float32)"
    with pytest.raises(gradwire.UsageError, match="are on a cluster"):
        np.sum(x)


def test_dask_arrays_are_published_once(cluster):
    one, other = published(array()), published(array())
    name = one.reference["dask"]
    assert other.reference == one.reference
    assert (one.shape, one.dtype) == ((10, 2), np.dtype(np.float64))
    assert [each for each in cluster.list_datasets() if each == name] == [name]
    np.testing.assert_array_equal(cluster.get_dataset(name).compute(), array().compute())
    assert encode(array(), "x") == {"dask": name, "shape": [10, 2], "dtype": "float64"}


def test_names_begin_with_the_tenant(cluster, monkeypatch):
    monkeypatch.setenv("GRADWIRE_TENANT", "acme")
    name = published(array()).reference["dask"]
    assert name.startswith("acme/gradwire-")
    assert name in cluster.list_datasets()


def test_without_a_cluster_the_array_is_named():
    with pytest.raises(gradwire.UsageError, match=r"array-.* there is no cluster"):
        published(array())


def test_unknown_shapes_are_refused(cluster):
    with pytest.raises(gradwire.UsageError, match="not known"):
        published(array()[array()[:, 0] > 3])
    frames = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    frame = frames.from_dict({"a": [1.0, 2.0]}, npartitions=1)
    with pytest.raises(gradwire.UsageError, match="is not an array"):
        published(frame)
