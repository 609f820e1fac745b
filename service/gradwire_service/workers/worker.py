"""A worker process: runs tasks from its channel, one at a time, until the channel closes."""

from __future__ import annotations

import gc
import signal
import socket
import warnings
from contextlib import suppress
from types import FrameType

from threadpoolctl import threadpool_limits

from gradwire_service.allocation import KEPT_BY_PROCESS_BYTES, keep_freed_memory
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.watchdog import end_with_parent
from gradwire_service.work.messages import Task
from gradwire_service.work.tasks import divide_caches, execute, max_cache_bytes, open_tasks
from gradwire_service.workers.channel import Channel, ChannelClosed
from gradwire_service.workers.memory import MemoryTrimmer, end_first, limit_memory, lower_priority
from gradwire_service.workers.messages import STOP, Ready, Recycle, TimeoutChanged
from gradwire_service.workers.remote import RemoteStore
from gradwire_service.workers.remote_codes import RemoteCodes

#: Idle time after which a process releases memory kept for the next task.
_IDLE_SECONDS = 1.0


class Worker:
    """Runs tasks from a channel."""

    def __init__(
        self, channel: Channel, codes: Channel, settings: Settings, *, isolated: bool
    ) -> None:
        self._channel = channel
        self._settings = settings
        store = RemoteStore(channel, settings)
        share = divide_caches(settings, settings.processes)
        self._tasks = open_tasks(share, store, RemoteCodes(codes), isolated=isolated)
        self._deadline: Deadline | None = None
        self._trimmer = MemoryTrimmer(max_cache_bytes(share))

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Stop the running task at its next poll."""
        if self._deadline is not None:
            self._deadline.cancel()

    def work(self) -> None:
        """Run tasks one after the other until the channel closes.

        Raises: ``ChannelClosed``.
        """
        while True:
            if self._channel.is_idle(_IDLE_SECONDS):
                self._channel.release()
                self._trimmer.trim_all()
            if self._trimmer.over_limit:
                self._channel.send(Recycle())
            task = self._channel.receive()
            assert isinstance(task, Task)
            self._deadline = task.deadline
            try:
                answer = execute(task, self._tasks, self._settings, self._report_timeout)
            finally:
                self._deadline = None
            self._channel.send(answer)
            del task, answer
            self._trimmer.trim()

    def _report_timeout(self, allowed_ms: float) -> None:
        self._channel.send(TimeoutChanged(allowed_ms))


def serve(
    connection: socket.socket, codes: socket.socket, settings: Settings, isolated: bool
) -> None:
    """Run tasks until the other end of the connection closes; through ``codes`` share code."""
    end_with_parent()
    # Sent to all processes of a service at once; the service lets workers finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # Python's own warnings would print programs to stderr
    threadpool_limits(settings.blas_threads)
    keep_freed_memory(KEPT_BY_PROCESS_BYTES, in_one=True)
    channel = Channel(connection)
    worker = Worker(channel, Channel(codes), settings, isolated=isolated)
    gc.freeze()
    signal.signal(STOP, worker.stop)
    end_first()
    lower_priority()
    limit_memory(settings.process_bytes)
    try:
        with suppress(ChannelClosed):
            channel.send(Ready())
            worker.work()
    except MemoryError:  # outside of a task, where it cannot be reported
        signal.raise_signal(signal.SIGKILL)
