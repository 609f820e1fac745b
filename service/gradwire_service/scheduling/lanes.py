"""How long tasks and short ones share executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gradwire_service.scheduling.job import Job
from gradwire_service.scheduling.shares import Shares

#: Tasks known to be shorter may use the executors that are kept for other owners.
SHORT_SECONDS = 0.1
#: Turns grow so often.
_MOST_QUADRUPLINGS = 4


class Lanes(NamedTuple):
    """So many executors for long tasks, ``longs``, and one more for short ones.

    A task is short until it has run for ``short_seconds``. Then it is long, or if there are as many
    long ones as may be, it gives way. ``kept`` executors are for owners of whom nothing runs. A
    long task on which such an owner waits gives way after ``turn_seconds``, the next time after
    four times as long, and so on.
    """

    longs: int
    kept: int
    short_seconds: float
    turn_seconds: float = 10.0

    def may_begin(self, job: Job, running: Sequence[Job]) -> bool:
        """True if a job may start beside those that run."""
        if job.long:
            return self.may_be_long(job, running)
        free = self.longs + 1 - len(running)
        return free > self.kept or job.short or _is_alone(job, running)

    def may_be_long(self, job: Job, others: Sequence[Job]) -> bool:
        """True if a job may be long beside others."""
        free = self.longs - sum(other.long for other in others)
        return free > self.kept or (free > 0 and _is_alone(job, others))

    def next_to_give_way(self, running: Sequence[Job], shares: Shares) -> tuple[Job, float] | None:
        """The long job that gives way next to an owner of whom nothing runs, and in what seconds.

        Of the jobs that have used up their time, it is one of the owner with most of them, and of
        such owners of the one that has computed most.
        """
        left = {job: self._turn(job) - job.ran_seconds for job in running if job.long}
        if not left:
            return None
        over = [job for job, seconds in left.items() if seconds <= 0]
        if not over:
            return min(left.items(), key=lambda pair: pair[1])
        count = Counter(job.owner for job in running)
        return max(over, key=lambda job: (count[job.owner], shares.of(job.owner))), 0.0

    def _turn(self, job: Job) -> float:
        return self.turn_seconds * 4.0 ** min(job.turns, _MOST_QUADRUPLINGS)


def _is_alone(job: Job, others: Sequence[Job]) -> bool:
    """True if nothing else of a job's owner runs."""
    return all(other.owner != job.owner for other in others)
