"""A fair queue: the tenant that was served least comes first, its tasks in their order."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from operator import attrgetter

from gradwire_service.scheduling.queued_task import QueuedTask
from gradwire_service.scheduling.shares import Shares

_expected = attrgetter("long", "expected_seconds")


class FairQueue:
    """Waiting tasks by tenant, who are served by their ``shares``."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        #: Of equal shares, that of the tenant served longest ago comes first.
        self._tenants: OrderedDict[str, deque[QueuedTask]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._tenants)

    def add(self, task: QueuedTask) -> None:
        """Append a task to its tenant's queue."""
        self._tenants.setdefault(task.tenant, deque()).append(task)

    def take(self, may: Callable[[QueuedTask], bool]) -> QueuedTask | None:
        """Remove and return the first task that ``may`` go; its tenant then moves to the end.

        For each tenant, the first task and the one with the shortest expected duration are tried.
        """
        for tenant in sorted(self._tenants, key=self._shares.of):
            queue = self._tenants[tenant]
            for task in (queue[0], min(queue, key=_expected)) if len(queue) > 1 else (queue[0],):
                if may(task):
                    self.remove(task)
                    if tenant in self._tenants:
                        self._tenants.move_to_end(tenant)
                    return task
        return None

    def remove(self, task: QueuedTask) -> None:
        """Remove a task without affecting its tenant's turn."""
        queue = self._tenants[task.tenant]
        queue.remove(task)
        if not queue:
            del self._tenants[task.tenant]

    def longest(self) -> QueuedTask | None:
        """The newest task of the tenant with the most tasks."""
        if not self._tenants:
            return None
        return max(self._tenants.values(), key=len)[-1]

    def tenants(self) -> set[str]:
        """The tenants of tasks."""
        return set(self._tenants)

    def count_of(self, tenant: str) -> int:
        """The number of a tenant's tasks."""
        return len(self._tenants.get(tenant, ()))

    def all(self) -> list[QueuedTask]:
        """All tasks."""
        return [task for queue in self._tenants.values() for task in queue]
