"""SIGKILL of one replica is nothing that a client sees."""

import asyncio
import signal
import sys

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet
from tests.fleet.processes import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
]

#: A second: enough that several are under way at any time, and that a replica can start beside.
RATE = 150.0


async def test_a_killed_replica_is_missed_by_nobody(tmp_path, tell):
    async with fleet(tmp_path, 3, store=f"sqlite:{tmp_path}/kept.db") as servers:
        async with servers.client() as client:
            mix = await asks.mixed(client)
        enough = asyncio.Event()
        loading = load.opened(servers.port, mix, rate=RATE, seconds=60, until=enough)
        loaded = asyncio.create_task(loading)
        killed = servers.replicas[0]
        for _ in range(2):
            await asyncio.sleep(1)
            killed.send(signal.SIGKILL)
            assert await killed.ended() == -signal.SIGKILL
            await asyncio.sleep(1)
            await killed.start().listening()
            await until(killed.served, least=1)
        enough.set()
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert {answer.ask for answer in answers.good} == {ask.name for ask in mix}
