"""Where optimisations run: in processes on the CPU, and where it pays in one on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, Protocol

import orjson

from gradwire_service.problems import RequestError
from gradwire_service.scheduling import GaveWay, Placement, Queue
from gradwire_service.scheduling.queued_task import QueueResult
from gradwire_service.tasks.messages import Task, TaskFailed
from gradwire_service.tasks.request import ProgressMessage

#: Reasons why a run that the GPU does not take, or loses, goes on on the CPU.
_BACK = frozenset({"draining", "overloaded", "out_of_gpu_memory", "worker_crashed"})


#: A run is short until it has taken so long; then it is a long one, for which no short one waits.
SHORT_RUN_SECONDS = 2.0


class ExecutorPool(Protocol):
    """Executors of a queue that start when they are wanted."""

    queue: Queue

    def want(self, number: int) -> None:
        """Have so many executors, or as many as there may be."""


class GpuExecutorPool(ExecutorPool, Protocol):
    """A pool that may not be able to open its GPU for a while."""

    @property
    def usable(self) -> bool:
        """True if the GPU is worth trying."""
        ...


class JobDispatcher:
    """Runs tasks on the CPU, or on the GPU that ``placement`` chooses.

    What the GPU computes faster moves there from its checkpoint, once it has run for a while and if
    the GPU is free for it. What the GPU has no memory for, or loses, goes on on the CPU. What has
    to wait for other long runs begins anew then, not from a checkpoint: no result shows whether its
    run has waited. What gives way after its turn goes on from its checkpoint, unless it is exact.
    """

    def __init__(
        self, cpu: ExecutorPool, gpu: GpuExecutorPool | None, placement: Placement
    ) -> None:
        self._cpu, self._gpu, self._placement = cpu, gpu, placement

    def check(self, task: Task) -> None:
        """Raises: ``RequestError`` (overloaded, draining) if no further task can be queued."""
        self._cpu.queue.check(task.deadline, len(task.body), task.tenant or task.owner)

    async def run(
        self,
        task: Task,
        watch: Callable[[], Coroutine[Any, Any, NoReturn]],
        on_progress: Callable[[ProgressMessage], None],
    ) -> QueueResult:
        """Run a task and wait for its answer, as ``Queue.run`` does."""
        latest = task.checkpoint
        #: The last iteration that was reported, and how often an executor was asked for.
        furthest, asks = -1, 0
        exact = False

        async def ask(pool: ExecutorPool, turns: int | None) -> QueueResult:
            nonlocal asks
            asks += 1
            number, silent = asks, furthest

            def progressed(message: ProgressMessage) -> None:
                nonlocal latest, furthest, exact
                iteration = orjson.loads(message.progress)["iteration"]
                if number != asks or iteration <= silent:  # of a run that gave way, or as it was
                    return
                exact, furthest = message.exact, iteration
                latest = message.checkpoint or latest
                on_progress(message)

            pool.want(pool.queue.requests + 1)
            asked = task._replace(checkpoint=latest)
            return await pool.queue.run(
                asked,
                task.deadline,
                len(task.body),
                tenant=task.tenant or task.owner,
                long=turns is not None,
                turns=turns or 0,
                watch=watch,
                on_progress=progressed,
            )

        async def run_in(pool: ExecutorPool) -> QueueResult:
            nonlocal task, latest
            began_from, turns = latest, None
            while True:
                try:
                    return await ask(pool, turns)
                except GaveWay as gave_way:
                    task = task._replace(deadline=task.deadline.renewed())
                    if exact or not gave_way.turns:
                        latest = began_from
                    turns = gave_way.turns

        gpu = self._gpu if self._gpu is not None and self._gpu.usable else None
        if gpu is None or not self._placement.always_gpu:
            task = task._replace(device=None if gpu is None else self._placement.device)
            found = await run_in(self._cpu)
            if not found.answer.outcome.moves:
                return found
            task = task._replace(device=None)
            if gpu is None or gpu.queue.requests or not gpu.usable:
                return await run_in(self._cpu)
        try:
            found = await run_in(gpu)
        except RequestError as error:
            if error.code not in _BACK:
                raise
        else:
            answer = found.answer
            if not isinstance(answer, TaskFailed) or answer.problem.code not in _BACK:
                return found
        return await run_in(self._cpu)
