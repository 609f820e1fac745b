"""SIGTERM loses no request: those in flight are answered, then the process exits with 0."""

import asyncio
import os
import signal
import sys
from typing import Any

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet, replica
from tests.fleet.processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

IN_FLIGHT = 200
#: More, since the first ones end before the last ones arrive.
SENT = 300
#: The longest request, plus the time in which new work is still accepted, plus a margin.
GRACE_SECONDS = 30.0
LONG = [asks.slow(100, seed) for seed in range(4)]
#: Nothing is refused because of a long queue; other tests check that.
PATIENT: dict[str, Any] = {
    "drain_seconds": 0.5,
    "queue_requests": SENT,
    "queue_seconds": 60,
    "default_timeout_ms": 60_000,
}


async def test_requests_in_flight_are_answered(tmp_path, tell):
    async with replica(tmp_path, **PATIENT) as alone:
        loading = load.closed(alone.port, LONG, clients=SENT, each=1, apart=0.001)
        loaded = asyncio.create_task(loading)
        await until(alone.metric, "gradwire_in_flight", least=IN_FLIGHT)
        alone.send(signal.SIGTERM)
        status = await alone.ended(GRACE_SECONDS)
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert len(answers.good) == SENT
        assert status == 0


async def test_a_signal_to_all_processes_loses_no_request(tmp_path):
    async with replica(tmp_path, **PATIENT) as alone:
        longer = [asks.slow(2000, seed) for seed in range(4)]
        loaded = asyncio.create_task(load.closed(alone.port, longer, clients=4, each=1))
        await until(alone.metric, "gradwire_in_flight", least=4)
        for pid in alone.family():
            os.kill(pid, signal.SIGTERM)
        assert await alone.ended(GRACE_SECONDS) == 0
        answers = await loaded
        assert answers.failures == {}
        assert len(answers.good) == 4


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
async def test_a_fleet_answers_while_one_replica_drains(tmp_path, tell):
    store = f"sqlite:{tmp_path}/kept.db"
    async with fleet(tmp_path, 3, store=store, **PATIENT) as servers:
        async with servers.client() as client:
            mix = [*LONG, *[await asks.recorded(client, 10, seed) for seed in range(4)]]
        enough = asyncio.Event()
        loading = load.closed(servers.port, mix, clients=IN_FLIGHT, until=enough, apart=0.005)
        loaded = asyncio.create_task(loading)
        leaving, *staying = servers.replicas
        await until(leaving.metric, "gradwire_in_flight", least=IN_FLIGHT / 4)
        leaving.send(signal.SIGTERM)
        status = await leaving.ended(GRACE_SECONDS)
        await asyncio.sleep(1)
        enough.set()
        answers = await loaded
        tell("answers", answers)
        assert answers.failures == {}
        assert len(answers.good) > IN_FLIGHT
        assert status == 0
        for other in staying:
            assert other.process.poll() is None
