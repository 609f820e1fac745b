"""Feeds of the jobs that somebody on this replica follows, wherever the jobs run."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Any, Protocol, TypeVar

from gradwire_service.jobs import Job, StoredJob
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.transitions import MOST_EVENTS, event_of, events_of
from gradwire_service.store import Key, SharedStore, Unavailable
from gradwire_service.store.records import Notice

T = TypeVar("T")


class Blocking(Protocol):
    """Calls a function that may block without blocking the event loop."""

    def __call__(self, function: Callable[..., T], *arguments: Any) -> Awaitable[T]:
        """The result of the function, which gets the arguments."""


async def pause(until: asyncio.Event, seconds: float | None) -> None:
    """Wait until an event is set, but not longer than some seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await until.wait()


class Feed:
    """The latest events of a job, and what is stored of it, for all on this replica who wait.

    The run that is here feeds it; otherwise it is read from the store, after each notice.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.events = deque[tuple[int, str]](maxlen=MOST_EVENTS)
        #: What is stored, when that was read last; None if nothing is, or nothing was read.
        self.stored: StoredJob | None = None
        self.has_run = self.is_read = False
        self.followers = 0
        #: The record of events that was read, and how much of it.
        self.log, self.length = "", 0
        #: Is set if it should be read, and with the next change.
        self.asked, self.changed = asyncio.Event(), asyncio.Event()
        self.reading: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """True if the job is known to have ended, or to be gone."""
        return self.is_read and (self.stored is None or self.stored.job.ended)

    def add(self, number: int, text: str) -> None:
        """Add an event, unless it is known."""
        if not self.events or number > self.events[-1][0]:
            self.events.append((number, text))
            self.wake()

    def wake(self) -> None:
        """Wake those who wait for a change."""
        self.changed.set()
        self.changed = asyncio.Event()


class Feeds:
    """The feeds of all jobs that run or are followed here. Only for the event loop."""

    def __init__(
        self,
        store: SharedStore,
        blocking: Blocking,
        on_notice: Callable[[Notice | None], None],
    ) -> None:
        """``on_notice`` is called with each notice; with None if some may have been missed."""
        self._store, self._blocking, self._on_notice = store, blocking, on_notice
        self._feeds: dict[Key, Feed] = {}
        self._subscription = store.subscribe(self._heard)
        self.watch = self._subscription.watch
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving = set[asyncio.Task[None]]()

    def of(self, key: Key) -> Feed:
        """The feed of a job."""
        return self._feeds.setdefault(key, Feed(key))

    async def listen(self) -> None:
        """Receive notices, and look for changes without one, until this is cancelled."""
        self._loop = asyncio.get_running_loop()
        await asyncio.gather(self._subscription.listen(), self._look())

    @asynccontextmanager
    async def following(self, key: Key) -> AsyncIterator[Feed]:
        """The feed of a job, for as long as somebody waits for it."""
        feed = self.of(key)
        feed.followers += 1
        try:
            if feed.reading is None:
                feed.reading = asyncio.create_task(self._read_on(feed))
                await self.watch(key)
                feed.asked.set()
            yield feed
        finally:
            feed.followers -= 1
            self._release(feed)

    def end(self, feed: Feed) -> None:
        """End what the run of a job has fed: others may go on with it."""
        feed.has_run = False
        feed.asked.set()
        self._release(feed)

    def _release(self, feed: Feed) -> None:
        """Forget a feed that nobody needs."""
        if not feed.followers and feed.reading is not None:
            feed.reading.cancel()
            feed.reading = None
        if not (feed.followers or feed.has_run):
            self._feeds.pop(feed.key, None)
            leaving = asyncio.create_task(self._leave(feed.key))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _leave(self, key: Key) -> None:
        if key not in self._feeds:
            await self._subscription.leave(key)

    def _heard(self, notice: Notice | None) -> None:
        """Pass on a notice, from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, notice)

    def _deliver(self, notice: Notice | None) -> None:
        for feed in self._feeds.values():
            if notice is None or notice.key == feed.key:
                # Before what is stored is read, an event would hide those before it.
                if notice is not None and notice.text and feed.is_read:
                    feed.add(*event_of(notice.text))
                else:
                    feed.asked.set()
        self._on_notice(notice)

    async def _read_on(self, feed: Feed) -> None:
        """Read a followed job whenever it should be, while nothing here feeds it."""
        while True:
            await feed.asked.wait()
            feed.asked.clear()
            if not feed.has_run:
                with suppress(Unavailable):  # looked at again later
                    await self._read(feed)

    async def _read(self, feed: Feed) -> None:
        """Read what is new of a job."""
        keys = [feed.key, part_of(feed.key, "events")]
        found, log = await self._blocking(self._store.peek, keys, feed.length)
        if log is not None and (log.head != feed.log or not log.head):  # a new record
            feed.log, start, feed.length = log.head, feed.length, 0
            if start:
                found, log = await self._blocking(self._store.peek, keys, 0)
        if log is not None:
            feed.length += len(log.tail)
            for event in events_of(log.tail):
                feed.add(*event)
        feed.is_read = True
        feed.stored = None if found is None else StoredJob.of(feed.key, found)
        feed.wake()

    async def _look(self) -> None:
        """Look for changes without a notice: in all that is watched, by one command."""
        store = self._store
        while store.look_seconds < inf:
            await asyncio.sleep(store.look_seconds)
            feeds = [*self._feeds.values()]
            if store.tells_others:  # reports of runs find out by themselves
                feeds = [each for each in feeds if each.followers and not each.has_run]
            with suppress(Unavailable):
                changed = await self._blocking(store.may_have_changed)
                if not (feeds and changed):
                    continue
                found = await self._blocking(store.peek, [each.key for each in feeds])
                for feed, now in zip(feeds, found, strict=True):
                    if feed.has_run:
                        if now is None or Job.from_json(now.head).ended:
                            self._on_notice(Notice(feed.key))
                    elif (feed.stored and feed.stored.head) != (now and now.head):
                        feed.asked.set()
