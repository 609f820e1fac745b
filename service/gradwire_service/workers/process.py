"""A worker process, as seen by the event loop of the service."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

from gradwire_service.machine_code import CodeCache
from gradwire_service.problems import WorkerCrashed
from gradwire_service.scheduling.bounds import overloaded
from gradwire_service.scheduling.placement import Device
from gradwire_service.settings import Settings
from gradwire_service.store import Store
from gradwire_service.tasks.messages import Task
from gradwire_service.tasks.request import ProgressMessage
from gradwire_service.telemetry import Metrics
from gradwire_service.workers.channel import Channel, ChannelClosed
from gradwire_service.workers.forking import FORKING
from gradwire_service.workers.messages import (
    STOP,
    DeviceLost,
    DeviceMemory,
    Raised,
    Ready,
    Recycle,
    Returned,
    StoreCall,
    TimeoutChanged,
)
from gradwire_service.workers.remote import dispatch
from gradwire_service.workers.remote_codes import share_codes

logger = logging.getLogger("gradwire")

_JOIN_SECONDS = 5
#: The status of a process whose fork server has ended before it could report one.
_UNKNOWN_STATUS = 255
#: Starting a process reads the status of all that have ended. The fork server sends each status
#: once: of two threads that read it at the same time, one would see the pipe's end, status 255.
_STATUS_LOCK = threading.Lock()

#: The main function of a worker process: ``workers.worker.serve``.
Serve: TypeAlias = Callable[[socket.socket, socket.socket, Settings, bool], None]


class StartedProcess:
    """A running process and its channel. Create it in a thread: starting it blocks.

    What it compiles, it shares with others through ``codes``.
    """

    def __init__(
        self,
        serve: Serve,
        settings: Settings,
        codes: CodeCache,
        *,
        isolated: bool,
    ) -> None:
        ours, theirs = socket.socketpair()
        our_codes, their_codes = socket.socketpair()
        with theirs, their_codes:
            arguments = theirs, their_codes, settings, isolated
            self.process: BaseProcess = FORKING.Process(
                target=serve, args=arguments, name="gradwire", daemon=True
            )
            with _STATUS_LOCK:
                self.process.start()
        self.channel = Channel(ours)
        share_codes(our_codes, codes)

    def end(self) -> None:
        """Kill the process and close the channel."""
        self.channel.close()
        self.process.kill()


class WorkerProcess:
    """Runs one task at a time. Only for the event loop; calls of the store run in ``threads``."""

    def __init__(
        self,
        started: StartedProcess,
        store: Store,
        threads: ThreadPoolExecutor,
        ready: Callable[[WorkerProcess], None],
        ended: Callable[[WorkerProcess], None],
        metrics: Metrics,
    ) -> None:
        self._process = started.process
        self._channel = started.channel
        self._store = store
        self._threads = threads
        self._ready = ready
        self._ended = ended
        self._metrics = metrics
        self._task: Task | None = None
        self._on_answer: Callable[[Any], None] | None = None
        self._on_progress: Callable[[Any], None] = lambda _: None
        self._killed = self._recycling = self._has_ended = False
        self.alive = True
        self.was_ready = False
        #: Its GPU, the memory of that in use, and why no process can compute there any more.
        self.device: Device | None = None
        self.device_bytes = 0
        self.device_fault = ""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._channel.fileno(), self._arrived)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None
        return self._process.pid

    def begin(
        self, task: Task, on_answer: Callable[[Any], None], on_progress: Callable[[Any], None]
    ) -> None:
        """Send a task."""
        self._task, self._on_answer, self._on_progress = task, on_answer, on_progress
        with suppress(ChannelClosed):  # reported when the socket is read
            self._channel.send(task)

    def stop(self) -> None:
        """Stop the task at its next poll."""
        self._signal(STOP)

    def kill(self) -> None:
        """Kill the process. It accepts no other task, but an answer may still arrive."""
        self._killed, self.alive = True, False
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self.pid, number)

    def _arrived(self) -> None:
        try:
            for message in self._channel.receive_available():
                self._on_message(message)
        except ChannelClosed:
            if not self._has_ended:
                joined = self._end()
                joined.add_done_callback(lambda _: self._complete(self._error()))

    def _end(self) -> asyncio.Future[None]:
        """Replace the process, which ends with its channel."""
        self.alive, self._has_ended = False, True
        self._ended(self)
        self._loop.remove_reader(self._channel.fileno())
        self._channel.close()
        return self._loop.run_in_executor(self._threads, self._join)

    def _on_message(self, message: Any) -> None:
        if isinstance(message, StoreCall):
            if self._store.waits:
                called = self._loop.run_in_executor(self._threads, dispatch, self._store, message)
                called.add_done_callback(self._called)
            else:
                self._reply(dispatch(self._store, message))
        elif isinstance(message, TimeoutChanged):
            if self._task is not None:
                self._task.deadline.allow(message.allowed_ms)
        elif isinstance(message, ProgressMessage):
            self._metrics.progressed_job()
            self._on_progress(message)
        elif isinstance(message, Ready):
            self.device, self.was_ready = message.device, True
            self._ready(self)
        elif isinstance(message, DeviceMemory):
            self.device_bytes = message.nbytes
        elif isinstance(message, DeviceLost):
            self.device_fault = message.reason
        elif isinstance(message, Recycle):
            self._recycling = True
            if self._task is None and self.alive:
                self._end()
        else:
            if self._recycling and self.alive:  # before it gets the next task
                self._end()
            self._complete(message)

    def _called(self, called: asyncio.Future[Returned | Raised]) -> None:
        if not called.cancelled():
            self._reply(called.result())

    def _reply(self, answer: Returned | Raised) -> None:
        with suppress(ChannelClosed, OSError):
            self._channel.send(answer)

    def _complete(self, answer: Any) -> None:
        on_answer, self._on_answer, self._task = self._on_answer, None, None
        self._on_progress = lambda _: None
        if on_answer is not None:
            on_answer(answer)

    def _join(self) -> None:
        wait([self._process.sentinel], _JOIN_SECONDS)
        with _STATUS_LOCK:
            self._process.join(0)

    def _error(self) -> Exception:
        """The error of its task after its end."""
        status = self._process.exitcode
        out_of_memory = status == -signal.SIGKILL and not self._killed
        self._metrics.ended_worker(
            "killed" if self._killed else "memory" if out_of_memory else "crashed"
        )
        if self.device_fault:
            return WorkerCrashed(
                "worker_crashed",
                f"the GPU was lost while it computed this request: {self.device_fault}",
                hint="repeat it once; if it happens again, report it with the program",
            )
        if status == _UNKNOWN_STATUS and not self._killed:
            return overloaded(
                "the process that starts workers was ended, and all of them with it", 1
            )
        if not self._killed:
            logger.warning("a worker process ended unexpectedly", extra={"exit_status": status})
        if out_of_memory:
            return WorkerCrashed(
                "over_budget",
                "the system killed the worker process of this request, probably out of memory",
                hint="use smaller arrays, or send less work at once",
            )
        return WorkerCrashed(
            "worker_crashed",
            f"the worker process of this request ended with status {status}",
            hint="report it with the program, which may crash other workers too",
        )
