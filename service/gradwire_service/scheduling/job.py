"""A task on its way through the queue, and who does it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Protocol

from gradwire_service.scheduling.deadline import Deadline

#: How long after a deadline the work itself gets to say where it was stopped.
GRACE_SECONDS = 0.1


class Executor(Protocol):
    """What does one task at a time, called on the event loop."""

    #: Whether it may be given another task.
    alive: bool

    def begin(self, task: Any, answered: Callable[[Any], None]) -> None:
        """Do a task, and call ``answered`` with what comes of it, once, on the event loop."""

    def stop(self) -> None:
        """Stop the task at its next poll."""

    def kill(self) -> None:
        """Stop it at once, where that is possible."""


class JobResult(NamedTuple):
    """The answer to a task, how long it waited, and who did it."""

    answer: Any
    waited_seconds: float
    executor: Executor


class Job:
    """A task in the queue or running; ``answer`` is completed once, also when its time is over."""

    __slots__ = (
        "_loop",
        "_timer",
        "answer",
        "began_at",
        "counted",
        "deadline",
        "executor",
        "expected_seconds",
        "home",
        "nbytes",
        "owner",
        "queued_at",
        "short",
        "task",
    )

    def __init__(
        self,
        task: Any,
        deadline: Deadline,
        owner: str,
        nbytes: int,
        expected_seconds: float,
        home: str | None,
    ) -> None:
        self.task = task
        self.deadline = deadline
        self.owner = owner
        self.nbytes = nbytes
        self.expected_seconds = expected_seconds
        self.home = home
        self.executor: Executor | None = None
        self.queued_at = monotonic()
        self.began_at = math.inf
        #: Whether it is known to take little.
        self.short = False
        #: Whether the queue counts it among its work.
        self.counted = False
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waited_seconds(self) -> float:
        """How long it waited, or has so far."""
        return min(self.began_at, monotonic()) - self.queued_at

    @property
    def late(self) -> bool:
        """Whether its time is over, and the grace that the work has to say so."""
        return self.deadline.remaining_seconds() + GRACE_SECONDS <= 0

    def start_timer(self) -> None:
        """From now on, fail when it is late; reading the body, in any thread, may move that."""
        self.deadline.on_move = partial(self._loop.call_soon_threadsafe, self._set_timer)
        self._set_timer()

    def stop_timer(self) -> None:
        """It has its answer, or nobody waits for one."""
        self.deadline.on_move = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def fail(self, error: BaseException) -> None:
        """Answer with an error, if it has no answer."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.answer.done():
            return
        if self.late:
            self.fail(self.deadline.exceeded())
            return
        patience = self.deadline.remaining_seconds() + GRACE_SECONDS
        self._timer = self._loop.call_later(patience, self._set_timer)
