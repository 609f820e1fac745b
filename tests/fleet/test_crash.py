"""Clients do not notice that one replica of three is killed, hangs or is stopped."""

import asyncio
import os
import signal
import sys
from contextlib import ExitStack, asynccontextmanager

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import NGINX, fleet
from tests.fleet.processes import until
from tests.service.store.redis_server import REDIS

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(NGINX is None, reason="nginx is not installed"),
]

CLIENTS = 8
#: After each answer: what happens takes seconds, in which there need not be thousands.
PAUSE_SECONDS = 0.05
#: Answers between two events.
MORE = 30
#: The shell's exit status of a process killed by SIGKILL.
KILLED = 128 + signal.SIGKILL


@pytest.fixture(scope="module")
def store(request, tmp_path_factory):
    """The shared store of the replicas: Redis, or a file if Redis is not installed."""
    if REDIS is None:
        return {"store": f"sqlite:{tmp_path_factory.mktemp('store')}/kept.db"}
    return {"store": request.getfixturevalue("redis_url"), "store_prefix": "test-crash"}


@pytest.fixture(scope="module")
async def servers(tmp_path_factory, store):
    """Three replicas behind nginx; each test leaves three that run."""
    async with fleet(tmp_path_factory.mktemp("fleet"), 3, drain_seconds=0.5, **store) as servers:
        yield servers


@asynccontextmanager
async def under_load(servers, tell, mix):
    """Requests within the context: none fails, and each kind is answered."""
    enough = asyncio.Event()
    loading = load.closed(servers.port, mix, clients=CLIENTS, pause=PAUSE_SECONDS, until=enough)
    loaded = asyncio.create_task(loading)
    using_up = asyncio.create_task(use_tapes_up(servers, enough))
    try:
        yield
    finally:
        enough.set()
        await asyncio.wait([loaded, using_up])
    answers = await loaded
    tell("answers", answers)
    tell("tapes used up", await using_up)
    assert answers.failures == {}
    assert {answer.ask for answer in answers.good} == {ask.name for ask in mix}
    tell("slowest", f"{max(answer.seconds for answer in answers.all):.1f} s")


async def mixed(servers):
    """Many programs, so that each replica gets some."""
    programs = [f"sum(c * sin(x) + x * x) + {n}" for n in range(20)]
    async with servers.client() as client:
        mix = await asks.mixed(client)
    return mix + [asks.smooth(10, 1, program=program) for program in programs]


async def served(*servers):
    """The gradients that these have answered."""
    return sum([await server.served() for server in servers])


async def test_clients_do_not_notice_a_killed_replica(servers, tell):
    async with under_load(servers, tell, await mixed(servers)):
        await until(served, *servers.replicas, least=MORE + await served(*servers.replicas))
        # Kill the home of some program; other replicas may be the home of none of these few.
        asked = [await replica.served() for replica in servers.replicas]
        killed = servers.replicas[asked.index(max(asked))]
        with killed.suspended(*killed.workers):  # so that there are requests in flight
            await until(killed.metric, "gradwire_queued", least=1)
            killed.send(signal.SIGKILL)
            assert await killed.ended() == -signal.SIGKILL
        others = [replica for replica in servers.replicas if replica is not killed]
        await until(served, *others, least=MORE + await served(*others))
        await killed.start().listening()
        await until(killed.served, least=1)


async def test_clients_do_not_notice_a_hung_replica(servers, tell):
    stuck = servers.replicas[0]
    stuck.stop()
    stuck.change(watchdog_seconds=4)
    await stuck.start().listening()
    async with under_load(servers, tell, await mixed(servers)):
        await until(stuck.served, least=1)
        os.kill(stuck.pid, signal.SIGSTOP)
        assert await stuck.ended() == KILLED
        stuck.change(watchdog_seconds=600)
        await stuck.start().listening()
        await until(stuck.served, least=1)


async def test_clients_do_not_notice_a_replica_that_is_stopped(servers, tell):
    async with under_load(servers, tell, await mixed(servers)):
        with ExitStack() as stack:  # so that there are requests in flight
            for replica in servers.replicas:
                stack.enter_context(replica.suspended(*replica.workers))
            leaving = await first_with_a_queue(servers.replicas)
            leaving.send(signal.SIGTERM)
        assert await leaving.ended() == 0
        staying = [replica for replica in servers.replicas if replica is not leaving]
        await until(served, *staying, least=MORE + await served(*staying))
    for other in staying:
        assert other.process.poll() is None
    await leaving.start().listening()


async def first_with_a_queue(replicas):
    """Wait until a request waits in one of these, and return it."""
    while True:
        for replica in replicas:
            if await replica.metric("gradwire_queued"):
                return replica


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
            await asyncio.sleep(PAUSE_SECONDS)
    return times
