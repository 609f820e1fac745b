"""SIGTERM loses no request: what is in flight is answered, then the process ends with 0."""

import asyncio
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet, replica
from tests.fleet.processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

IN_FLIGHT = 200
#: The longest request here, the time in which new work is still taken, and some air.
GRACE_SECONDS = 8.0


async def test_what_is_in_flight_is_answered(tmp_path, tell):
    async with replica(tmp_path, pool_threads=2, drain_seconds=0.5) as alone:
        holding = asyncio.create_task(
            load.closed(alone.port, [asks.waiting(2000)], clients=2, each=1)
        )
        await until(alone.metric, "gradwire_queued", least=2)
        waiting = [asks.slow(3, seed) for seed in range(8)]
        loaded = asyncio.create_task(load.closed(alone.port, waiting, clients=IN_FLIGHT, each=1))
        await until(alone.metric, "gradwire_in_flight", least=IN_FLIGHT + 2)
        alone.send(signal.SIGTERM)
        status = await alone.ended(GRACE_SECONDS)
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert [answer.code for answer in (await holding).all] == ["deadline_exceeded"] * 2
        assert status == 0


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_a_fleet_goes_on_while_one_replica_drains(tmp_path, tell):
    async with fleet(tmp_path, 3, drain_seconds=0.5, store=f"sqlite:{tmp_path}/kept.db") as servers:
        async with servers.client() as client:
            mix = await asks.mixed(client)
        enough = asyncio.Event()
        loaded = asyncio.create_task(
            load.closed(servers.port, mix, clients=IN_FLIGHT, until=enough)
        )
        await asyncio.sleep(1)
        leaving, *staying = servers.replicas
        leaving.send(signal.SIGTERM)
        status = await leaving.ended(GRACE_SECONDS)
        await asyncio.sleep(1)
        enough.set()
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert len(answers.good) > 5 * IN_FLIGHT
        assert status == 0
        for other in staying:
            assert other.process.poll() is None
