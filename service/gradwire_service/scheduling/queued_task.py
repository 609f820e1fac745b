"""A task in the queue, and the executor that runs it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

from gradwire_service.scheduling.deadline import Deadline

#: Time after a deadline in which the work itself can report where it stopped.
GRACE_SECONDS = 0.1
#: Event loops may wake up early by this much.
TICK_SECONDS = 0.001


class Executor(Protocol):
    """Runs one task at a time; called on the event loop."""

    #: Whether it accepts another task.
    alive: bool

    def begin(
        self, task: Any, on_answer: Callable[[Any], None], on_progress: Callable[[Any], None]
    ) -> None:
        """Run a task; call ``on_answer`` once with its result, before it ``on_progress`` at will.

        Both are called on the event loop.
        """

    def stop(self) -> None:
        """Stop the task at its next poll."""

    def kill(self) -> None:
        """Stop it at once, if possible."""


class GaveWay(Exception):
    """A task has left its executor to others, and may be asked for again.

    Either it proved to be long while as many long tasks ran as are allowed, or it has used up its
    time, and a tenant of whom nothing runs is waiting. It counts as long then, and has had so many
    ``turns``.
    """

    def __init__(self, turns: int) -> None:
        super().__init__(turns)
        self.turns = turns


class QueueResult(NamedTuple):
    """The answer to a task, its waiting time, and its executor."""

    answer: Any
    waited_seconds: float
    executor: Executor


@dataclass(slots=True, eq=False)
class QueuedTask:
    """A task in the queue or running; ``answer`` completes once, at its deadline at the latest."""

    message: Any
    deadline: Deadline
    tenant: str
    nbytes: int
    expected_seconds: float
    home: str | None
    #: Whether it is known to be short, and whether it has proved to be long.
    short: bool
    long: bool
    clock: Callable[[], float]
    #: How often it has given way to others before.
    turns: int = 0
    #: Called with messages about its progress.
    on_progress: Callable[[Any], None] = lambda _: None
    executor: Executor | None = None
    queued_at: float = field(init=False)
    began_at: float = math.inf
    #: Whether it counts towards the limits of the queue.
    counted: bool = False
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _timer: asyncio.TimerHandle | None = None
    answer: asyncio.Future[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.queued_at = self.clock()
        self.answer = self._loop.create_future()

    @property
    def waited_seconds(self) -> float:
        """The waiting time, so far or in all."""
        return min(self.began_at, self.clock()) - self.queued_at

    @property
    def ran_seconds(self) -> float:
        """The time since it began; negative before."""
        return self.clock() - self.began_at

    @property
    def late(self) -> bool:
        """True if the deadline and the grace period have passed."""
        return self.deadline.remaining_seconds() + GRACE_SECONDS <= 0

    def start_timer(self) -> None:
        """Fail the task when it is late; any thread that reads the body may move the deadline."""
        self.deadline.on_move = partial(self._loop.call_soon_threadsafe, self._set_timer)
        self._set_timer()

    def stop_timer(self) -> None:
        """Stop the timer of a task that needs none any more."""
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
        patience = max(self.deadline.remaining_seconds() + GRACE_SECONDS, TICK_SECONDS)
        self._timer = self._loop.call_later(patience, self._set_timer)
