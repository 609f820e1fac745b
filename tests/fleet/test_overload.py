"""Beyond its capacity, the service answers what it accepts and refuses the rest, in words."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import Replica, replica
from tests.fleet.load import Answers, percentile
from tests.fleet.processes import until
from tests.fleet.sampler import FAILED, sampling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

Tell: TypeAlias = Callable[[str, object], None]

CLIENTS = 64
#: Worker processes, and requests that may wait for one.
CORES, WAITING = 2, 16
#: Memory per open connection (14 KB measured). The allocator keeps it for the next connection,
#: and the next load needs no more.
CONNECTION_BYTES = 16 << 10


@pytest.fixture(scope="module")
async def alone(tmp_path_factory):
    """A server that has had as many connections as it will have, and has a short queue."""
    folder = tmp_path_factory.mktemp("overload")
    async with replica(folder, cores=CORES, queue_requests=WAITING) as alone:
        await load.closed(alone.port, [asks.slow(1), asks.smooth(10, 0)], clients=CLIENTS, each=4)
        yield alone


async def test_what_exceeds_the_queue_is_refused_at_once(alone):
    longer = [asks.slow(20, seed) for seed in range(4)]
    with alone.suspended(*alone.workers):  # they answer only afterwards
        loaded = asyncio.create_task(load.closed(alone.port, longer, clients=CLIENTS, each=1))
        await until(alone.metric, "gradwire_queued", least=1)
        refusals = {"route": "/v1/evaluate", "status": "503"}
        least = CLIENTS - WAITING - 2 * CORES
        await until(partial_metric(alone, **refusals), least=least)
    answers = await loaded
    assert answers.failures.keys() == {"overloaded"}
    assert all(int(answer.retry_after or 0) > 0 for answer in answers.refused)
    assert WAITING <= len(answers.good) <= CLIENTS - least


def partial_metric(server: Replica, **labels: str) -> Callable[[], Awaitable[float]]:
    """The number of requests with these labels."""
    return lambda: server.metric("gradwire_requests_total", **labels)


@pytest.mark.parametrize("work", ["long", "short"])
async def test_many_clients_are_answered_or_refused(alone, tell, work):
    mix = [asks.smooth(10, seed) for seed in range(4)]
    if work == "long":
        mix += [asks.slow(20, seed) for seed in range(4)]
    loading = load.closed(alone.port, mix, clients=CLIENTS, each=8)
    answers = await observed(alone, loading, tell)
    assert set(answers.failures) <= {"overloaded"}
    assert all(int(answer.retry_after or 0) > 0 for answer in answers.refused)
    assert answers.good


async def observed(server: Replica, loading: Awaitable[Answers], tell: Tell) -> Answers:
    """Run a load, and check that health checks succeed meanwhile and memory is released."""
    before = server.figures()
    async with sampling("/healthz", [server.port]) as samples:
        answers = await loading
    seconds = samples.served
    tell("overloaded", answers)
    worst = [f"{1000 * one:.0f}" for one in sorted(seconds)[-8:]]
    healthy = percentile(0.99, seconds)
    tell("health", f"p99 {1000 * healthy:.1f} ms of {len(seconds)}, worst {', '.join(worst)} ms")
    after = server.figures()
    tell("memory", f"{before.resident_bytes} before, {after.resident_bytes} after")
    tell("connections", answers.connections)
    assert FAILED not in seconds
    most = 1.1 * before.resident_bytes + CONNECTION_BYTES * answers.connections
    assert after.resident_bytes < most
    return answers
