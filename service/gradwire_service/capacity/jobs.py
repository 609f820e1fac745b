"""Work that waits for a thread, and the line that it waits in."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from enum import Enum, auto
from time import monotonic
from typing import Any

from gradwire_service.capacity.deadline import Deadline


class State(Enum):
    """Where a job is; what has begun is in a thread of its own until it is over."""

    WAITING = auto()
    RUNNING = auto()
    PAUSED = auto()
    #: Nobody waits for it: it neither begins nor goes on.
    WITHDRAWN = auto()


class Job:
    """Work of an owner's, and what became of it.

    ``expected_seconds`` is how long it will run; ``done`` is called when it is over, in its thread,
    or when it is withdrawn before it began. What ``too_late`` gives when its turn comes is its
    error, in place of its work. ``held_up`` is told, in that thread, when it pauses
    and when it goes on.
    """

    __slots__ = (
        "deadline",
        "done",
        "error",
        "expected_seconds",
        "held_up",
        "owner",
        "ran_since",
        "result",
        "resumed",
        "state",
        "submitted_at",
        "thread",
        "too_late",
        "waited_seconds",
        "work",
    )

    def __init__(
        self,
        work: Callable[[], Any],
        deadline: Deadline,
        owner: str,
        expected_seconds: float,
        done: Callable[[Job], None],
        too_late: Callable[[Job], BaseException | None] = lambda _: None,
        held_up: Callable[[bool], None] | None = None,
    ) -> None:
        self.work: Callable[[], Any] | None = work
        self.deadline = deadline
        self.owner = owner
        self.expected_seconds = expected_seconds
        self.done: Callable[[Job], None] | None = done
        self.too_late = too_late
        self.held_up = held_up
        self.result: Any = None
        self.error: BaseException | None = None
        self.state = State.WAITING
        self.thread = 0
        self.resumed: threading.Event | None = None
        self.submitted_at = monotonic()
        self.waited_seconds = 0.0
        #: When it began, moved on by its pauses.
        self.ran_since = 0.0

    @property
    def ran_seconds(self) -> float:
        """How long it has run, or did in all."""
        return monotonic() - self.ran_since

    def run(self) -> None:
        """Do the work in this thread."""
        self.ran_since = monotonic()
        self.waited_seconds = self.ran_since - self.submitted_at
        work, self.work = self.work, None
        assert work is not None
        self.error = self.too_late(self)
        if self.error is not None:
            return
        self.thread = threading.get_ident()
        try:
            self.result = work()
        except BaseException as error:  # noqa: BLE001 - it is raised where the job is waited for
            self.error = error
            del self, work  # the error holds this frame

    def finish(self) -> None:
        """Tell that it is over, once; what it was asked for is held no longer."""
        done, self.done, self.work = self.done, None, None
        self.deadline.take_no_turns()
        if done is not None:
            done(self)


class Line:
    """Jobs that wait or are paused: those of each owner in their order, the owners in turn."""

    def __init__(self) -> None:
        self._paused: dict[str, deque[Job]] = {}
        self._waiting: dict[str, deque[Job]] = {}
        #: Who has any of them, whoever was not served longest first.
        self._owners: OrderedDict[str, None] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._owners)

    def add(self, job: Job) -> None:
        """Put a job behind those of its owner."""
        lines = self._paused if job.state is State.PAUSED else self._waiting
        lines.setdefault(job.owner, deque()).append(job)
        self._owners.setdefault(job.owner)

    def heads(self) -> Iterator[tuple[str, Job | None, Job | None]]:
        """Each owner in turn, with the first of its jobs that are paused, and that wait."""
        for owner in self._owners:
            yield owner, _first(self._paused, owner), _first(self._waiting, owner)

    def take(self, job: Job) -> Job:
        """Take a job out; its owner's turn is over."""
        self.remove(job)
        if job.owner in self._owners:
            self._owners.move_to_end(job.owner)
        return job

    def remove(self, job: Job) -> None:
        """Take a job out, as if it had never been there."""
        lines = self._paused if job.state is State.PAUSED else self._waiting
        lines[job.owner].remove(job)
        if not lines[job.owner]:
            del lines[job.owner]
        if job.owner not in self._paused and job.owner not in self._waiting:
            del self._owners[job.owner]

    def longest(self) -> tuple[str, Job] | None:
        """Who has most jobs waiting, and the one that came last of them."""
        if not self._waiting:
            return None
        owner = max(self._waiting, key=lambda owner: len(self._waiting[owner]))
        return owner, self._waiting[owner][-1]

    def shortest(self, owner: str) -> Job:
        """The job of an owner's that is expected to take least, of those that wait."""
        return min(self._waiting[owner], key=lambda job: job.expected_seconds)

    def waiting_of(self, owner: str) -> int:
        """How many jobs of an owner's have not begun."""
        return len(self._waiting.get(owner, ()))

    def paused_bytes(self) -> int:
        """What all that are paused may hold."""
        return sum([job.deadline.held_bytes for jobs in self._paused.values() for job in jobs])

    def waiting(self) -> list[Job]:
        """All that have not begun."""
        return [job for jobs in self._waiting.values() for job in jobs]


def _first(lines: dict[str, deque[Job]], owner: str) -> Job | None:
    line = lines.get(owner)
    return line[0] if line else None
