"""How often jobs ask the store: counted, over minutes that pass at once."""

import asyncio
import json
from collections import Counter
from random import random
from typing import Any

import numpy as np
import pytest
from gradwire_service.jobs import Cancelled, Job, Transitions
from gradwire_service.jobs.feeds import Feeds
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.reporter import Reporter
from gradwire_service.jobs.run import Run, RunContext
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.store import Key, policies
from gradwire_service.store.memory import MemoryStore
from gradwire_service.store.quotas import Amount, OverQuota
from gradwire_service.store.records import Notice
from gradwire_service.store.redis import RedisStore
from gradwire_service.tasks.messages import Task
from gradwire_service.tasks.request import ProgressMessage
from gradwire_solvers.checkpoint import Checkpoint, Evaluations
from gradwire_solvers.progress import History

from tests.clock import ClockLoop, loop_clock

KEY = Key("jobs", "me", "one")
SECONDS = 120

pytestmark = pytest.mark.parametrize(
    "anyio_backend", [("asyncio", {"loop_factory": ClockLoop})], ids=["clock"]
)


class Counted(MemoryStore):
    """Counts what would be commands, and looks for what was not told as often as in Redis.

    As many processes hear of its notices as ``heard`` says.
    """

    look_seconds, tells_others = RedisStore.look_seconds, RedisStore.tells_others

    def __init__(self, clock):
        super().__init__(policies(Settings()), clock)
        self.commands, self.heard, self.written = Counter[str](), 1, 0
        #: The key of a record for which there is no room.
        self.refused = None

    def find(self, key, *, body=True):
        self.commands["find"] += 1
        return super().find(key, body=body)

    def peek(self, keys, start=None):
        self.commands["peek"] += 1
        return super().peek(keys, start)

    def publish(self, notice):
        self.commands["publish"] += 1
        super().publish(notice)
        return self.heard

    def commit(self, changes, notice=None, *, admitted=False):
        self.commands["commit"] += 1
        if self.refused in [each.key for each in changes]:
            raise OverQuota.of("your", "job_parts", Amount(2, 2), Amount(1, 1))
        self.written += sum(
            len(each.head or "") + len(each.body or b"") for each in changes if not each.only_checks
        )
        made = super().commit(changes, notice, admitted=admitted)
        return None if made is None else self.heard


class Dispatcher:
    """Runs a task that reports ten times a second, until it is stopped."""

    async def run(self, task, watch, on_progress):
        working = asyncio.create_task(self._work(on_progress))
        try:
            await watch()
        finally:
            working.cancel()

    async def _work(self, on_progress):
        number, history, clock = 0, History(), loop_clock()
        while True:
            number += 1
            history.add(number, 1 / number, random(), clock())
            text = json.dumps({"iteration": number, "value": 1 / number, "seconds": clock()})
            point = Checkpoint(np.zeros(100), number, Evaluations(), clock(), history.kept())
            on_progress(ProgressMessage(text, bytes(point)))
            await asyncio.sleep(0.1)


async def blocking(function, *arguments):
    return function(*arguments)


@pytest.fixture
async def job():
    """A job that reports ten times a second, and what listens to it on another replica."""
    clock = loop_clock()
    store = Counted(clock)
    here = Transitions(store, "here", lambda *_: {}, clock)
    own = Feeds(store, blocking, lambda _: None)
    feeds = Feeds(store, blocking, lambda _: None)  # from now on, this one receives notices
    dispatcher: Any = Dispatcher()
    shared = dispatcher, here, own, blocking, 1e9, 8640.0, lambda _: None, clock, clock
    task = Task("minimize", (), {}, "me", Deadline(1e12, clock), b"{}")
    run = Run(RunContext(*shared), KEY, Job("minimize", clock()), task)
    await run.persist()
    run.start()
    listening = asyncio.create_task(feeds.listen())
    yield store, feeds, here, run
    run.stop(Cancelled())
    listening.cancel()
    await asyncio.gather(run.ended(), listening, return_exceptions=True)


async def test_a_job_that_nobody_follows_is_one_short_command_now_and_then(job):
    store, *_ = job
    await asyncio.sleep(10)
    store.commands.clear()
    store.written = 0
    await asyncio.sleep(SECONDS)
    assert set(store.commands) == {"commit"}
    # Two commands to look for lost jobs every five seconds come to that.
    assert store.commands["commit"] <= 0.6 * SECONDS
    assert store.written <= 700 * SECONDS


async def test_a_hundred_followers_cost_as_much_as_one(job):
    store, feeds, *_ = job
    store.heard = 2
    events = [0] * 100

    async def follow(index):
        last = 0
        async with feeds.following(KEY) as feed:
            while True:
                changed = feed.changed
                for number, _ in [each for each in feed.events if each[0] > last]:
                    last, events[index] = number, events[index] + 1
                await changed.wait()

    following = [asyncio.create_task(follow(index)) for index in range(len(events))]
    await asyncio.sleep(10)
    store.commands.clear()
    store.written = 0
    events[:] = [0] * len(events)
    await asyncio.sleep(SECONDS)
    assert store.commands.total() <= 4 * SECONDS
    assert store.written <= 700 * SECONDS, "as if nobody followed"
    assert min(events) == max(events) >= 1.8 * SECONDS
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)


async def test_followers_see_every_event_once_and_then_the_end(job):
    store, feeds, here, run = job
    store.heard = 2
    await asyncio.sleep(2)
    numbers, is_cancelled = list[int](), False
    async with feeds.following(KEY) as feed:
        while not feed.has_ended:
            changed = feed.changed
            numbers += [number for number, _ in feed.events if not numbers or number > numbers[-1]]
            if len(numbers) > 100 and not is_cancelled:
                here.cancel(KEY)
                is_cancelled = True
            await changed.wait()
        assert feed.stored.job.state == "cancelled"
    assert numbers == sorted(set(numbers))
    with pytest.raises(Cancelled):
        await run.answer


async def test_an_event_before_the_first_read_does_not_hide_those_that_are_stored(job, monkeypatch):
    """It comes between the subscription and the read of what was stored before."""
    _, feeds, *_ = job
    await asyncio.sleep(30)

    async def watch(key):
        feeds._deliver(Notice(key, "here", '290 {"iteration":290}'))

    monkeypatch.setattr(feeds, "watch", watch)
    async with feeds.following(KEY) as feed:
        while not feed.is_read:
            await feed.changed.wait()
        numbers = [number for number, _ in feed.events]
    assert numbers[0] == 1
    assert len(numbers) > 10


@pytest.mark.parametrize("has_room", [True, False])
async def test_a_job_is_handed_over_with_its_checkpoint_unless_that_is_stored(has_room):
    clock = loop_clock()
    store = Counted(clock)
    here = Transitions(store, "here", lambda *_: {}, clock)
    held = here.create(KEY, Job("minimize", clock()), b"{}", "{}")
    assert held is not None
    reporter = Reporter(here, blocking, held, [], clock, 8640.0)
    point = bytes(Checkpoint(np.zeros(100), 1, Evaluations(), clock(), History().kept()))
    reporter.add((1, '{"iteration":1}'), point, clock())
    if not has_room:
        store.refused = part_of(KEY, "checkpoint")
    await reporter.report()
    assert (store.find(part_of(KEY, "checkpoint")) is not None) == has_room
    store.refused, store.written = None, 0
    reporter.hand_over(counted=False, announced=True)
    assert (store.written > len(point)) == (not has_room)
    assert Checkpoint.read(store.find(part_of(KEY, "checkpoint")).content).x.size == 100
