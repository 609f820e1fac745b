"""SIGKILL of one replica is nothing that a client sees."""

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

#: A second: enough that several are under way at any time, and that a replica can start beside.
RATE = 150.0


@pytest.fixture
def store(request, tmp_path):
    """What the replicas share: Redis, or a file where there is none."""
    if REDIS is None:
        return {"store": f"sqlite:{tmp_path}/kept.db"}
    return {"store": request.getfixturevalue("redis_url"), "store_prefix": "test-crash"}


async def test_a_killed_replica_is_missed_by_nobody(tmp_path, store, tell):
    async with fleet(tmp_path, 3, **store) as servers:
        async with servers.client() as client:
            mix = await asks.mixed(client)
        enough = asyncio.Event()
        loading = load.opened(servers.port, mix, rate=RATE, seconds=60, until=enough)
        loaded = asyncio.create_task(loading)
        using_up = asyncio.create_task(use_tapes_up(servers, enough))
        try:
            await asyncio.sleep(1)
            # One that is the home of some program: the others may be that of none of these few.
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
    """Make tapes that answer once, and ask each: nginx repeats a question that was lost."""
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
