"""Executors in threads, for a service that is embedded in another program.

Threads can neither be killed nor limited in memory: see ``GRADWIRE_PROCESSES``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from gradwire_service.scheduling import Queue
from gradwire_service.settings import Settings
from gradwire_service.tasks.messages import Task
from gradwire_service.tasks.registry import Tasks, execute
from gradwire_service.tasks.request import ProgressMessage

#: Threads for computations by the number of cores, beside one more.
THREADS_PER_CORE = 2


class WorkerThread:
    """Runs one task at a time in a thread."""

    alive = True

    def __init__(self, threads: ThreadPoolExecutor, tasks: Tasks, settings: Settings) -> None:
        self._threads = threads
        self._tasks = tasks
        self._settings = settings

    def begin(
        self, task: Task, on_answer: Callable[[Any], None], on_progress: Callable[[Any], None]
    ) -> None:
        """Run a task, which shares its deadline with the caller."""
        loop = asyncio.get_running_loop()

        def done(future: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(on_answer, future.exception() or future.result())

        def progressed(message: ProgressMessage) -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(on_progress, message)

        reports = (lambda _: None), progressed
        future = self._threads.submit(execute, task, self._tasks, self._settings, *reports)
        future.add_done_callback(done)

    def stop(self) -> None:
        """Do nothing: the task polls its deadline."""

    def kill(self) -> None:
        """Do nothing: a thread cannot be killed."""


class ThreadPool:
    """Worker threads, the executors of ``queue``."""

    def __init__(
        self, tasks: Tasks, queue: Queue, settings: Settings, count: int | None = None
    ) -> None:
        #: Tasks that go on after their deadline occupy a thread.
        count = count or THREADS_PER_CORE * settings.cores + 1
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="gradwire")
        self.queue, self._tasks = queue, tasks
        for _ in range(count):
            queue.add(WorkerThread(self._pool, tasks, settings))

    async def open(self) -> None:
        """Do nothing: threads start on demand."""

    def want(self, number: int) -> None:
        """Do nothing: threads start on demand."""

    async def close(self) -> None:
        """Like ``shut``, without blocking the event loop."""
        self.queue.close()
        loop = asyncio.get_running_loop()
        # Not the loop's own executor: an exiting interpreter could not shut it down.
        with ThreadPoolExecutor(1) as waiting, suppress(RuntimeError):
            await loop.run_in_executor(waiting, self._pool.shutdown)
        self._pool.shutdown()
        self._tasks.close()

    def shut(self) -> None:
        """Drop waiting tasks, and wait for running ones."""
        self.queue.close()
        self._pool.shutdown()
        self._tasks.close()
