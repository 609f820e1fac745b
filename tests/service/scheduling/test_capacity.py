"""Requests in flight, and draining."""

import asyncio

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Bounds, Capacity, Queue, Rounds

from tests.clock import Clock


async def test_a_draining_replica_accepts_work_until_it_refuses():
    capacity, done = Capacity(Queue(1, Bounds(1, 100))), asyncio.Event()
    capacity.draining = True
    working = asyncio.create_task(capacity.serve(done.wait()))
    await asyncio.sleep(0)
    assert capacity.in_flight == 1
    capacity.refusing = True
    with pytest.raises(RequestError) as caught:
        await capacity.serve(done.wait())
    assert (caught.value.code, caught.value.retry_after_seconds) == ("draining", 1)
    done.set()
    assert await working
    assert capacity.in_flight == 0


async def test_those_who_wait_for_their_turn_are_in_flight():
    clock = Clock()
    rounds = Rounds(60, clock)
    capacity = Capacity(Queue(1, Bounds(1, 100)), rounds=rounds)

    async def answer():
        clock.advance(1)

    tasks = [asyncio.create_task(rounds.serve("", capacity.serve(answer()))) for _ in range(3)]
    await asyncio.sleep(0)
    assert capacity.in_flight == 2
    await asyncio.gather(*tasks)
    assert capacity.in_flight == 0
