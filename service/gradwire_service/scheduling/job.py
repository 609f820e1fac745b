"""A task in the queue, and the executor that runs it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Protocol

from gradwire_service.scheduling.deadline import Deadline

#: Time after a deadline in which the work itself can report where it stopped.
GRACE_SECONDS = 0.1


class Executor(Protocol):
    """Runs one task at a time; called on the event loop."""

    #: Whether it accepts another task.
    alive: bool

    def begin(self, task: Any, on_answer: Callable[[Any], None]) -> None:
        """Run a task, and call ``on_answer`` once with its result, on the event loop."""

    def stop(self) -> None:
        """Stop the task at its next poll."""

    def kill(self) -> None:
        """Stop it at once, if possible."""


class JobResult(NamedTuple):
    """The answer to a task, its waiting time, and its executor."""

    answer: Any
    waited_seconds: float
    executor: Executor


class Job:
    """A task in the queue or running; ``answer`` completes once, at its deadline at the latest."""

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
        #: Whether it is known to be short.
        self.short = False
        #: Whether it counts towards the limits of the queue.
        self.counted = False
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waited_seconds(self) -> float:
        """The waiting time, so far or in all."""
        return min(self.began_at, monotonic()) - self.queued_at

    @property
    def late(self) -> bool:
        """Whether the deadline and the grace period have passed."""
        return self.deadline.remaining_seconds() + GRACE_SECONDS <= 0

    def start_timer(self) -> None:
        """Fail the job when it is late; any thread that reads the body may move the deadline."""
        self.deadline.on_move = partial(self._loop.call_soon_threadsafe, self._set_timer)
        self._set_timer()

    def stop_timer(self) -> None:
        """Stop the timer of a job that needs none any more."""
        self.deadline.on_move = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def fail(self, error: BaseException) -> None:
        """Set an error as the answer, unless there is an answer."""
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
