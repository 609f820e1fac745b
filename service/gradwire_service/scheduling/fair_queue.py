"""A fair queue: the owner that was served least comes first, its jobs in their order."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from operator import attrgetter

from gradwire_service.scheduling.job import Job
from gradwire_service.scheduling.shares import Shares

_expected = attrgetter("long", "expected_seconds")


class FairQueue:
    """Waiting jobs by owner, who are served by their ``shares``."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        #: Of equal shares, that of the owner served longest ago comes first.
        self._owners: OrderedDict[str, deque[Job]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._owners)

    def add(self, job: Job) -> None:
        """Append a job to its owner's queue."""
        self._owners.setdefault(job.owner, deque()).append(job)

    def take(self, may: Callable[[Job], bool]) -> Job | None:
        """Remove and return the first job that ``may`` go; its owner then moves to the end.

        For each owner, the first job and the one with the shortest expected duration are tried.
        """
        for owner in sorted(self._owners, key=self._shares.of):
            queue = self._owners[owner]
            for job in (queue[0], min(queue, key=_expected)) if len(queue) > 1 else (queue[0],):
                if may(job):
                    self.remove(job)
                    if owner in self._owners:
                        self._owners.move_to_end(owner)
                    return job
        return None

    def remove(self, job: Job) -> None:
        """Remove a job without affecting its owner's turn."""
        queue = self._owners[job.owner]
        queue.remove(job)
        if not queue:
            del self._owners[job.owner]

    def longest(self) -> Job | None:
        """The newest job of the owner with the most jobs."""
        if not self._owners:
            return None
        return max(self._owners.values(), key=len)[-1]

    def owners(self) -> set[str]:
        """The owners of jobs."""
        return set(self._owners)

    def count_of(self, owner: str) -> int:
        """The number of an owner's jobs."""
        return len(self._owners.get(owner, ()))

    def all(self) -> list[Job]:
        """All jobs."""
        return [job for queue in self._owners.values() for job in queue]
