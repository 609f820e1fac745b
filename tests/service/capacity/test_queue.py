"""The bounded queue, and whom it makes room for."""

import asyncio
import gc
import threading
import time
import weakref

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.capacity import Bounds, Deadline, Queue
from gradwire_service.problems import Refusal


@pytest.fixture
def queue():
    queue = Queue(1, Bounds(1, 100))
    yield queue
    queue.close()


async def test_an_error_holds_nothing_once_it_is_told(queue):
    class Request:
        def work(self):
            raise Refusal("malformed_body", "no")

    request = Request()
    gone = weakref.ref(request)
    gc.disable()
    try:
        with pytest.raises(Refusal):
            await queue.run(request.work, Deadline(1000), 1)
        del request
        await asyncio.sleep(0.05)  # until the thread has let go of it
        assert gone() is None
    finally:
        gc.enable()


async def test_work_runs_in_a_thread(queue):
    name = await queue.run(lambda: threading.current_thread().name, Deadline(1000), 1)
    assert name.startswith("gradwire")


async def test_errors_of_the_work_pass(queue):
    def fail():
        raise Refusal("malformed_body", "no")

    with pytest.raises(Refusal, match="no"):
        await queue.run(fail, Deadline(1000), 1)


@pytest.mark.parametrize(("nbytes", "fits"), [((1, 1, 1), 2), ((80, 30), 1), ((1000,), 1)])
async def test_the_queue_is_bounded_in_requests_and_bytes(queue, nbytes, fits):
    release = threading.Event()
    tasks = [asyncio.create_task(queue.run(release.wait, Deadline(5000), size)) for size in nbytes]
    await asyncio.sleep(0.01)
    assert queue.requests == fits
    release.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert [refusal.code for refusal in refused] == ["overloaded"] * (len(nbytes) - fits)
    assert all(refusal.retry_after_seconds for refusal in refused)
    assert await queue.run(lambda: 1, Deadline(1000), 100) == 1


async def test_what_has_waited_for_longer_than_it_was_to_is_refused():
    queue, release = Queue(1, Bounds(9, 100, seconds=0.1)), threading.Event()
    first, late = (
        asyncio.create_task(queue.run(work, Deadline(5000), 1)) for work in (release.wait, list)
    )
    await asyncio.sleep(0.2)
    release.set()
    assert await first
    with pytest.raises(Refusal, match="waited") as caught:
        await late
    assert caught.value.code == "overloaded"
    assert caught.value.retry_after_seconds
    queue.close()


async def test_work_that_does_not_poll_is_given_up(queue):
    release = threading.Event()
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await queue.run(release.wait, Deadline(50), 1)
    assert time.monotonic() - start < 1
    assert queue.requests == 1
    release.set()


async def test_work_may_move_its_deadline_on(queue):
    deadline = Deadline(1)

    def work():
        deadline.allow(5000)
        time.sleep(0.2)
        return "done"

    assert await queue.run(work, deadline, 1) == "done"


async def test_waiting_counts_against_the_deadline(queue):
    release = threading.Event()
    running = asyncio.create_task(queue.run(release.wait, Deadline(5000), 1))
    await asyncio.sleep(0.01)
    started = []
    with pytest.raises(DeadlineExceeded):
        await queue.run(lambda: started.append(1), Deadline(20), 1)
    release.set()
    await running
    assert not started


def blocking(queue, release, **arguments):
    """A task that holds a thread until ``release``."""
    return asyncio.create_task(queue.run(release.wait, Deadline(5000), 1, **arguments))


async def test_a_queue_that_is_too_long_in_time_is_refused():
    queue = Queue(1, Bounds(100, 100, 2))
    release = threading.Event()
    running = [blocking(queue, release, seconds=1.5) for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal) as caught:
        await queue.run(release.wait, Deadline(5000), 1, seconds=0.001)
    assert (caught.value.code, caught.value.retry_after_seconds) == ("overloaded", 3)
    release.set()
    await asyncio.gather(*running)
    assert await queue.run(lambda: 1, Deadline(5000), 1, seconds=100) == 1
    queue.close()


async def test_what_cannot_begin_in_time_is_refused_at_once():
    queue = Queue(1, Bounds(100, 100))
    release = threading.Event()
    running = [blocking(queue, release, seconds=4) for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal, match="more than the request's time"):
        await queue.run(release.wait, Deadline(5000), 1)
    release.set()
    await asyncio.gather(*running)
    queue.close()


async def test_what_is_not_known_is_expected_to_take_what_is_usual(queue):
    for _ in range(60):
        await queue.run(lambda: time.sleep(0.02), Deadline(5000), 1)
    release = threading.Event()
    running = [blocking(queue, release) for _ in range(2)]
    await asyncio.sleep(0.01)
    assert 0.02 < queue._wait_seconds("") < 0.4
    release.set()
    await asyncio.gather(*running)
    assert queue._wait_seconds("") == 0


async def test_one_owners_long_queue_is_not_anothers():
    queue = Queue(1, Bounds(100, 100, 2))
    release = threading.Event()
    running = [blocking(queue, release, owner="many", seconds=9) for _ in range(1)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal):
        await queue.run(release.wait, Deadline(5000), 1, owner="many")
    running.append(blocking(queue, release, owner="few", seconds=0.1))
    await asyncio.sleep(0.01)
    release.set()
    assert await asyncio.gather(*running) == [True, True]
    queue.close()


async def test_whoever_has_most_waiting_makes_room_for_others():
    queue = Queue(1, Bounds(4, 100))
    release = threading.Event()
    many = [blocking(queue, release, owner="many") for _ in range(5)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal):
        await queue.run(release.wait, Deadline(5000), 1, owner="many")
    few = [blocking(queue, release, owner="few") for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal):
        await queue.run(release.wait, Deadline(5000), 1, owner="few")
    release.set()
    outcomes = await asyncio.gather(*many, return_exceptions=True)
    assert [isinstance(outcome, Refusal) for outcome in outcomes] == [False] * 3 + [True] * 2
    assert await asyncio.gather(*few) == [True, True]
    assert queue.requests == 0
    queue.close()


async def test_what_nobody_waits_for_stops_and_frees_its_place(queue):
    stopped = threading.Event()
    deadline = Deadline(5000)

    def endless():
        try:
            while True:
                deadline()
                time.sleep(0.001)
        finally:
            stopped.set()

    running = queue.start(endless, deadline, 1)
    await asyncio.sleep(0.05)
    running.end()
    assert stopped.wait(0.1)
    await asyncio.sleep(0.01)
    assert queue.requests == 0


async def test_each_wait_is_told():
    told: list[float] = []
    queue = Queue(1, Bounds(9, 9), told.append)
    works = [queue.run(lambda: time.sleep(0.05), Deadline(5000), 1) for _ in range(2)]
    await asyncio.gather(*works)
    assert told[0] < 0.04 < told[1]
    queue.close()


async def test_what_waits_when_the_queue_is_closed_is_told_so():
    queue = Queue(1, Bounds(9, 9))
    release = threading.Event()
    begun = blocking(queue, release)
    waits = blocking(queue, release)
    await asyncio.sleep(0.01)
    threading.Timer(0.1, release.set).start()
    queue.close()
    assert await begun
    with pytest.raises(Refusal, match="stopping"):
        await waits
