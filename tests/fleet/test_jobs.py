"""Jobs outlive their replica, and are shown and cancelled by any other."""

import asyncio
import json
import signal
import time
from typing import Any

import pytest

from tests.fleet.fleets import NGINX, fleet, replica
from tests.fleet.processes import until
from tests.service.store.redis_server import REDIS, redis_server

#: Goes on until it is cancelled.
ENDLESS = {
    "program": "sum((x - 1)**2)",
    "variables": {"x": [3.0, 2.0]},
    "method": "sgd",
    "options": {"learning_rate": 1e-9, "maxiter": 10**9},
    "background": True,
}
#: The rounding of NumPy and of machine code differ.
FIT: dict[str, Any] = {
    "program": "mean((x @ w - y)**2)",
    "variables": {"w": [0.0, 0.0], "x": [[1.0, 2.0], [3.0, -1.0]], "y": [1.0, 2.0]},
    "sources": ["w"],
    "method": "adam",
    "background": True,
}
#: Steps of a job that is to be interrupted; more, if it ended before that.
STEPS = 24_000
EXACT: dict[str, Any] = {"machine_code": False, "cores": 1, "processes": 1, "job_processes": 1}


@pytest.fixture(scope="module")
async def servers(tmp_path_factory):
    """Two replicas behind nginx, with Redis."""
    if REDIS is None or NGINX is None:
        pytest.skip("redis-server is not installed or no nginx")
    folder = tmp_path_factory.mktemp("jobs")
    with redis_server(folder) as server:
        async with fleet(folder, 2, store=server.url, **EXACT) as servers:
            yield servers


async def ended(client, path):
    while (job := (await client.get(path)).json())["state"] in ("queued", "running"):  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    return job


async def progressed(client, path, iteration):
    """Wait until a job has made so many iterations, or has ended."""
    while (job := (await client.get(path)).json())["state"] in ("queued", "running"):
        if job["progress"] and job["progress"]["iteration"] >= iteration:
            return
        await asyncio.sleep(0.05)


async def none_runs(server):
    """1 when no optimisation runs on it."""
    return float(not await server.metric("gradwire_optimisations"))


async def test_any_replica_shows_follows_and_cancels_a_job_in_a_file(tmp_path):
    settings: dict[str, Any] = {"store": f"sqlite:{tmp_path / 'jobs.db'}", **EXACT}
    for name in "first", "second":
        (tmp_path / name).mkdir()
    async with (
        replica(tmp_path / "first", **settings) as first,
        replica(tmp_path / "second", **settings) as second,
    ):
        await shown_followed_and_cancelled(first, second)


async def test_any_replica_shows_follows_and_cancels_a_job_in_redis(servers):
    await shown_followed_and_cancelled(*servers.replicas)


async def shown_followed_and_cancelled(first, second):
    """A job that is posted to one replica, and asked for at the other."""
    async with first.client() as here, second.client() as there:
        path = (await here.post("/v1/minimize", json=ENDLESS)).headers["location"]
        await progressed(there, path, 100)
        async with there.stream("GET", f"{path}/events") as events:
            lines = events.aiter_lines()
            progress = [json.loads(await data(lines)) for _ in range(3)]
            assert progress[0]["iteration"] < progress[2]["iteration"]
            assert (await there.delete(path)).status_code == 204
            await until(none_runs, first, least=1)
            while "state" not in (last := json.loads(await data(lines))):
                pass
            assert last["state"] == "cancelled"
        assert (await here.get(path)).json()["state"] == "cancelled"


async def test_events_pass_through_nginx_as_they_come(servers):
    async with servers.client() as client:
        path = (await client.post("/v1/minimize", json=ENDLESS)).headers["location"]
        async with client.stream("GET", f"{path}/events") as events:
            lines = events.aiter_lines()
            for _ in range(3):  # it has no end
                await data(lines)
        assert (await client.delete(path)).status_code == 204


async def test_a_job_goes_on_when_its_replica_is_killed(servers, tell):
    """The same job, not interrupted, runs on the other replica: both end with the same bits."""
    lost, other = servers.replicas
    steps = STEPS
    while True:
        options = {"learning_rate": 1e-6, "maxiter": steps, "gtol": 0.0}
        async with lost.client() as here, other.client() as there:
            posted = [
                client.post("/v1/minimize", json=FIT | {"options": options})
                for client in (here, there)
            ]
            path, whole = [reply.headers["location"] for reply in await asyncio.gather(*posted)]
            await progressed(there, path, steps // 2)
            lost.send(signal.SIGKILL)
            killed_at = time.monotonic()
            job = await ended(there, path)
            expected = await ended(there, whole)
        if job["resumed"]:
            break
        steps *= 2  # it was too quick
        await lost.ended()
        await lost.start().listening()
    tell("seconds from the kill to the end", round(time.monotonic() - killed_at, 1))
    assert job["state"] == "succeeded"
    assert job["result"]["iterations"] == steps
    assert job["result"]["solution"] == expected["result"]["solution"]


async def data(lines):
    """The data of the next event."""
    async for line in lines:
        if line.startswith("data: "):
            return line.removeprefix("data: ")
    raise AssertionError("the events have ended")
