"""The bounded queue: concurrency, fairness between tenants, deadlines and limits."""

import asyncio
import random
from typing import Any

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.problems import RequestError
from gradwire_service.scheduling import Bounds, Deadline, GaveWay, Lanes, Queue
from gradwire_service.scheduling.lanes import SHORT_SECONDS
from gradwire_service.scheduling.queue import LONG_SECONDS
from gradwire_service.scheduling.queued_task import GRACE_SECONDS, TICK_SECONDS
from gradwire_service.scheduling.shares import Shares

from tests.clock import loop_clock


class TimedExecutor:
    """An executor whose tasks wait for seconds or for an event; killing a task raises an error."""

    alive = True

    def __init__(self, queue, *, stops=True):
        self.queue = queue
        self.stops = stops
        self.done = []
        self.killed = False
        queue.add(self)

    def begin(self, task, answered, progressed):
        self.running = asyncio.ensure_future(self._work(task))
        self.running.add_done_callback(lambda _: answered(self._outcome(task)))

    async def _work(self, task):
        await (asyncio.sleep(task) if isinstance(task, int | float) else task.wait())

    def _outcome(self, task):
        if self.running.cancelled():
            return MemoryError("it was ended")
        self.done.append(task)
        return "done"

    def stop(self):
        if self.stops:
            self.running.cancel()

    def kill(self):
        self.killed = True
        self.running.cancel()


def queue_of(cores, bounds, *arguments, **named):
    given: dict[str, Any] = {"clock": loop_clock(), **named}
    return Queue(cores, bounds, *arguments, **given)


def asked(queue, task, *, deadline=None, nbytes=1, **arguments):
    """A running task."""
    deadline = within(60_000) if deadline is None else deadline
    return asyncio.ensure_future(queue.run(task, deadline, nbytes, **arguments))


def near(seconds):
    """A time at which a timer is due, which may be set a tick later."""
    return pytest.approx(seconds, abs=1.001 * TICK_SECONDS)


def within(milliseconds):
    return Deadline(milliseconds, loop_clock())


async def settled():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_errors_of_a_task_reach_its_caller():
    queue = queue_of(1, Bounds(9, 9))
    hand = TimedExecutor(queue)
    running = asked(queue, 60)
    await settled()
    hand.kill()
    with pytest.raises(MemoryError):
        await running
    assert queue.requests == 0
    assert (await asked(queue, 0)).answer == "done"


@pytest.mark.parametrize(("nbytes", "fits"), [((1, 1, 1), 2), ((80, 30), 1), ((1000,), 1)])
async def test_the_queue_is_bounded_in_requests_and_bytes(nbytes, fits):
    queue, release = queue_of(1, Bounds(1, 100)), asyncio.Event()
    TimedExecutor(queue)
    tasks = [asked(queue, release, nbytes=size) for size in nbytes]
    await settled()
    assert queue.requests == fits
    release.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, RequestError)]
    assert [refusal.code for refusal in refused] == ["overloaded"] * (len(nbytes) - fits)
    assert all(refusal.retry_after_seconds for refusal in refused)
    assert (await asked(queue, 0, nbytes=100)).answer == "done"


async def test_a_request_that_waited_too_long_is_refused():
    queue, release = queue_of(1, Bounds(9, 100, seconds=0.1)), asyncio.Event()
    TimedExecutor(queue)
    first, late = asked(queue, release), asked(queue, 0)
    await asyncio.sleep(0.2)
    release.set()
    await first
    with pytest.raises(RequestError, match="waited") as caught:
        await late
    assert caught.value.code == "overloaded"
    assert caught.value.retry_after_seconds


async def test_a_task_that_ignores_its_deadline_is_killed_after_a_grace_period():
    queue = queue_of(1, Bounds(9, 9))
    hand = TimedExecutor(queue, stops=False)
    begun = loop_clock()()
    with pytest.raises(DeadlineExceeded):
        await asked(queue, 60, deadline=within(50))
    assert loop_clock()() - begun == near(0.05 + GRACE_SECONDS)
    await settled()
    assert hand.killed
    assert queue.requests == 0


async def test_a_running_task_may_extend_its_deadline():
    queue, deadline = queue_of(1, Bounds(9, 9)), within(1)
    hand = TimedExecutor(queue)
    running = asked(queue, 0.2, deadline=deadline)
    await settled()
    deadline.allow(60_000)
    assert (await running).answer == "done"
    assert not hand.killed


async def test_a_running_task_may_shorten_its_deadline():
    """The timeout is in the body, which another thread parses later."""
    queue, deadline = queue_of(1, Bounds(9, 9)), within(60_000)
    hand = TimedExecutor(queue, stops=False)
    running = asked(queue, 60, deadline=deadline)
    await settled()
    begun = loop_clock()()
    await asyncio.to_thread(deadline.allow, 50)
    with pytest.raises(DeadlineExceeded):
        await running
    assert loop_clock()() - begun == near(0.05 + GRACE_SECONDS)
    await settled()
    assert hand.killed


async def test_waiting_counts_against_the_deadline():
    queue, release = queue_of(1, Bounds(9, 9)), asyncio.Event()
    hand = TimedExecutor(queue)
    running = asked(queue, release)
    with pytest.raises(DeadlineExceeded):
        await asked(queue, 0, deadline=within(20), expected_seconds=0)
    release.set()
    await running
    assert hand.done == [release]


async def test_a_cancelled_task_is_stopped_and_killed_if_necessary():
    queue = queue_of(2, Bounds(9, 9))
    willing, deaf = TimedExecutor(queue), TimedExecutor(queue, stops=False)
    deadlines = [within(60_000) for _ in range(2)]
    running = [asked(queue, 60, deadline=deadline) for deadline in deadlines]
    await settled()
    for task in running:
        task.cancel()
    await settled()
    assert queue.requests == 1
    assert all(deadline.remaining_seconds() < 0 for deadline in deadlines)
    await asyncio.sleep(0.99 * GRACE_SECONDS)
    assert (willing.killed, deaf.killed, queue.requests) == (False, False, 1)
    await asyncio.sleep(0.02 * GRACE_SECONDS)
    assert queue.requests == 0
    assert (willing.killed, deaf.killed) == (False, True)


async def test_a_task_cancelled_in_the_queue_never_starts():
    queue, release = queue_of(1, Bounds(9, 9)), asyncio.Event()
    hand = TimedExecutor(queue)
    running, waiting = asked(queue, release), asked(queue, 0)
    await settled()
    waiting.cancel()
    release.set()
    await running
    assert hand.done == [release]
    assert queue.requests == 0


async def test_requests_are_refused_if_the_queue_takes_too_long():
    queue, release = queue_of(1, Bounds(100, 100, 2)), asyncio.Event()
    TimedExecutor(queue)
    running = [asked(queue, release, expected_seconds=1.5) for _ in range(2)]
    await settled()
    with pytest.raises(RequestError) as caught:
        await asked(queue, release, expected_seconds=0.001)
    assert (caught.value.code, caught.value.retry_after_seconds) == ("overloaded", 3)
    release.set()
    await asyncio.gather(*running)
    assert (await asked(queue, 0, expected_seconds=100)).answer == "done"


async def test_requests_that_cannot_start_before_their_deadline_are_refused_immediately():
    queue, release = queue_of(1, Bounds(100, 100)), asyncio.Event()
    TimedExecutor(queue)
    running = [asked(queue, release, expected_seconds=4) for _ in range(2)]
    await settled()
    with pytest.raises(RequestError, match="more than the time left for the request"):
        await asked(queue, release, deadline=within(5000))
    release.set()
    await asyncio.gather(*running)


async def test_unknown_tasks_are_expected_to_take_the_usual_time():
    queue = queue_of(1, Bounds(9, 9))
    TimedExecutor(queue)
    for _ in range(200):
        await asked(queue, 0.01)
    running = [asked(queue, 0) for _ in range(2)]
    await asyncio.sleep(0)
    assert queue._wait_seconds("") == pytest.approx(2 * 0.01, rel=1e-6)
    await asyncio.gather(*running)
    assert queue._wait_seconds("") == 0


async def test_one_tenants_long_queue_does_not_delay_another_tenant():
    queue, release = queue_of(1, Bounds(100, 100, 2)), asyncio.Event()
    TimedExecutor(queue)
    many = asked(queue, release, tenant="many", expected_seconds=9)
    await settled()
    with pytest.raises(RequestError):
        await asked(queue, release, tenant="many")
    few = asked(queue, release, tenant="few", expected_seconds=0.1)
    await settled()
    release.set()
    await asyncio.gather(many, few)


async def test_the_tenant_that_has_had_least_seconds_is_served_next():
    queue, release = queue_of(1, Bounds(100, 100)), asyncio.Event()
    hand = TimedExecutor(queue)
    tasks = [asked(queue, release)]
    tasks += [asked(queue, 3 + i / 10, tenant="long") for i in range(3)]
    tasks += [asked(queue, 1 + i / 10, tenant="short") for i in range(6)]
    await settled()
    release.set()
    await asyncio.gather(*tasks)
    assert hand.done[1:] == [3, 1, 1.1, 1.2, 3.1, 1.3, 1.4, 1.5, 3.2]


@pytest.mark.parametrize("seed", range(3))
async def test_tenants_that_always_ask_get_equal_seconds_whatever_they_ask_for(seed):
    draw = random.Random(seed)
    queue = queue_of(2, Bounds(999, 9999))
    for _ in range(5):
        TimedExecutor(queue)
    had = dict.fromkeys("abc", 0.0)
    end = loop_clock()() + 400.0

    async def ask(tenant, longest, count):
        async def again():
            while loop_clock()() < end:
                seconds = draw.uniform(0.01, longest)
                await asked(queue, seconds, tenant=tenant, deadline=within(1e9))
                had[tenant] += seconds

        await asyncio.gather(*(again() for _ in range(count)))

    await asyncio.gather(ask("a", 0.2, 40), ask("b", 5.0, 6), ask("c", 1.0, 12))
    assert max(had.values()) < 1.1 * min(had.values())


async def test_being_away_saves_nothing_up_and_coming_back_wins_nothing():
    shares = Shares()
    for tenant in "ab":
        shares.enter(tenant)
    shares.serve("a", 10.0)
    shares.serve("b", 3.0)
    shares.serve("b", 3.0)
    shares.enter("c")  # where the one stands that was served last
    assert [shares.of(tenant) for tenant in "abc"] == [10.0, 6.0, 3.0]
    shares.leave("a")
    shares.enter("a")
    assert shares.of("a") == 10.0
    shares.leave("c")
    shares.correct("b", 20.0)
    shares.serve("b", 1.0)
    shares.enter("c")
    assert [shares.of(tenant) for tenant in "abc"] == [10.0, 27.0, 26.0]


async def test_in_a_full_queue_the_tenant_with_most_requests_loses_one():
    queue, release = queue_of(1, Bounds(4, 100)), asyncio.Event()
    TimedExecutor(queue)
    many = [asked(queue, release, tenant="many") for _ in range(5)]
    await settled()
    with pytest.raises(RequestError):
        await asked(queue, release, tenant="many")
    few = [asked(queue, release, tenant="few") for _ in range(2)]
    await settled()
    with pytest.raises(RequestError):
        await asked(queue, release, tenant="few")
    release.set()
    outcomes = await asyncio.gather(*many, return_exceptions=True)
    assert [isinstance(outcome, RequestError) for outcome in outcomes] == [False] * 3 + [True] * 2
    await asyncio.gather(*few)
    assert queue.requests == 0


async def test_long_tasks_do_not_block_others_while_executors_are_free():
    queue, release = queue_of(1, Bounds(9, 9)), asyncio.Event()
    for _ in range(3):
        TimedExecutor(queue)
    long = asked(queue, release, expected_seconds=60)
    begun = loop_clock()()
    await asked(queue, 0, expected_seconds=0)
    assert loop_clock()() - begun == near(LONG_SECONDS)
    release.set()
    await long


async def test_a_tenant_of_whom_nothing_runs_waits_for_no_other_s_task():
    """One of such tenants at a time: the next ones begin as tasks end, or prove long."""
    queue, begun = queue_of(2, Bounds(9, 9)), loop_clock()()
    for _ in range(5):
        TimedExecutor(queue)
    many = [asked(queue, 0.2, tenant="many", expected_seconds=0.2) for _ in range(4)]
    await settled()

    async def waited(tenant, seconds):
        found = await asked(queue, seconds, tenant=tenant, expected_seconds=seconds)
        return found.waited_seconds

    few = [asyncio.create_task(waited("few", 0.1)) for _ in range(2)]
    other = asyncio.create_task(waited("other", 0.1))
    assert await few[0] == near(0.0)
    assert await other == near(0.1)
    assert await few[1] == near(0.2)
    await asyncio.gather(*many)
    assert loop_clock()() - begun == near(0.5)


async def test_a_task_prefers_the_executor_that_last_ran_its_program():
    queue = queue_of(2, Bounds(9, 9))
    hands = [TimedExecutor(queue) for _ in range(2)]
    first = (await asked(queue, 0, home="a")).executor
    assert first in hands
    release = asyncio.Event()
    busy = asked(queue, release, home="a")
    await settled()
    other = (await asked(queue, 0, home="b")).executor
    assert other is not first
    release.set()
    await busy
    for home, executor in (("a", first), ("b", other)) * 2:
        assert (await asked(queue, 0, home=home)).executor is executor


async def test_waiting_times_are_reported():
    told: list[float] = []
    queue, release = queue_of(1, Bounds(9, 9), told.append), asyncio.Event()
    TimedExecutor(queue)
    works = [asked(queue, release), asked(queue, 0)]
    await asyncio.sleep(0.05)
    release.set()
    await works[0]
    ran = await works[1]
    assert told[1] == ran.waited_seconds
    assert told == [0, pytest.approx(0.05)]


async def test_closing_the_queue_refuses_waiting_and_new_requests():
    queue, release = queue_of(1, Bounds(9, 9)), asyncio.Event()
    TimedExecutor(queue)
    begun, waits = asked(queue, release), asked(queue, 0)
    await settled()
    queue.close()
    with pytest.raises(RequestError, match="shutting down"):
        await waits
    with pytest.raises(RequestError, match="shutting down"):
        await asked(queue, 0)
    release.set()
    await begun


async def test_queues_with_the_same_load_are_bounded_together():
    first = queue_of(1, Bounds(1, 100))
    second = queue_of(1, Bounds(1, 100), load=first.load)
    hold = asyncio.Event()
    for queue in first, second:
        TimedExecutor(queue)
    tasks = [asked(queue, hold) for queue in (first, second, first)]
    await settled()
    with pytest.raises(RequestError) as caught:
        await asked(second, hold)
    assert caught.value.code == "overloaded"
    assert caught.value.detail == "3 requests are waiting or running"
    hold.set()
    assert [(await task).answer for task in tasks] == ["done"] * 3
    tasks = [asked(first, hold, nbytes=60), asked(second, hold, nbytes=60)]
    assert (await tasks[0]).answer == "done"
    with pytest.raises(RequestError):
        await tasks[1]
    assert (first.load.requests, first.load.nbytes) == (0, 0)


async def test_dropped_tasks_wait_no_longer_and_others_go_on():
    queue, hold = queue_of(1, Bounds(9, 9)), asyncio.Event()
    TimedExecutor(queue)
    running, waiting = asked(queue, hold), asked(queue, hold)
    await settled()
    queue.drop()
    with pytest.raises(RequestError) as caught:
        await waiting
    assert caught.value.code == "draining"
    hold.set()
    assert (await running).answer == "done"
    assert (await asked(queue, hold)).answer == "done"


def lanes_of(cores=1, longs=1, kept=0, **named):
    """A queue with a lane for tasks of up to two seconds, and its executors."""
    queue = queue_of(cores, Bounds(999, 9999), lanes=Lanes(longs, kept, 2.0), **named)
    return queue, [TimedExecutor(queue) for _ in range(longs + 1)]


async def at_last(queue, task, **arguments):
    """The answer to a task that gives way as often as it must, and its turns."""
    again: dict[str, Any] = {}
    while True:
        try:
            found = await asked(queue, task, deadline=within(1e9), **again, **arguments)
        except GaveWay as gave_way:
            again = {"long": True, "turns": gave_way.turns}
        else:
            return found, again.get("turns", 0)


async def test_two_tenants_long_tasks_do_not_starve_a_third():
    queue, hands = lanes_of(cores=2, longs=4, kept=1)
    others = [asyncio.ensure_future(at_last(queue, 60, tenant=of)) for of in "aaaaaabbbbbb"]
    await asyncio.sleep(1)
    for _ in range(20):  # a new program that is short
        found = await asked(queue, 0.01, tenant="c")
        assert found.waited_seconds < 5
        await asyncio.sleep(1)
    begin = loop_clock()()
    found, turns = await at_last(queue, 30, tenant="c")  # and one that is long
    assert (turns, found.answer) == (0, "done")
    assert loop_clock()() - begin < 30 + 15
    ended = await asyncio.gather(*others)
    assert max(turns for _, turns in ended) <= 2
    assert not any(hand.killed for hand in hands)


@pytest.mark.parametrize("count", [2, 3, 5])
async def test_tenants_of_endless_tasks_take_turns(count):
    queue, hands = lanes_of()
    endless = [
        asyncio.ensure_future(at_last(queue, 10_000, tenant=str(number))) for number in range(count)
    ]
    begin = loop_clock()()
    found, turns = await at_last(queue, 100, tenant="other")
    assert (found.answer, turns) == ("done", 2)  # after turns of 10 and 40 seconds
    assert loop_clock()() - begin < 3 * count * (10 + 40 + 160)
    for task in endless:
        task.cancel()
    await asyncio.gather(*endless, return_exceptions=True)
    assert not any(hand.killed for hand in hands)


async def test_one_tenants_tasks_do_not_give_way_to_its_own():
    queue, _ = lanes_of()
    first = asked(queue, 1000, deadline=within(1e9))
    with pytest.raises(GaveWay) as caught:
        await asked(queue, 1000)
    assert caught.value.turns == 0
    second = asked(queue, 5, long=True, deadline=within(1e9))
    assert (await first).answer == "done"
    assert (await second).waited_seconds > 900


async def test_tasks_known_to_be_short_may_use_what_is_kept_for_others():
    queue, _ = lanes_of(cores=2, longs=2, kept=1)
    gates = [asyncio.Event() for _ in range(3)]
    mine = [asked(queue, gate, tenant="me", expected_seconds=5) for gate in gates]
    await asyncio.sleep(1)
    assert len(queue._running) == 1
    known = asked(queue, 0, tenant="me", expected_seconds=SHORT_SECONDS / 2)
    assert (await known).waited_seconds == 0
    for gate in gates:
        gate.set()
    await asyncio.gather(*mine)


async def test_short_tasks_do_not_wait_for_a_long_one():
    queue, _ = lanes_of()
    gate = asyncio.Event()
    long = asked(queue, gate)
    begin = loop_clock()()
    assert (await asked(queue, 0.005)).waited_seconds == near(LONG_SECONDS)
    await asyncio.sleep(2)
    for _ in range(20):
        assert (await asked(queue, 0.005)).waited_seconds == 0
    assert loop_clock()() - begin == pytest.approx(2.35, abs=0.1)
    gate.set()
    assert (await long).answer == "done"


async def test_a_task_that_proves_long_leaves_its_executor_to_short_ones():
    queue, hands = lanes_of()
    gates = [asyncio.Event() for _ in range(3)]
    long, *others = [asked(queue, gate) for gate in gates]
    short = asked(queue, 0.5)
    for other in others:
        with pytest.raises(GaveWay):
            await other
    again = [asked(queue, gate, long=True) for gate in gates[1:]]
    assert (await short).answer == "done"
    for _ in range(5):
        assert (await asked(queue, 0.5)).waited_seconds == 0  # not behind those that wait
    assert not any(task.done() for task in [long, *again])
    assert not any(hand.killed for hand in hands)
    for gate, task in zip(gates, [long, *again], strict=True):
        gate.set()
        assert (await task).answer == "done"
        await settled()


async def test_an_executor_is_kept_for_tenants_of_whom_nothing_is_long():
    queue, _ = lanes_of(cores=1, longs=2, kept=1)
    gates = [asyncio.Event() for _ in range(3)]
    mine = asked(queue, gates[0], tenant="me")
    with pytest.raises(GaveWay):
        await asked(queue, gates[1], tenant="me")
    yours = asked(queue, gates[2], tenant="you")
    await asyncio.sleep(3)
    assert not yours.done()  # long as well, beside mine
    assert (await asked(queue, 0.5, tenant="third")).waited_seconds == 0
    waiting = asked(queue, gates[1], tenant="me", long=True)
    await asyncio.sleep(3)
    assert len(queue._running) == 2
    for gate in gates:
        gate.set()
    for task in mine, yours, waiting:
        assert (await task).answer == "done"


@pytest.mark.parametrize("longs", [1, 3])
@pytest.mark.parametrize("seed", range(8))
async def test_all_tasks_end_and_no_short_one_waits_for_more_than_trials(seed, longs):
    """Short tasks wait at most until those that came before them have shown how long they are."""
    queue, _ = lanes_of(longs, longs)
    draw = random.Random(seed)
    waits: list[tuple[float, float]] = []

    async def one(before):
        seconds = draw.choice([0.001, 0.01, 0.3, 30.0, 500.0])
        await asyncio.sleep(draw.choice([0.0, 0.5, 5.0]) * before)
        found, _ = await at_last(queue, seconds, tenant=draw.choice("ab"))
        assert found.answer == "done"
        waits.append((seconds, found.waited_seconds))

    await asyncio.gather(*(one(number % 7) for number in range(30)))
    assert len(waits) == 30
    trials = 2.1 * len(waits)
    assert all(waited <= trials for seconds, waited in waits if seconds < 2)
    assert max(waited for seconds, waited in waits if seconds > 2) > trials
