"""How the process drains, by a clock."""

import asyncio
import math
import signal

import pytest
import uvicorn
from gradwire_service.scheduling import Bounds, Capacity, Queue
from gradwire_service.serving import Server

from tests.clock import Clock


async def no_app(scope, receive, send):
    raise AssertionError


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server(clock):
    config = uvicorn.Config(no_app, log_config=None, ws="none")
    config.load()
    capacity = Capacity(Queue(1, Bounds(1, 1)))
    return Server(config, capacity, 30.0, None, clock)


def drains_by_signal(server):
    server.handle_exit(signal.SIGTERM, None)


def drains_by_itself(server):
    server._capacity.fail("a fault")


@pytest.mark.parametrize("begin", [drains_by_signal, drains_by_itself])
async def test_work_is_accepted_for_a_while_and_the_process_stops_when_none_is_left(
    server, clock, begin
):
    capacity, done = server._capacity, asyncio.Event()
    working = asyncio.create_task(capacity.serve(done.wait()))
    await asyncio.sleep(0)
    assert not await server.on_tick(1)
    begin(server)
    assert not await server.on_tick(2)
    clock.advance(29.5)
    assert not await server.on_tick(3)
    assert (capacity.draining, capacity.refusing) == (True, False)
    clock.advance(0.5)
    assert not await server.on_tick(4)
    assert capacity.refusing
    clock.advance(math.inf)
    assert not await server.on_tick(5)
    done.set()
    await working
    assert await server.on_tick(6)


@pytest.mark.parametrize("sent", [[signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
async def test_an_interrupt_or_a_second_signal_stops_it_at_once(server, sent):
    working = asyncio.create_task(server._capacity.serve(asyncio.Event().wait()))
    await asyncio.sleep(0)
    for number in sent:
        assert not await server.on_tick(1)
        server.handle_exit(number, None)
    assert await server.on_tick(2)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
