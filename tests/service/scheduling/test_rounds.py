"""Bursts of requests."""

import asyncio
from itertools import pairwise

import pytest
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Rounds
from gradwire_service.scheduling.rounds import Timed

from tests.clock import Clock

#: What a request takes of the event loop, and a round where there are several tenants, or one.
SECONDS, SEVERAL, ONE = 0.0005, 0.001, 0.02


@pytest.fixture
def clock():
    return Clock()


async def beside_another(clock, most_seconds=60):
    """Rounds in which another tenant takes part."""
    rounds = Rounds(most_seconds, clock)
    await ask(rounds, clock, tenant="another", seconds=0)
    return rounds


async def ask(rounds, clock, log=None, name="", tenant="", seconds=SECONDS):
    """Run a request that blocks the event loop for ``seconds`` and return the outcome."""

    async def answer():
        clock.advance(seconds)  # as work on the event loop does
        if log is not None:
            log.append(name)
        return "taken"

    try:
        return await rounds.serve(tenant, answer())
    except RequestError as refusal:
        return refusal.code


@pytest.mark.parametrize(("alone", "most"), [(False, SEVERAL), (True, ONE)])
async def test_a_burst_of_requests_does_not_starve_the_event_loop(clock, alone, most):
    rounds = await beside_another(clock)
    await ask(rounds, clock)
    if alone:
        clock.advance(2)
        await ask(rounds, clock)
        await asyncio.sleep(0)
    order: list[str] = []
    looks: list[float] = []

    async def health():
        while len(order) < 60:
            looks.append(clock())
            await asyncio.sleep(0)

    watch = asyncio.create_task(health())
    tasks = [asyncio.create_task(ask(rounds, clock, order, f"{i}")) for i in range(60)]
    assert await asyncio.gather(*tasks) == ["taken"] * 60
    await watch
    assert order == [f"{i}" for i in range(60)]
    steps = [after - before for before, after in pairwise(looks)]
    assert max(steps) <= 2 * most + SECONDS  # at first less is expected of each
    assert max(steps) >= most
    assert rounds.waiting == 0


async def test_long_requests_have_rounds_of_their_own(clock):
    rounds = Rounds(60, clock)
    order: list[str] = []
    looks: list[int] = []

    async def health():
        while len(order) < 40:
            looks.append(len(order))
            await asyncio.sleep(0)

    watch = asyncio.create_task(health())
    tasks = [asyncio.create_task(ask(rounds, clock, order, seconds=0.05)) for _ in range(40)]
    await asyncio.gather(*tasks)
    await watch
    steps = [after - before for before, after in pairwise(looks)]
    assert max(steps[len(steps) // 2 :]) == 1  # once it is known what they take


async def test_requests_that_would_wait_too_long_are_refused(clock):
    rounds = await beside_another(clock, 0.0205)
    outcomes = await asyncio.gather(*[ask(rounds, clock) for _ in range(100)])
    taken = outcomes.count("taken")
    # The first round ends at 1.5 ms, when the others begin to wait, and none begins after 22 ms.
    assert outcomes == ["taken"] * taken + ["overloaded"] * (100 - taken)
    assert 0.022 <= taken * SECONDS <= 0.022 + SEVERAL + SECONDS
    assert rounds.waiting == 0
    assert await ask(rounds, clock) == "taken"


async def test_sequential_requests_are_not_a_burst(clock):
    rounds = Rounds(0, clock)
    assert [await ask(rounds, clock) for _ in range(30)] == ["taken"] * 30


async def test_the_tenant_that_takes_least_of_the_event_loop_goes_first(clock):
    rounds = Rounds(60, clock)
    order: list[str] = []
    dear = [ask(rounds, clock, order, "dear", "a", 0.1) for _ in range(200)]
    cheap = [ask(rounds, clock, order, "cheap", "b", 0.00001) for _ in range(100)]
    tasks = [asyncio.create_task(one) for one in (*dear, *cheap)]
    assert await asyncio.gather(*tasks) == ["taken"] * 300
    assert order[0] == "dear"
    assert order[1:].index("dear") >= 99  # a has had 0.1 s before, and b takes 1 ms in all


async def test_who_has_had_least_does_not_wait_for_a_round(clock):
    rounds = Rounds(60, clock)
    order: list[str] = []
    for _ in range(50):
        await ask(rounds, clock, tenant="many")
    many = [ask(rounds, clock, order, "many", "many") for _ in range(20)]
    one = ask(rounds, clock, order, "one", "one")
    tasks = [asyncio.create_task(each) for each in (*many[:10], one, *many[10:])]
    await asyncio.sleep(0)
    assert "one" in order  # in this round, for which others were too many
    assert rounds.waiting > 10
    await asyncio.gather(*tasks)
    assert order.index("one") <= SEVERAL / SECONDS + 1


async def test_the_time_of_a_request_is_that_of_its_steps(clock):
    """Not that of others while it waits; errors pass through."""

    async def answer(error: Exception | None) -> str:
        clock.advance(1.0)
        await asyncio.sleep(0)
        clock.advance(2.0)
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            clock.advance(4.0)
        if error is not None:
            raise error
        return "done"

    async def wait(timed: Timed[str]) -> str:
        return await timed

    for error in None, ValueError("wrong"):
        timed = Timed(answer(error), clock)
        task = asyncio.create_task(wait(timed))
        for _ in range(3):
            await asyncio.sleep(0)
            clock.advance(100.0)
        assert timed.seconds == 3.0
        task.cancel()
        (ended,) = await asyncio.gather(task, return_exceptions=True)
        assert ended == ("done" if error is None else error)
        assert timed.seconds == 7.0


async def test_those_who_wait_are_forgotten_when_they_go(clock):
    rounds = await beside_another(clock)
    tasks = [asyncio.create_task(ask(rounds, clock)) for _ in range(40)]
    await asyncio.sleep(0)
    for task in tasks[20:30]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes.count("taken") == 30
    assert rounds.waiting == 0
    assert await ask(rounds, clock) == "taken"
