"""Where runs go on when they gave way to others."""

import asyncio
import json

import pytest
from gradwire_service.jobs.dispatcher import JobDispatcher
from gradwire_service.scheduling import Bounds, Deadline, Lanes, Placement, Queue
from gradwire_service.tasks.messages import Task, TaskDone
from gradwire_service.tasks.request import Outcome, ProgressMessage

from tests.clock import ClockLoop, loop_clock

SECONDS = 100


@pytest.fixture
def anyio_backend():
    return "asyncio", {"loop_factory": ClockLoop}


class Executor:
    """Makes an iteration a second from its checkpoint, which it reports; stops at once."""

    alive = True

    def __init__(self, begun, *, exact):
        self._begun, self._exact = begun, exact

    def begin(self, task, on_answer, on_progress):
        first = int(task.checkpoint or 0)
        self._begun.append((task.tenant, first))

        async def iterate():
            for iteration in range(first, SECONDS):
                await asyncio.sleep(1)
                told, at = json.dumps({"iteration": iteration + 1}), b"%d" % (iteration + 1)
                on_progress(ProgressMessage(told, at, self._exact))

        def done(ended):
            on_answer(MemoryError() if ended.cancelled() else TaskDone(b"", Outcome()))

        self._work = asyncio.ensure_future(iterate())
        self._work.add_done_callback(done)

    def stop(self):
        self._work.cancel()

    kill = stop


class Pool:
    """Two executors, of which one is for short runs."""

    def __init__(self, begun, *, exact):
        self.queue = Queue(1, Bounds(99, 99), clock=loop_clock(), lanes=Lanes(1, 0, 2.0))
        for _ in range(2):
            self.queue.add(Executor(begun, exact=exact))

    def want(self, number):
        """There are as many as may be."""


async def ended(dispatcher, tenant):
    """The iterations that a run reports."""
    told: list[int] = []
    task = Task("minimize", (), {}, "owner", Deadline(1e9, loop_clock()), b"", tenant=tenant)

    async def watch():
        await asyncio.Event().wait()
        raise AssertionError

    await dispatcher.run(
        task, watch, lambda message: told.append(json.loads(message[0])["iteration"])
    )
    return told


@pytest.mark.parametrize("exact", [False, True])
async def test_runs_take_turns_from_their_checkpoints_unless_they_are_exact(exact):
    begun: list[tuple[str, int]] = []
    dispatcher = JobDispatcher(Pool(begun, exact=exact), None, Placement())
    alone, *_ = await asyncio.gather(*(ended(dispatcher, tenant) for tenant in "ab"))
    assert alone == [*range(1, SECONDS + 1)]
    firsts = [first for tenant, first in begun if tenant == "a"]
    assert len(firsts) >= 3
    assert firsts == sorted(firsts)
    assert (max(firsts) == 0) is exact
