"""A process that computes: asked through a channel, one task at a time, until the channel ends."""

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
from gradwire_service.work.answering import answered
from gradwire_service.work.messages import Task
from gradwire_service.work.tasks import kept_bytes, open_tasks, shared_by
from gradwire_service.workers.channel import Channel, Closed
from gradwire_service.workers.memory import Giver, end_first, limit_memory
from gradwire_service.workers.messages import STOP, Learned, Ready, Retire
from gradwire_service.workers.remote import RemoteStore

#: How long a process has nothing to do before it gives back what it has kept for the next task.
_IDLE_SECONDS = 1.0


class Worker:
    """Does what it is asked."""

    def __init__(self, channel: Channel, settings: Settings, *, apart: bool) -> None:
        self._channel = channel
        self._settings = settings
        store = RemoteStore(channel, settings)
        share = shared_by(settings, settings.processes)
        self._tasks = open_tasks(share, store, apart=apart)
        self._deadline: Deadline | None = None
        self._giver = Giver(kept_bytes(share))

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Stop what is being done, at its next poll."""
        if self._deadline is not None:
            self._deadline.cancel()

    def work(self) -> None:
        """Do one task after the other, until there will be no more.

        Raises: ``Closed``.
        """
        while True:
            if self._channel.is_silent(_IDLE_SECONDS):
                self._channel.release()
                self._giver.release_all()
            if self._giver.holds_too_much:
                self._channel.send(Retire())
            task = self._channel.receive()
            assert isinstance(task, Task)
            self._deadline = task.deadline
            try:
                answer = answered(task, self._tasks, self._settings, self._tell)
            finally:
                self._deadline = None
            self._channel.send(answer)
            del task, answer
            self._giver.release()

    def _tell(self, allowed_ms: float) -> None:
        self._channel.send(Learned(allowed_ms))


def serve(connection: socket.socket, settings: Settings, apart: bool) -> None:
    """What the process does: work for whoever has the other end, until that is gone."""
    end_with_parent()
    # They may come to all processes of a service at once, which lets us finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # Python's own would quote programs on the standard error
    threadpool_limits(settings.blas_threads)
    keep_freed_memory(KEPT_BY_PROCESS_BYTES, in_one=True)
    channel = Channel(connection)
    worker = Worker(channel, settings, apart=apart)
    gc.freeze()
    signal.signal(STOP, worker.stop)
    end_first()
    limit_memory(settings.process_bytes)
    try:
        with suppress(Closed):
            channel.send(Ready())
            worker.work()
    except MemoryError:  # beside a task, with no room to tell: as the system ends who has no memory
        signal.raise_signal(signal.SIGKILL)
