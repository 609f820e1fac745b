"""The pool of worker processes: started in advance, and replaced when they end."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from gradwire_service.machine_code import CodeCache
from gradwire_service.scheduling import Queue
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.telemetry import Metrics
from gradwire_service.workers import forking
from gradwire_service.workers.process import Serve, StartedProcess, WorkerProcess

logger = logging.getLogger("gradwire")

#: Time between attempts to start a process.
_RETRY_SECONDS = 1.0


class ProcessPool:
    """Worker processes, the executors of ``queue``; started and joined in ``threads``.

    Raises: ``NoTemporaryFolder``.
    """

    def __init__(
        self,
        serve: Serve,
        settings: Settings,
        store: Store,
        codes: CodeCache,
        metrics: Metrics,
        queue: Queue,
        threads: ThreadPoolExecutor,
        *,
        isolated: bool,
    ) -> None:
        forking.preload(settings)
        # Workers need neither the store's address nor the keys of clients and of machine code.
        needless = {"store": "memory:", "keys": None, "code_cache_key": None}
        self._settings = settings.model_copy(update=needless)
        self._codes = codes
        self._metrics = metrics
        self._serve = serve
        self._store = store
        self.queue = queue
        self._isolated = isolated
        self._threads = threads
        self.processes = set[WorkerProcess]()
        self._starting = set[asyncio.Task[None]]()
        self._closed = False
        self._first = asyncio.Event()
        self._all_ended = asyncio.Event()

    async def open(self) -> None:
        """Start all processes and wait for the first; each joins the queue when it is ready."""
        for _ in range(self._settings.processes):
            self._start()
        await self._first.wait()

    async def close(self) -> None:
        """End all processes, which have finished their tasks."""
        self._closed = True
        self.queue.close()
        for process in list(self.processes):
            process.kill()
        await asyncio.gather(*self._starting)
        if self.processes:
            await self._all_ended.wait()

    def _start(self, after_seconds: float = 0.0) -> None:
        task = asyncio.create_task(self._started(after_seconds))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _started(self, after_seconds: float) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(after_seconds)
        while True:
            try:
                started = await loop.run_in_executor(self._threads, self._make)
                break
            except Exception as error:
                logger.warning("a worker process could not be started", exc_info=error)
                if self._closed:
                    return
                await asyncio.sleep(_RETRY_SECONDS)
        if self._closed:
            started.end()
            return
        process = WorkerProcess(
            started, self._store, self._threads, self._ready, self._ended, self._metrics
        )
        self.processes.add(process)

    def _make(self) -> StartedProcess:
        asked = self._serve, self._settings, self._codes
        return StartedProcess(*asked, isolated=self._isolated)

    def _ready(self, process: WorkerProcess) -> None:
        self.queue.add(process)
        self._first.set()

    def _ended(self, process: WorkerProcess) -> None:
        """Replace a process that has ended."""
        self.processes.discard(process)
        self.queue.discard(process)
        if not self._closed:
            self._replace(process)
        elif not self.processes:
            self._all_ended.set()

    def _replace(self, process: WorkerProcess) -> None:
        """Start another process in place of one that has ended, slowly if none can begin."""
        self._start(0.0 if process.was_ready else _RETRY_SECONDS)


class JobPool(ProcessPool):
    """Processes that start when there is work for them, and stay."""

    async def open(self) -> None:
        """Do nothing: ``want`` starts processes."""

    def want(self, number: int) -> None:
        """Have so many processes, or as many as there may be."""
        most = min(number, self._settings.processes)
        for _ in range(most - len(self.processes) - len(self._starting)):
            self._start()
