"""Deadlines, the bounded queue, draining."""

import asyncio
import gc
import threading
import time
import weakref

import pytest
from gradwire_engine.errors import DeadlineExceeded
from gradwire_service.capacity import Capacity, Deadline, InlineDeadline, TooLongInline
from gradwire_service.problems import Refusal


@pytest.fixture
def capacity():
    capacity = Capacity(threads=1, queue_requests=1, queue_bytes=100)
    yield capacity
    capacity.close()


def test_a_deadline_raises_only_when_it_has_passed():
    deadline = Deadline(1000)
    deadline()
    deadline.allow(0.001)
    time.sleep(0.001)
    with pytest.raises(DeadlineExceeded, match=r"0\.001 ms") as caught:
        deadline()
    assert "timeout_ms" in str(caught.value.hint)


def test_the_event_loop_is_not_held():
    poll = InlineDeadline()
    poll()
    time.sleep(0.01)
    with pytest.raises(TooLongInline):
        poll()


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
