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
    await capacity.enter()
    capacity.refusing = True
    with pytest.raises(RequestError) as caught:
        await capacity.enter()
    assert (caught.value.code, caught.value.retry_after_seconds) == ("draining", 1)
    capacity.leave()
    assert capacity.in_flight == 0


async def ask(capacity, clock, log=None, name=""):
    """Run a request that blocks the event loop for ``SECONDS`` and return the outcome."""
    try:
        await capacity.enter()
    except RequestError as refusal:
        return refusal.code
    clock.advance(SECONDS)  # as work on the event loop does
    capacity.leave()
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
    # Rounds of 16 end at 0.16, 0.32 and 0.48 s. The first one turns all others away, who then wait.
    assert outcomes == ["taken"] * 48 + ["overloaded"] * 52
    assert capacity.in_flight == 0
    assert await ask(capacity, clock) == "taken"


async def test_sequential_requests_are_not_a_burst(clock):
    capacity = capacity_of(clock, seconds=0)
    assert [await ask(capacity, clock) for _ in range(30)] == ["taken"] * 30
