"""Clients do not notice SIGKILL of one replica."""

import asyncio
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet
from tests.fleet.processes import until
from tests.service.store.redis_server import REDIS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
]

#: Requests a second: enough for several to run at any time, few enough for a replica to start.
RATE = 150.0


@pytest.fixture
def store(request, tmp_path):
    """The shared store of the replicas: Redis, or a file if Redis is not installed."""
    if REDIS is None:
        return {"store": f"sqlite:{tmp_path}/kept.db"}
    return {"store": request.getfixturevalue("redis_url"), "store_prefix": "test-crash"}


async def test_clients_do_not_notice_a_killed_replica(tmp_path, store, tell):
    async with fleet(tmp_path, 3, **store) as servers:
        async with servers.client() as client:
            mix = await asks.mixed(client)
        enough = asyncio.Event()
        loading = load.opened(servers.port, mix, rate=RATE, seconds=60, until=enough)
        loaded = asyncio.create_task(loading)
        using_up = asyncio.create_task(use_tapes_up(servers, enough))
        try:
            await asyncio.sleep(1)
            # Kill the home of some program; other replicas may be the home of none of these few.
            asked = [await replica.served() for replica in servers.replicas]
            killed = servers.replicas[asked.index(max(asked))]
            killed.send(signal.SIGKILL)
            assert await killed.ended() == -signal.SIGKILL
            await asyncio.sleep(1)
            await killed.start().listening()
            await until(killed.served, least=1)
        finally:
            enough.set()
            await asyncio.wait([loaded, using_up])
        answers = await loaded
        tell("answers", answers)
        tell("tapes used up", await using_up)
        assert answers.failures == {}
        assert {answer.ask for answer in answers.good} == {ask.name for ask in mix}


async def use_tapes_up(servers, enough) -> int:
    """Record single-use tapes and use each: nginx retries requests that were lost."""
    times = 0
    async with servers.client() as client:
        while not enough.is_set():
            times += 1
            asked = {"program": "y = sum(x ** 3)", "variables": {"x": [1.0, float(times)]}}
            made = await client.post("/v1/tapes", json=asked)
            assert made.status_code == 201, made.text
            path = f"/v1/tapes/{made.json()['tape']}/gradient"
            found = await client.post(path, json={"target": "y", "sources": "x"})
            assert found.status_code == 200, found.text
            assert found.json()["gradients"] == [3.0, 3.0 * times * times]
    return times
