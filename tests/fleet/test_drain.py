"""SIGTERM loses no request: what is in flight is answered, then the process ends with 0."""

import asyncio
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import replica
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
