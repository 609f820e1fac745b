"""The processes that compute on the GPU: one for requests, and one for optimisations."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.scheduling import Capacity, Placement
from gradwire_service.workers.pool import JobPool, ProcessPool
from gradwire_service.workers.process import WorkerProcess

logger = logging.getLogger("gradwire")

#: A process that ends so often in a row before it is ready will not be ready the next time.
_MOST_STARTS = 3
#: Time until another process for optimisations is tried where one could not open the GPU.
_TRIED_AGAIN_SECONDS = 60.0


class GpuPool(ProcessPool):
    """A process on the GPU, the executor of ``queue``; ``placement`` has its device while it runs.

    A process that ends is replaced; meanwhile what arrives, and what waits, runs on the CPU. If the
    GPU is lost, the service fails: it ends when it has drained.
    """

    def __init__(
        self,
        *arguments: Any,
        placement: Placement,
        capacity: Capacity,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        self._placement = placement
        self._capacity = capacity
        #: Whether a process has ever been ready, and starts since one was.
        self.warmed_up = False
        self._starts = 0

    @property
    def used_bytes(self) -> int:
        """The memory of the GPU in use, as its process last reported."""
        return sum([process.device_bytes for process in self.processes])

    async def open(self) -> None:
        """Start the process; it joins the queue when it is ready."""
        self._start()

    def _start(self, after_seconds: float = 0.0) -> None:
        self._starts += 1
        super()._start(after_seconds)

    def _ready(self, process: WorkerProcess) -> None:
        self.warmed_up, self._starts = True, 0
        self._placement.device = process.device
        super()._ready(process)

    def _replace(self, process: WorkerProcess) -> None:
        self._placement.device = None
        self._metrics.lost_gpu()
        self.queue.drop()
        fault = process.device_fault
        if self._starts >= _MOST_STARTS and not fault:
            fault = f"its process ended {self._starts} times before it was ready"
        if not fault:
            self._start()
            return
        logger.error("the GPU cannot be used, and the service ends: %s", fault)
        self._capacity.fail(f"the GPU cannot be used: {fault}")


class GpuJobPool(JobPool):
    """A process on the GPU for optimisations, which starts when there is one that it is to run.

    Where it cannot open the GPU, which others may have for themselves, what waits is dropped.
    """

    def __init__(
        self, *arguments: Any, clock: Callable[[], float] = monotonic, **named: Any
    ) -> None:
        super().__init__(*arguments, **named)
        self._clock = clock
        self._tried_from = -math.inf

    @property
    def usable(self) -> bool:
        """False for a while after a process could not open the GPU."""
        return self._clock() >= self._tried_from

    def _replace(self, process: WorkerProcess) -> None:
        if process.was_ready:
            super()._replace(process)
            return
        logger.warning("optimisations cannot use the GPU: %s", process.device_fault)
        self._tried_from = self._clock() + _TRIED_AGAIN_SECONDS
        self.queue.drop()
