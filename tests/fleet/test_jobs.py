"""Jobs outlive their replica, and are shown and cancelled by any other."""

import asyncio
import json
import signal
import time
from typing import Any

import pytest

from tests.fleet.fleets import NGINX, fleet, replica
from tests.service.store.redis_server import REDIS, redis_server

#: Goes on until it is cancelled.
ENDLESS = {
    "program": "sum((x - 1)**2)",
    "variables": {"x": [3.0, 2.0]},
    "method": "sgd",
    "options": {"learning_rate": 1e-9, "maxiter": 10**9},
    "background": True,
}
#: Takes some twenty seconds; the rounding of NumPy and of machine code differ.
FIT: dict[str, Any] = {
    "program": "mean((x @ w - y)**2)",
    "variables": {"w": [0.0, 0.0], "x": [[1.0, 2.0], [3.0, -1.0]], "y": [1.0, 2.0]},
    "sources": ["w"],
    "method": "adam",
    "options": {"learning_rate": 1e-6, "maxiter": 80_000, "gtol": 0.0},
    "background": True,
}
EXACT: dict[str, Any] = {"machine_code": False, "cores": 1, "processes": 1, "job_processes": 1}


@pytest.fixture(params=["sqlite", "redis"])
def store(request, tmp_path):
    if request.param == "sqlite":
        yield {"store": f"sqlite:{tmp_path / 'jobs.db'}"}
        return
    if REDIS is None:
        pytest.skip("there is no redis-server")
    with redis_server(tmp_path) as server:
        yield {"store": server.url}


async def ended(client, path, seconds):
    job = (await client.get(path)).json()
    end = time.monotonic() + seconds
    while job["state"] in ("queued", "running"):
        assert time.monotonic() < end, job
        await asyncio.sleep(0.1)
        job = (await client.get(path)).json()
    return job


async def progressed(client, path, iteration):
    while True:
        progress = (await client.get(path)).json()["progress"]
        if progress and progress["iteration"] >= iteration:
            return
        await asyncio.sleep(0.05)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
@pytest.mark.parametrize("store", ["redis"], indirect=True)
async def test_a_job_goes_on_when_its_replica_is_killed(tmp_path, store, tell):
    async with fleet(tmp_path, 2, **store, **EXACT) as servers, servers.client() as client:
        path = (await client.post("/v1/minimize", json=FIT)).headers["location"]
        await progressed(client, path, 25_000)
        running = [await one.metric("gradwire_optimisations") for one in servers.replicas]
        assert sorted(running) == [0, 1]
        servers.replicas[running.index(1)].send(signal.SIGKILL)
        killed_at = time.monotonic()
        job = await ended(client, path, 90)
        tell("seconds from the kill to the end", round(time.monotonic() - killed_at, 1))
        assert (job["state"], job["resumed"]) == ("succeeded", 1)
        assert job["result"]["iterations"] == FIT["options"]["maxiter"]
        whole = (await client.post("/v1/minimize", json=FIT)).headers["location"]
        assert job["result"]["solution"] == (await ended(client, whole, 90))["result"]["solution"]


async def test_any_replica_shows_follows_and_cancels_a_job(tmp_path, store, tell):
    for name in "first", "second":
        (tmp_path / name).mkdir()
    async with (
        replica(tmp_path / "first", **store, **EXACT) as first,
        replica(tmp_path / "second", **store, **EXACT) as second,
        first.client() as here,
        second.client() as there,
    ):
        path = (await here.post("/v1/minimize", json=ENDLESS)).headers["location"]
        await progressed(there, path, 100)
        async with there.stream("GET", f"{path}/events") as events:
            lines = events.aiter_lines()
            progress = [json.loads(await data(lines)) for _ in range(3)]
            assert progress[0]["iteration"] < progress[2]["iteration"]
            cancelled_at = time.monotonic()
            assert (await there.delete(path)).status_code == 204
            while await first.metric("gradwire_optimisations"):
                assert time.monotonic() - cancelled_at < 5
            tell("seconds until it has stopped elsewhere", time.monotonic() - cancelled_at)
            while "state" not in (last := json.loads(await data(lines))):
                pass
            assert last["state"] == "cancelled"
        assert (await here.get(path)).json()["state"] == "cancelled"


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_events_pass_through_nginx_as_they_come(tmp_path):
    store: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}"}
    async with fleet(tmp_path, 2, **store, **EXACT) as servers, servers.client() as client:
        path = (await client.post("/v1/minimize", json=ENDLESS)).headers["location"]
        async with client.stream("GET", f"{path}/events") as events:
            lines = events.aiter_lines()
            for _ in range(3):
                await asyncio.wait_for(data(lines), 10)
        assert (await client.delete(path)).status_code == 204


async def data(lines):
    """The data of the next event."""
    async for line in lines:
        if line.startswith("data: "):
            return line.removeprefix("data: ")
    raise AssertionError("the events have ended")
