"""Draining, and how much may come at once."""

import asyncio
import time

import pytest
from gradwire_service.capacity import Bounds, Capacity, Queue
from gradwire_service.problems import Refusal


@pytest.fixture
def capacity():
    capacity = Capacity(Queue(1, Bounds(1, 100)))
    yield capacity
    capacity.close()


async def test_a_draining_replica_takes_work_until_it_refuses(capacity):
    capacity.draining = True
    capacity.enter()
    capacity.refusing = True
    with pytest.raises(Refusal) as caught:
        capacity.enter()
    assert (caught.value.code, caught.value.retry_after_seconds) == ("draining", 1)
    capacity.leave()
    assert capacity.in_flight == 0


async def ask(capacity):
    """What becomes of a request that takes the event loop a while."""
    try:
        capacity.enter()
    except Refusal as refusal:
        return refusal.code
    time.sleep(0.01)  # noqa: ASYNC251 - as work on the event loop does
    capacity.leave()
    return "taken"


async def test_of_many_requests_at_once_those_that_would_wait_long_are_refused(capacity):
    outcomes = await asyncio.gather(*[ask(capacity) for _ in range(30)])
    assert outcomes == ["taken"] * 16 + ["overloaded"] * 14
    assert await ask(capacity) == "taken"


async def test_requests_one_after_the_other_are_not_at_once(capacity):
    assert [await ask(capacity) for _ in range(30)] == ["taken"] * 30
