"""What this replica knows of jobs that somebody here follows, wherever they run."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar

from gradwire_service.jobs import Job, StoredJob
from gradwire_service.jobs.records import part_of
from gradwire_service.jobs.transitions import MOST_EVENTS, events_of
from gradwire_service.store import Key, SharedStore, Unavailable
from gradwire_service.store.records import Notice

T = TypeVar("T")


class Blocking(Protocol):
    """Calls a function that may block without blocking the event loop."""

    def __call__(self, function: Callable[..., T], *arguments: Any) -> Awaitable[T]:
        """The result of the function, which gets the arguments."""


class Feed:
    """The latest events of a job, and what is stored of it, for all on this replica who wait.

    The run that is here feeds it; otherwise it is read from the store, after each notice.
    """

    def __init__(self, key: Key) -> None:
        self.key = key
        self.events = deque[tuple[int, str]](maxlen=MOST_EVENTS)
        #: What is stored, when that was read last; None if nothing is, or nothing was read.
        self.stored: StoredJob | None = None
        self.is_read = False
        self.has_run = False
        self.followers = 0
        #: The record of events that was read, and how much of it.
        self.log, self.length = "", 0
        self.reading = asyncio.Lock()
        self._changed = asyncio.Event()

    @property
    def is_gone(self) -> bool:
        """True if there is no such job any more."""
        return self.is_read and self.stored is None

    @property
    def has_ended(self) -> bool:
        """True if the job is known to have ended, or to be gone."""
        return self.is_read and (self.stored is None or self.stored.job.ended)

    def add(self, number: int, text: str) -> None:
        """Add an event, unless it is known."""
        if not self.events or number > self.events[-1][0]:
            self.events.append((number, text))
            self.tell()

    def tell(self) -> None:
        """Wake those who wait."""
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def changed(self) -> asyncio.Event:
        """Is set with the next change."""
        return self._changed


class Feeds:
    """The feeds of all jobs that run or are followed here. Only for the event loop."""

    def __init__(
        self,
        store: SharedStore,
        blocking: Blocking,
        told: Callable[[Notice | None], None],
    ) -> None:
        """``told`` hears of notices, too; None if some may have been missed."""
        self._store, self._blocking, self._told = store, blocking, told
        self._feeds: dict[Key, Feed] = {}
        self._subscription = store.subscribe(self._heard)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._looks: dict[Key, asyncio.Task[None]] = {}
        self._leaving = set[asyncio.Task[None]]()

    def of(self, key: Key) -> Feed:
        """The feed of a job."""
        return self._feeds.setdefault(key, Feed(key))

    async def watch(self, key: Key) -> None:
        """Hear of what others change."""
        await self._subscription.watch(key)

    async def listen(self) -> None:
        """Hear of notices, and look for what was not told, until this is cancelled."""
        self._loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._subscription.listen())
            if self._store.look_seconds < float("inf"):
                group.create_task(self._look_again())

    @asynccontextmanager
    async def following(self, key: Key) -> AsyncIterator[Feed]:
        """The feed of a job, for as long as somebody waits for it.

        Raises: ``Unavailable``.
        """
        feed = self.of(key)
        feed.followers += 1
        try:
            if not feed.has_run and feed.followers == 1:
                await self.watch(key)
            async with feed.reading:
                is_known = feed.has_run or feed.is_read
            if not is_known:
                await self._read(feed)
            yield feed
        finally:
            feed.followers -= 1
            self._release(feed)

    def end(self, feed: Feed) -> None:
        """End what the run of a job has fed: others may go on with it."""
        feed.has_run = False
        self._release(feed)
        if feed.followers:
            self._read_soon(feed)

    def _release(self, feed: Feed) -> None:
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
            self._loop.call_soon_threadsafe(self._tell, notice)

    def _tell(self, notice: Notice | None) -> None:
        for feed in [*self._feeds.values()]:
            if notice is None or notice.key == feed.key:
                self._read_soon(feed)
        self._told(notice)

    def _read_soon(self, feed: Feed) -> None:
        """Read a feed that nothing here feeds; a notice while it is read has it read again."""
        before = self._looks.get(feed.key)
        if feed.has_run or not feed.followers:
            return

        async def read() -> None:
            if before is not None:
                await asyncio.wait([before])
            if self._looks.get(feed.key) is asyncio.current_task():
                with suppress(Unavailable):  # looked at again later
                    await self._read(feed)
            if self._looks.get(feed.key) is asyncio.current_task():
                del self._looks[feed.key]

        self._looks[feed.key] = asyncio.create_task(read())

    async def _read(self, feed: Feed) -> None:
        """Read what is new of a job."""
        async with feed.reading:
            keys = [feed.key, part_of(feed.key, "events")]
            found, log = await self._blocking(self._store.peek, keys, feed.length)
            if log is not None and (log.head != feed.log or not log.head):  # a new record
                feed.log, start = log.head, feed.length
                feed.length = 0
                if start:
                    found, log = await self._blocking(self._store.peek, keys, 0)
            if log is not None:
                feed.length += len(log.tail)
                for number, text in events_of(log.tail):
                    feed.add(number, text)
            feed.is_read, feed.stored = True, None
            if found is not None:
                job = Job.of(found.head)
                feed.stored = StoredJob(feed.key, job, found.expires_at, found.head)
            feed.tell()

    async def _look_again(self) -> None:
        """Look for changes that no notice has told: all that is watched, by one command."""
        while True:
            await asyncio.sleep(self._store.look_seconds)
            feeds = [each for each in self._feeds.values() if each.followers and not each.has_run]
            if not self._store.tells_others:
                feeds = [*self._feeds.values()]
            if not feeds:
                continue
            with suppress(Unavailable):
                if not await self._blocking(self._store.may_have_changed):
                    continue
                found = await self._blocking(self._store.peek, [each.key for each in feeds])
                for feed, now in zip(feeds, found, strict=True):
                    head = None if feed.stored is None else feed.stored.head
                    if feed.has_run:
                        if now is None or Job.of(now.head).ended:
                            self._told(Notice(feed.key))
                    elif head != (now and now.head):
                        self._read_soon(feed)
