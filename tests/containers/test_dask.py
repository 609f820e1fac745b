"""The compose file with a Dask cluster: objectives over files that only its workers see."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from tests.containers.podman import Podman
from tests.containers.stack import REPLICAS, Stack, services, started, until

WORKERS = ["dask-worker-1", "dask-worker-2"]
IMAGE = "localhost/gradwire-server-dask"
ROWS, COLUMNS = 40_000, 5
PROGRAM = "sum((X @ w - y) ** 2)"


@pytest.fixture(scope="module")
def stack(podman: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    image = IMAGE.rpartition("/")[2]
    assert {services()[name]["image"] for name in ("dask-scheduler", *WORKERS)} == {image}
    podman.build_service("dask", IMAGE, "docs-dependencies", "dependencies", "dask-dependencies")
    settings = {"GRADWIRE_IMAGE": image, "GRADWIRE_DASK": "tcp://dask-scheduler:8786"}
    folder = tmp_path_factory.mktemp("dask")
    with started(podman, folder, "--profile", "dask", settings=settings) as stack:
        yield stack


@pytest.fixture(scope="module")
def weights(stack: Stack) -> np.ndarray[Any, Any]:
    """The solution by NumPy for rows that are written to the workers' folder."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(ROWS, COLUMNS))
    targets = rows @ draw.normal(size=COLUMNS) + draw.normal(size=ROWS)
    array = zarr.create_array(
        stack.data / "X.zarr", shape=rows.shape, chunks=(ROWS // 8, COLUMNS), dtype=rows.dtype
    )
    array[:] = rows
    pq.write_table(pa.table({"y": targets}), stack.data / "y.parquet", row_group_size=ROWS // 4)
    return np.linalg.lstsq(rows, targets)[0]


def fit(client: httpx.Client, **members: Any) -> httpx.Response:
    variables = {
        "X": {"zarr": "X.zarr"},
        "y": {"parquet": "y.parquet", "columns": "y"},
        "w": [0.0] * COLUMNS,
    }
    body = {"program": PROGRAM, "variables": variables, **members}
    return client.post("/v1/minimize", json=body)


def check(client: httpx.Client, weights: np.ndarray[Any, Any]) -> None:
    """Compare with NumPy's solution, which may take longer than an answer may."""
    reply = fit(client)
    assert reply.status_code in (200, 202), reply.text
    found = reply.json()
    if reply.status_code == 202:
        until(lambda: client.get(reply.headers["location"]).json()["finished_at"])
        found = client.get(reply.headers["location"]).json()["result"]
    np.testing.assert_allclose(found["solution"]["w"], weights, rtol=1e-5)


def iteration(client: httpx.Client, job: str) -> int:
    shown = client.get(job).json()
    assert shown["state"] in ("queued", "running"), shown
    return shown["progress"]["iteration"] if shown["progress"] else 0


def test_image_is_not_much_larger(
    podman: Podman, stack: Stack, record_property: Callable[[str, object], None]
):
    size = podman.inspect(IMAGE)["Size"]
    record_property("bytes", size)
    assert size < 800e6  # of which Arrow is 150


def test_every_replica_fits_the_workers_data(stack: Stack, weights: np.ndarray[Any, Any]):
    for replica in REPLICAS:
        with stack.direct(replica) as client:
            check(client, weights)


def test_fits_without_a_worker(stack: Stack, podman: Podman, weights: np.ndarray[Any, Any]):
    podman("kill", "--signal", "KILL", stack.container(WORKERS[0]))
    check(stack.client, weights)


def test_a_scheduler_that_is_away_is_said_and_waited_for(
    stack: Stack, podman: Podman, weights: np.ndarray[Any, Any]
):
    options = {"learning_rate": 1e-9, "maxiter": 10**6, "gtol": 0, "ftol": 0}
    job = fit(stack.client, method="sgd", options=options, background=True).headers["location"]
    until(lambda: iteration(stack.client, job) > 0)

    podman("stop", "--time", "1", stack.container("dask-scheduler"))
    refused = fit(stack.client)
    if refused.status_code == 202:  # a busy machine said so later than an answer may take
        path = refused.headers["location"]
        until(lambda: stack.client.get(path).json()["finished_at"])
        assert stack.client.get(path).json()["problem"]["code"] == "cluster_unavailable"
    else:
        assert (refused.status_code, refused.json()["code"]) == (503, "cluster_unavailable")
        assert int(refused.headers["retry-after"]) > 0
    reached = iteration(stack.client, job)

    # Workers end with their scheduler; podman does not start them again by itself, as Docker does.
    podman("start", *map(stack.container, ("dask-scheduler", *WORKERS)))
    until(lambda: iteration(stack.client, job) > reached)
    assert stack.client.delete(job).is_success
    for replica in REPLICAS:
        with stack.direct(replica) as client:
            # A name server may know the scheduler's new address later in one container than in
            # another: the replica says so until then.
            until(partial(finds, client))
            check(client, weights)


def finds(client: httpx.Client) -> bool:
    """Whether a replica has found the scheduler, and a worker."""
    reply = fit(client)
    if reply.status_code == 503:
        assert reply.json()["code"] == "cluster_unavailable"
        return False
    return True
