"""Dask arrays are variables of optimisations that a service runs on their cluster."""

import gradwire
import numpy as np
import pytest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=3000)
LEAST = np.linalg.lstsq(X, Y, rcond=None)[0]


@pytest.fixture(scope="module")
def client():
    """A client of a service with a cluster of one worker process, which is the current one here."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, dashboard_address=None, memory_limit="1GiB"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as connection,
        connection.as_current(),
        gradwire.Client.local(dask=cluster.scheduler_address) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def rows(client):
    arrays = pytest.importorskip("dask.array", reason="Dask is not installed")
    return arrays.from_array(X, chunks=(700, 3)), arrays.from_array(Y, chunks=700)


def residuals(w, x, y):
    return x @ w - y


@pytest.mark.thorough
@pytest.mark.parametrize("method", [None, "Newton-CG"])
def test_functions_of_dask_arrays_are_minimised_where_these_are(client, rows, method):
    def loss(w, x, y):
        return np.sum(residuals(w, x, y) ** 2)

    found = client.minimize(loss, np.zeros(3), rows, method)
    np.testing.assert_allclose(found.x, LEAST, atol=1e-5)
    assert found.fun == pytest.approx(loss(LEAST, X, Y))


@pytest.mark.thorough
def test_programs_take_them_too(client, rows):
    variables = dict(zip("xy", rows, strict=True))
    found = client.minimize("mean((x @ w - y)**2)", {"w": np.zeros(3)}, variables=variables)
    np.testing.assert_allclose(found.x["w"], LEAST, atol=1e-5)


@pytest.mark.thorough
def test_least_squares_by_gauss_and_newton(client, rows):
    found = client.least_squares(residuals, np.zeros(3), rows, "gauss-newton")
    np.testing.assert_allclose(found.x, LEAST, atol=1e-6)


@pytest.mark.thorough
def test_what_does_not_add_up_over_rows_is_refused(client, rows):
    with pytest.raises(gradwire.APIError) as caught:
        client.minimize(lambda w, x, y: np.median(x @ w - y) ** 2, np.zeros(3), rows)
    assert any("test_clusters.py" in note for note in caught.value.__notes__)


@pytest.mark.thorough
def test_unpublished_data_is_named(client, rows):
    missing = gradwire.ChunkedArray({"dask": "nothing"}, X.shape)
    with pytest.raises(gradwire.APIError, match="no dataset nothing is published"):
        client.minimize(lambda w, x, y: np.sum(x @ w - y), np.zeros(3), (missing, rows[1]))
