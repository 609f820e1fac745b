"""SIGTERM loses no request: those in flight are answered, then the process exits with 0.

``test_crash`` checks the same of a fleet.
"""

import asyncio
import os
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import replica
from tests.fleet.processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

IN_FLIGHT = 200


@pytest.mark.parametrize("to", ["the watchdog", "all processes"])
async def test_requests_in_flight_are_answered(tmp_path, tell, to):
    mix = [asks.slow(20, seed) for seed in range(4)]
    async with replica(tmp_path, drain_seconds=0.5, queue_requests=IN_FLIGHT) as alone:
        with alone.suspended(*alone.workers):  # they answer only afterwards
            loading = load.closed(alone.port, mix, clients=IN_FLIGHT, each=1)
            loaded = asyncio.create_task(loading)
            await until(alone.metric, "gradwire_in_flight", least=IN_FLIGHT)
            for pid in alone.family() if to == "all processes" else [alone.process.pid]:
                os.kill(pid, signal.SIGTERM)
        status = await alone.ended()
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert len(answers.good) == IN_FLIGHT
        assert status == 0
