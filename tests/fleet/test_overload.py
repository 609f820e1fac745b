"""At ten times its capacity, the service stays quick and refuses the rest immediately."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import pytest

from tests.fleet import asks, load
from tests.fleet.fleets import Replica, replica
from tests.fleet.load import Answers, percentile
from tests.fleet.sampler import sampling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

Tell: TypeAlias = Callable[[str, object], None]

#: Longer in ``make fleet-test``.
SECONDS = float(os.environ.get("FLEET_OVERLOAD_SECONDS", "6"))
TIMES = 10
CLIENTS = 64
#: Threads of the pool: this number of requests can run without waiting.
THREADS = 2
QUEUE_SECONDS = 1.0
HEALTH_SECONDS = 0.1
#: Memory per open connection (14 KB measured). The allocator keeps it for the next connection,
#: and the next load needs no more.
CONNECTION_BYTES = 16 << 10


async def test_accepted_long_work_is_quick_and_the_rest_is_refused(tmp_path, tell):
    mix = [asks.smooth(10, 0), *(asks.slow(100, seed) for seed in range(4))]
    async with replica(tmp_path, cores=THREADS, queue_seconds=QUEUE_SECONDS) as alone:
        await load.closed(alone.port, mix, clients=4, seconds=1)
        unloaded = await load.closed(alone.port, mix, clients=THREADS, seconds=1.5)
        full = await load.closed(alone.port, mix, clients=4, seconds=1.5)
        rate = TIMES * len(full.good) / full.seconds
        loading = load.opened(alone.port, mix, rate=rate, seconds=SECONDS)
        tell("unloaded", unloaded)
        tell("at capacity", full)
        answers = await observed(alone, loading, tell)
        unloaded_again = await load.closed(alone.port, mix, clients=THREADS, seconds=1.5)
        tell("unloaded again", unloaded_again)
        assert set(answers.failures) <= {"overloaded", "rate_limited"}
        assert all(int(answer.retry_after or 0) > 0 for answer in answers.refused)
        longest = max(one.percentile(0.99) for one in (unloaded, unloaded_again))
        assert answers.percentile(0.99) <= 2 * longest + QUEUE_SECONDS
        assert len(answers.good) / answers.seconds > len(full.good) / full.seconds / 2


async def test_many_clients_with_short_work_share_the_capacity(tmp_path, tell):
    mix = [asks.smooth(10, seed) for seed in range(4)]
    async with replica(tmp_path) as alone:
        await load.closed(alone.port, mix, clients=4, seconds=1)
        began = alone.cpu_seconds()
        full = await load.closed(alone.port, mix, clients=4, seconds=1.5)
        busy = alone.cpu_seconds()
        loading = load.closed(alone.port, mix, clients=CLIENTS, seconds=SECONDS)
        tell("at capacity", full)
        answers = await observed(alone, loading, tell)
        assert set(answers.failures) <= {"overloaded", "rate_limited"}
        assert all(int(answer.retry_after or 0) > 0 for answer in answers.refused)
        each = (alone.cpu_seconds() - busy) / len(answers.good)
        assert each < 2 * (busy - began) / len(full.good)


async def observed(server: Replica, loading: Awaitable[Answers], tell: Tell) -> Answers:
    """Run a load, and check that health checks succeed meanwhile."""
    before, began, worked = server.figures(), time.perf_counter(), server.cpu_seconds()
    async with sampling("/healthz", [server.port]) as samples:
        answers = await loading
    seconds = samples.served
    tell("overloaded", answers)
    # The CPU share that the machine left to a server that needed at least one core.
    share = min((server.cpu_seconds() - worked) / (time.perf_counter() - began), 1.0)
    worst = [f"{1000 * one:.0f}" for one in sorted(seconds)[-8:]]
    healthy = percentile(0.99, seconds)
    tell("health", f"p99 {1000 * healthy:.1f} ms of {len(seconds)}, worst {', '.join(worst)} ms")
    await asyncio.sleep(0.5)
    after = server.figures()
    tell("memory", f"{before.resident_bytes} before, {after.resident_bytes} after")
    tell("connections", answers.connections)
    tell("share of a processor", share)
    assert healthy * share < HEALTH_SECONDS
    most = 1.1 * before.resident_bytes + CONNECTION_BYTES * answers.connections
    assert after.resident_bytes < most
    return answers
