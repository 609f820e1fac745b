"""Draining, and bursts of requests."""

import asyncio
from itertools import pairwise

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Bounds, Capacity, Queue

from tests.clock import Clock

SECONDS = 0.01


def capacity_of(clock, **bounds):
    return Capacity(Queue(1, Bounds(1, 100, **bounds)), clock=clock)


@pytest.fixture
def clock():
    return Clock()


async def test_a_draining_replica_accepts_work_until_it_refuses(clock):
    capacity = capacity_of(clock)
    capacity.draining = True
    await capacity.enter("")
    capacity.refusing = True
    with pytest.raises(RequestError) as caught:
        await capacity.enter("")
    assert (caught.value.code, caught.value.retry_after_seconds) == ("draining", 1)
    capacity.leave("")
    assert capacity.in_flight == 0


async def ask(capacity, clock, log=None, name="", tenant="", seconds=SECONDS):
    """Run a request that blocks the event loop for ``seconds`` and return the outcome."""
    try:
        await capacity.enter(tenant)
    except RequestError as refusal:
        return refusal.code
    clock.advance(seconds)  # as work on the event loop does
    capacity.leave(tenant, seconds)
    if log is not None:
        log.append(name)
    return "taken"


async def test_a_burst_of_requests_does_not_starve_the_event_loop(clock):
    capacity = capacity_of(clock)
    order: list[str] = []
    looks: list[int] = []

    async def health():
        while len(order) < 60:
            looks.append(len(order))
            await asyncio.sleep(0)

    watch = asyncio.create_task(health())
    tasks = [asyncio.create_task(ask(capacity, clock, order, f"{i}")) for i in range(60)]
    assert await asyncio.gather(*tasks) == ["taken"] * 60
    await watch
    assert order == [f"{i}" for i in range(60)]
    assert max(after - before for before, after in pairwise(looks)) == 16
    assert capacity.in_flight == 0


async def test_requests_that_would_wait_too_long_are_refused(clock):
    capacity = capacity_of(clock, seconds=0.205)
    outcomes = await asyncio.gather(*[ask(capacity, clock) for _ in range(100)])
    # The first round ends at 0.16 s. The others begin to wait then, and go in until 0.365 s.
    assert outcomes == ["taken"] * 37 + ["overloaded"] * 63
    assert capacity.in_flight == 0
    assert await ask(capacity, clock) == "taken"


async def test_sequential_requests_are_not_a_burst(clock):
    capacity = capacity_of(clock, seconds=0)
    assert [await ask(capacity, clock) for _ in range(30)] == ["taken"] * 30


async def test_the_tenant_that_takes_least_of_the_event_loop_goes_first(clock):
    capacity = capacity_of(clock, seconds=60)
    order: list[str] = []
    dear = [ask(capacity, clock, order, "dear", "a", 0.1) for _ in range(200)]
    cheap = [ask(capacity, clock, order, "cheap", "b", 0.001) for _ in range(100)]
    tasks = [asyncio.create_task(one) for one in (*dear, *cheap)]
    assert await asyncio.gather(*tasks) == ["taken"] * 300
    assert order[:16] == ["dear"] * 16
    assert order[16:].index("dear") >= 99  # a has had 1.6 s before, and b takes 0.1 s in all


async def test_those_who_wait_are_forgotten_when_they_go(clock):
    capacity = capacity_of(clock, seconds=60)
    tasks = [asyncio.create_task(ask(capacity, clock)) for _ in range(40)]
    await asyncio.sleep(0)
    for task in tasks[20:30]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes.count("taken") == 30
    assert capacity.in_flight == 0
    assert await ask(capacity, clock) == "taken"
