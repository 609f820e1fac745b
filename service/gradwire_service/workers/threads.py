"""Tasks done in threads of the service's own process, where it is embedded in another program.

Nothing there can be killed or held to a limit of memory: see ``GRADWIRE_PROCESSES``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from gradwire_service.scheduling import Queue
from gradwire_service.settings import Settings
from gradwire_service.work.execution import execute
from gradwire_service.work.messages import Task
from gradwire_service.work.tasks import Tasks

_THREADS_PER_CORE = 2


class WorkerThread:
    """One task at a time, in a thread."""

    alive = True

    def __init__(self, threads: ThreadPoolExecutor, tasks: Tasks, settings: Settings) -> None:
        self._threads = threads
        self._tasks = tasks
        self._settings = settings

    def begin(self, task: Task, answered: Callable[[Any], None]) -> None:
        """Do a task, whose deadline is the caller's own: both learn what its body asks for."""
        loop = asyncio.get_running_loop()

        def told(future: Future[Any]) -> None:
            with suppress(RuntimeError):  # the loop has ended, so nobody waits
                loop.call_soon_threadsafe(answered, future.exception() or future.result())

        future = self._threads.submit(
            execute, task, self._tasks, self._settings, on_timeout=lambda _: None
        )
        future.add_done_callback(told)

    def stop(self) -> None:
        """The task's deadline is over, which it looks at."""

    def kill(self) -> None:
        """Nothing kills a thread: it is busy until its work is over."""


class ThreadPool:
    """As many threads as may work at once."""

    def __init__(self, tasks: Tasks, queue: Queue, settings: Settings) -> None:
        #: What goes on after its time holds one.
        count = _THREADS_PER_CORE * settings.cores + 1
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="gradwire")
        self._queue = queue
        for _ in range(count):
            queue.add(WorkerThread(self._pool, tasks, settings))

    async def open(self) -> None:
        """They are there when they are needed."""

    async def close(self) -> None:
        """As ``shut``, without holding up the event loop."""
        self._queue.close()
        loop = asyncio.get_running_loop()
        # Not the loop's own executor, which an interpreter that is ending could not shut down.
        with ThreadPoolExecutor(1) as waiting, suppress(RuntimeError):
            await loop.run_in_executor(waiting, self._pool.shutdown)
        self._pool.shutdown()

    def shut(self) -> None:
        """Drop what waits, and wait for what has begun."""
        self._queue.close()
        self._pool.shutdown()
