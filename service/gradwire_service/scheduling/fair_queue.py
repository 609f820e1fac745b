"""What waits for its turn: owners are served in turn, an owner's requests in their order."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Waiting(Protocol):
    """What a queue needs to know of what waits."""

    owner: str
    expected_seconds: float


Item = TypeVar("Item", bound=Waiting)


class FairQueue(Generic[Item]):
    """What waits, by owner."""

    def __init__(self) -> None:
        #: Whoever was not served longest comes first.
        self._owners: OrderedDict[str, deque[Item]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._owners)

    def add(self, item: Item) -> None:
        """Put an item behind those of its owner."""
        self._owners.setdefault(item.owner, deque()).append(item)

    def take(self, may: Callable[[Item], bool]) -> Item | None:
        """The first that may go, whose owner's turn is over then.

        Of each owner the first is looked at, and the one that is expected to take least.
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
        """Take an item out, as if it had never been there."""
        queue = self._owners[item.owner]
        queue.remove(item)
        if not queue:
            del self._owners[item.owner]

    def longest(self) -> Item | None:
        """The one that came last, of the owner who has most."""
        if not self._owners:
            return None
        return max(self._owners.values(), key=len)[-1]

    def count_of(self, owner: str) -> int:
        """How many of an owner's wait."""
        return len(self._owners.get(owner, ()))

    def all(self) -> list[Item]:
        """Everything that waits."""
        return [item for queue in self._owners.values() for item in queue]


def _expected(item: Waiting) -> float:
    return item.expected_seconds
