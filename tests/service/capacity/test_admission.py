"""The bounded queue, whom it makes room for, and draining."""

import asyncio
import gc
import threading
import time
import weakref

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.capacity import Capacity, Deadline
from gradwire_service.problems import Refusal


@pytest.fixture
def capacity():
    capacity = Capacity(threads=1, queue_requests=1, queue_bytes=100)
    yield capacity
    capacity.close()


async def test_an_error_holds_nothing_once_it_is_told(capacity):
    class Request:
        def work(self):
            raise Refusal("malformed_body", "no")

    request = Request()
    gone = weakref.ref(request)
    gc.disable()
    try:
        with pytest.raises(Refusal):
            await capacity.run(request.work, Deadline(1000), 1)
        del request
        await asyncio.sleep(0.05)  # until the thread has let go of it
        assert gone() is None
    finally:
        gc.enable()


async def test_work_runs_in_a_thread(capacity):
    name = await capacity.run(lambda: threading.current_thread().name, Deadline(1000), 1)
    assert name.startswith("gradwire")


async def test_errors_of_the_work_pass(capacity):
    def fail():
        raise Refusal("malformed_body", "no")

    with pytest.raises(Refusal, match="no"):
        await capacity.run(fail, Deadline(1000), 1)


@pytest.mark.parametrize(("nbytes", "fits"), [((1, 1, 1), 2), ((80, 30), 1), ((1000,), 1)])
async def test_the_queue_is_bounded_in_requests_and_bytes(capacity, nbytes, fits):
    release = threading.Event()
    tasks = [
        asyncio.create_task(capacity.run(release.wait, Deadline(5000), size)) for size in nbytes
    ]
    await asyncio.sleep(0.01)
    assert capacity.queued == fits
    release.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    assert [refusal.code for refusal in refused] == ["overloaded"] * (len(nbytes) - fits)
    assert all(refusal.retry_after_seconds for refusal in refused)
    assert await capacity.run(lambda: 1, Deadline(1000), 100) == 1


async def test_work_that_does_not_poll_is_given_up(capacity):
    release = threading.Event()
    start = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await capacity.run(release.wait, Deadline(50), 1)
    assert time.monotonic() - start < 1
    assert capacity.queued == 1
    release.set()


async def test_work_may_move_its_deadline_on(capacity):
    deadline = Deadline(1)

    def work():
        deadline.allow(5000)
        time.sleep(0.2)
        return "done"

    assert await capacity.run(work, deadline, 1) == "done"


async def test_waiting_counts_against_the_deadline(capacity):
    release = threading.Event()
    running = asyncio.create_task(capacity.run(release.wait, Deadline(5000), 1))
    await asyncio.sleep(0.01)
    started = []
    with pytest.raises(DeadlineExceeded):
        await capacity.run(lambda: started.append(1), Deadline(20), 1)
    release.set()
    await running
    assert not started


async def test_a_draining_replica_takes_work_until_it_refuses(capacity):
    capacity.draining = True
    capacity.enter()
    capacity.refusing = True
    with pytest.raises(Refusal) as caught:
        capacity.enter()
    assert (caught.value.code, caught.value.retry_after_seconds) == ("draining", 1)
    capacity.leave()
    assert capacity.in_flight == 0


def blocking(capacity, release, **arguments):
    """A task that holds a thread until ``release``."""
    return asyncio.create_task(capacity.run(release.wait, Deadline(5000), 1, **arguments))


async def test_a_queue_that_is_too_long_in_time_is_refused():
    capacity = Capacity(threads=1, queue_requests=100, queue_bytes=100, queue_seconds=2)
    release = threading.Event()
    running = [blocking(capacity, release, seconds=1.5) for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal) as caught:
        await capacity.run(release.wait, Deadline(5000), 1, seconds=0.001)
    assert (caught.value.code, caught.value.retry_after_seconds) == ("overloaded", 3)
    release.set()
    await asyncio.gather(*running)
    assert await capacity.run(lambda: 1, Deadline(5000), 1, seconds=100) == 1
    capacity.close()


async def test_what_cannot_begin_in_time_is_refused_at_once():
    capacity = Capacity(threads=1, queue_requests=100, queue_bytes=100)
    release = threading.Event()
    running = [blocking(capacity, release, seconds=4) for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal, match="more than the request's time"):
        await capacity.run(release.wait, Deadline(5000), 1)
    release.set()
    await asyncio.gather(*running)
    capacity.close()


async def test_predictions_are_corrected_by_what_work_took(capacity):
    for _ in range(40):
        await capacity.run(lambda: time.sleep(0.002), Deadline(5000), 1, seconds=1.0)
    release = threading.Event()
    running = [blocking(capacity, release, seconds=1.0) for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal) as caught:
        await capacity.run(release.wait, Deadline(5000), 1)
    assert caught.value.retry_after_seconds == 1
    release.set()
    await asyncio.gather(*running)


async def test_whoever_has_most_waiting_makes_room_for_others():
    capacity = Capacity(threads=1, queue_requests=4, queue_bytes=100)
    release = threading.Event()
    many = [blocking(capacity, release, owner="many") for _ in range(5)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal):
        await capacity.run(release.wait, Deadline(5000), 1, owner="many")
    few = [blocking(capacity, release, owner="few") for _ in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(Refusal):
        await capacity.run(release.wait, Deadline(5000), 1, owner="few")
    release.set()
    outcomes = await asyncio.gather(*many, return_exceptions=True)
    assert [isinstance(outcome, Refusal) for outcome in outcomes] == [False] * 3 + [True] * 2
    assert await asyncio.gather(*few) == [True, True]
    assert capacity.queued == 0
    capacity.close()


async def test_what_nobody_waits_for_stops_and_frees_its_place(capacity):
    stopped = threading.Event()
    deadline = Deadline(5000)

    def endless():
        try:
            while True:
                deadline()
                time.sleep(0.001)
        finally:
            stopped.set()

    running = capacity.start(endless, deadline, 1)
    await asyncio.sleep(0.05)
    running.end()
    assert stopped.wait(0.1)
    await asyncio.sleep(0.01)
    assert capacity.queued == 0


async def test_each_wait_is_told():
    told: list[float] = []
    capacity = Capacity(threads=1, queue_requests=9, queue_bytes=9, waited=told.append)
    works = [capacity.run(lambda: time.sleep(0.05), Deadline(5000), 1) for _ in range(2)]
    await asyncio.gather(*works)
    assert told[0] < 0.04 < told[1]
    capacity.close()


async def test_of_many_requests_at_once_those_that_would_wait_long_are_refused(capacity):
    def taken():
        try:
            capacity.enter()
        except Refusal as refusal:
            return refusal.code
        time.sleep(0.01)
        capacity.leave()
        return "taken"

    outcomes = [taken() for _ in range(30)]
    assert outcomes == ["taken"] * 16 + ["overloaded"] * 14
    await asyncio.sleep(0.01)
    assert taken() == "taken"
