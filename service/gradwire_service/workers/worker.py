"""A worker process: runs tasks from its channel, one at a time, until the channel closes."""

from __future__ import annotations

import gc
import signal
import socket
import warnings
from contextlib import suppress
from time import monotonic
from types import FrameType

from gradwire_gpu import GpuLost, GpuUnavailable, OutOfGpuMemory
from threadpoolctl import threadpool_limits

from gradwire_service.allocation import KEPT_BY_PROCESS_BYTES, keep_freed_memory
from gradwire_service.machine_code.compilation import (
    Codes,
    CompilingProcess,
    GpuCompiler,
    is_compiled,
)
from gradwire_service.scheduling import Deadline
from gradwire_service.settings import Settings
from gradwire_service.tasks.messages import Task, TaskFailed
from gradwire_service.tasks.registry import divide_caches, execute, max_cache_bytes, open_tasks
from gradwire_service.watchdog import end_with_parent
from gradwire_service.wire.shared import to_shared
from gradwire_service.workers.channel import Channel, ChannelClosed
from gradwire_service.workers.memory import (
    DRIVER_BYTES,
    MemoryTrimmer,
    limit_memory,
    lower_priority,
    set_oom_score,
)
from gradwire_service.workers.messages import (
    STOP,
    DeviceLost,
    DeviceMemory,
    Ready,
    Recycle,
    TimeoutChanged,
)
from gradwire_service.workers.opened_gpu import OpenedGpu, OpenGpu
from gradwire_service.workers.remote import RemoteStore
from gradwire_service.workers.remote_codes import RemoteCodes

#: Idle time after which a process releases memory kept for the next task.
_IDLE_SECONDS = 1.0
#: The program that a GPU is warmed up with: how often it is replayed, and how long that may take.
_WARM_UP = b'{"program": "sum(x * sin(x))", "variables": {"x": [0.5, 1.5]}}'
_WARM_REPLAYS, _WARM_UP_MS = 3, 60_000
#: Time between reports of the GPU's used memory.
_REPORT_SECONDS = 1.0


class Worker:
    """Runs tasks from a channel."""

    def __init__(
        self,
        channel: Channel,
        codes: Codes,
        settings: Settings,
        *,
        isolated: bool,
        gpu: OpenedGpu | None = None,
        compiling: CompilingProcess | None = None,
    ) -> None:
        self._channel = channel
        self._settings = settings
        self._gpu = gpu
        self._store = store = RemoteStore(channel, settings)
        share = _with_share(settings, on_gpu=gpu is not None)
        backend = None if gpu is None else gpu.backend
        self._tasks = open_tasks(
            share, store, codes, isolated=isolated, backend=backend, compiling=compiling
        )
        self._deadline: Deadline | None = None
        kept_bytes = max_cache_bytes(share) + (0 if gpu is None else DRIVER_BYTES)
        self._trimmer = MemoryTrimmer(kept_bytes)
        self._reported_at = 0.0

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Stop the running task at its next poll."""
        if self._deadline is not None:
            self._deadline.cancel()

    def work(self) -> None:
        """Run tasks one after the other until the channel closes.

        Raises: ``ChannelClosed``, ``GpuLost``.
        """
        while True:
            if self._channel.is_idle(_IDLE_SECONDS):
                self._channel.release()
                self._store.release()
                self._trimmer.trim_all()
            if self._trimmer.over_limit:
                self._channel.send(Recycle())
            task = self._channel.receive()
            assert isinstance(task, Task)
            self._deadline = task.deadline
            try:
                reports = self._report_timeout, self._channel.send
                answer = execute(task, self._tasks, self._settings, *reports)
            finally:
                self._deadline = None
            answer.outcome.on_gpu = self._gpu is not None
            self._channel.send(answer)
            self._report_memory()
            del task, answer
            self._trimmer.trim()

    def warm_up(self) -> None:
        """Compile and run a small program, as often as it takes until nothing is left to compile.

        Raises: ``GpuLost``; ``RuntimeError`` if it fails.
        """
        for _ in range(_WARM_REPLAYS):
            task = Task("gradient", (), {}, "", Deadline(_WARM_UP_MS), to_shared([_WARM_UP]))
            ignored = lambda _: None, lambda _: None
            answer = execute(task, self._tasks, self._settings, *ignored)
            if isinstance(answer, TaskFailed):
                raise RuntimeError(answer.trace or answer.problem.detail)

    def _report_timeout(self, allowed_ms: float) -> None:
        self._channel.send(TimeoutChanged(allowed_ms))

    def _report_memory(self) -> None:
        """Report the used memory of the GPU, not more often than each second."""
        if self._gpu is not None and monotonic() - self._reported_at > _REPORT_SECONDS:
            self._reported_at = monotonic()
            self._channel.send(DeviceMemory(self._gpu.used_bytes()))


def _with_share(settings: Settings, *, on_gpu: bool) -> Settings:
    """The settings of one process, with its share of the caches.

    The GPU's process has half of them: it keeps an array on the GPU while that is cached.
    """
    if on_gpu:
        return divide_caches(settings, 2)
    return divide_caches(settings, settings.processes * (1 if settings.backend == "numpy" else 2))


def serve(
    connection: socket.socket,
    codes: socket.socket,
    settings: Settings,
    isolated: bool,
    open_gpu: OpenGpu | None = None,
    for_jobs: bool = False,
) -> None:
    """Run tasks until the other end of the connection closes; through ``codes`` share code.

    With ``open_gpu``, compute on a GPU: until it is lost, which ends the process. ``for_jobs`` at
    a lower priority.
    """
    end_with_parent()
    # Sent to all processes of a service at once; the service lets workers finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    on_cpu = open_gpu is None
    compiling = CompilingProcess() if on_cpu and is_compiled(settings) else None
    warnings.simplefilter("ignore")  # Python's own warnings would print programs to stderr
    threadpool_limits(settings.blas_threads)
    keep_freed_memory(KEPT_BY_PROCESS_BYTES, in_one=True)
    channel, shared = Channel(connection), RemoteCodes(Channel(codes))
    try:
        gpu = None if open_gpu is None else open_gpu(settings, GpuCompiler(shared))
        worker = Worker(channel, shared, settings, isolated=isolated, gpu=gpu, compiling=compiling)
        if gpu is not None:
            worker.warm_up()
        gc.freeze()
        gc.enable()
        signal.signal(STOP, worker.stop)
        set_oom_score()
        lower_priority(for_jobs=for_jobs)
        limit_memory(settings.process_bytes)
        with suppress(ChannelClosed):
            channel.send(Ready(None if gpu is None else gpu.device))
            worker.work()
    except (GpuLost, GpuUnavailable, OutOfGpuMemory) as error:
        with suppress(ChannelClosed):
            channel.send(DeviceLost(str(error)))
        signal.raise_signal(signal.SIGKILL)  # the driver's own end may hang
    except MemoryError:  # outside of a task, where it cannot be reported
        signal.raise_signal(signal.SIGKILL)
