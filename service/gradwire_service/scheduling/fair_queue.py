"""A fair queue: owners are served in turn, an owner's items in their order."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Waiting(Protocol):
    """An item of a fair queue."""

    owner: str
    expected_seconds: float


Item = TypeVar("Item", bound=Waiting)


class FairQueue(Generic[Item]):
    """Waiting items by owner."""

    def __init__(self) -> None:
        #: The owner served longest ago comes first.
        self._owners: OrderedDict[str, deque[Item]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._owners)

    def add(self, item: Item) -> None:
        """Append an item to its owner's queue."""
        self._owners.setdefault(item.owner, deque()).append(item)

    def take(self, may: Callable[[Item], bool]) -> Item | None:
        """Remove and return the first item that ``may`` go; its owner then moves to the end.

        For each owner, the first item and the one with the shortest expected duration are tried.
        """
        for owner, queue in self._owners.items():
            for item in (queue[0], min(queue, key=_expected)) if len(queue) > 1 else (queue[0],):
                if may(item):
                    self.remove(item)
                    if owner in self._owners:
                        self._owners.move_to_end(owner)
                    return item
        return None

    def remove(self, item: Item) -> None:
        """Remove an item without affecting its owner's turn."""
        queue = self._owners[item.owner]
        queue.remove(item)
        if not queue:
            del self._owners[item.owner]

    def longest(self) -> Item | None:
        """The newest item of the owner with the most items."""
        if not self._owners:
            return None
        return max(self._owners.values(), key=len)[-1]

    def count_of(self, owner: str) -> int:
        """The number of an owner's items."""
        return len(self._owners.get(owner, ()))

    def all(self) -> list[Item]:
        """All items."""
        return [item for queue in self._owners.values() for item in queue]


def _expected(item: Waiting) -> float:
    return item.expected_seconds
