"""Sharing of executors between long tasks and short ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gradwire_service.scheduling.queued_task import QueuedTask
from gradwire_service.scheduling.shares import Shares

#: Tasks known to be shorter may use the executors that are kept for other tenants.
SHORT_SECONDS = 0.1
#: Turns grow so often.
_MOST_QUADRUPLINGS = 4


class Lanes(NamedTuple):
    """So many executors for long tasks, ``longs``, and one more for short ones.

    A task is short until it has run for ``short_seconds``. Then it is long, or if there are as many
    long ones as may be, it gives way. ``kept`` executors are for tenants of whom nothing runs. A
    long task on which such a tenant waits gives way after ``turn_seconds``, the next time after
    four times as long, and so on.
    """

    longs: int
    kept: int
    short_seconds: float
    turn_seconds: float = 10.0

    def may_begin(self, task: QueuedTask, running: Sequence[QueuedTask]) -> bool:
        """True if a task may start beside those that run."""
        if task.long:
            return self.may_be_long(task, running)
        free = self.longs + 1 - len(running)
        return free > self.kept or task.short or _is_alone(task, running)

    def may_be_long(self, task: QueuedTask, others: Sequence[QueuedTask]) -> bool:
        """True if a task may be long beside others."""
        free = self.longs - sum(other.long for other in others)
        return free > self.kept or (free > 0 and _is_alone(task, others))

    def next_to_give_way(
        self, running: Sequence[QueuedTask], shares: Shares
    ) -> tuple[QueuedTask, float] | None:
        """The long task that gives way next to a tenant of whom nothing runs, and in what seconds.

        Of the tasks that have used up their time, it is one of the tenant with most of them, and of
        such tenants of the one that has computed most.
        """
        left = {task: self._turn(task) - task.ran_seconds for task in running if task.long}
        if not left:
            return None
        over = [task for task, seconds in left.items() if seconds <= 0]
        if not over:
            return min(left.items(), key=lambda pair: pair[1])
        count = Counter(task.tenant for task in running)
        return max(over, key=lambda task: (count[task.tenant], shares.of(task.tenant))), 0.0

    def _turn(self, task: QueuedTask) -> float:
        return self.turn_seconds * 4.0 ** min(task.turns, _MOST_QUADRUPLINGS)


def _is_alone(task: QueuedTask, others: Sequence[QueuedTask]) -> bool:
    """True if nothing else of a task's tenant runs."""
    return all(other.tenant != task.tenant for other in others)
