"""A job whose scheduler is lost goes on when there is one again."""

import asyncio

import pytest

pytest.importorskip("distributed", reason="Dask is not installed")

from tests.service.cluster.test_connection import running, scheduler, unused_port

REQUEST = {
    "program": "sum((X @ w - 1)**2)",
    "variables": {"X": {"zarr": "X.zarr"}, "w": [0, 0, 0, 0, 0]},
    "method": "sgd",
    "options": {"learning_rate": 1e-6, "maxiter": 10**6, "gtol": 0, "ftol": 0},
    "background": True,
}


@pytest.fixture
def cluster(data):
    """Settings with a cluster, the port of its scheduler, and the command of a worker."""
    port = unused_port()
    address = f"tcp://127.0.0.1:{port}"
    worker = "worker", address, "--no-nanny", "--nthreads", "1", "--memory-limit", "1GiB"
    return {"dask": address, "data_root": str(data.root), "job_processes": 1}, port, worker


@pytest.mark.thorough
async def test_a_job_survives_its_scheduler_before_its_first_progress(served, cluster):
    """The cluster has no workers at first, so nothing can be evaluated."""
    settings, port, worker = cluster
    async with served(**settings) as client:
        with scheduler(port) as (process, _):
            path = (await client.post("/v1/minimize", json=REQUEST)).headers["location"]
            await shown(client, path, lambda job: job["resumed"] > 0)
            process.kill()
            process.wait()
        resumed = (await client.get(path)).json()["resumed"]
        job = await shown(client, path, lambda job: job["resumed"] > resumed)
        assert (job["state"], job["progress"]) == ("queued", None)
        with scheduler(port), running(*worker):
            await progressed(client, path, 5)
            assert (await client.delete(path)).is_success


@pytest.mark.thorough
async def test_a_job_waits_for_a_lost_scheduler_and_goes_on(served, cluster):
    settings, port, worker = cluster
    address = settings["dask"]
    async with served(**settings) as client:
        with scheduler(port) as (process, _), running(*worker):
            await asyncio.to_thread(joined, address)
            begun = await client.post("/v1/minimize", json=REQUEST)
            path = begun.headers["location"]
            before = await progressed(client, path, 5)
            process.kill()
            process.wait()
        with scheduler(port), running(*worker):
            # Its progress is stored later than it is made: some of it may be from before the loss.
            await shown(client, path, lambda job: job["resumed"] > 0)
            after = await progressed(client, path, before["progress"]["iteration"] + 5)
            assert after["progress"]["value"] < before["progress"]["value"]
            assert (await client.delete(path)).is_success


def joined(address):
    """Wait until a worker has joined the scheduler."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(1)


async def progressed(client, path, iteration):
    """The job after so many iterations."""
    return await shown(
        client,
        path,
        lambda job: job["progress"] is not None and job["progress"]["iteration"] >= iteration,
    )


async def shown(client, path, wanted):
    """The job as soon as it is as wanted."""
    while not wanted(job := (await client.get(path)).json()):
        assert job["state"] in ("queued", "running"), job
        await asyncio.sleep(0.1)
    return job
