"""A joint budget of several caches, so that none of them is emptied by a larger one."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from weakref import WeakSet


class SharedBudget:
    """So much may be taken by all shares. Its lock is theirs, too.

    Where it is not enough, whoever has taken most gives up what it used longest ago: nobody loses
    anything to one who has more.
    """

    def __init__(self, most: int) -> None:
        self.lock = threading.Lock()
        self.most = most
        self.taken = 0
        self._shares = WeakSet[BudgetShare]()
        #: The amounts of shares that are gone; these do not wait for the lock.
        self._left = deque[int]()

    def admit(self, share: BudgetShare) -> None:
        """Let another one in."""
        with self.lock:
            self._shares.add(share)

    def leave(self, taken: int) -> None:
        """Count no more what a share had taken that is gone."""
        self._left.append(taken)

    def resize(self, most: int) -> None:
        """Let so much be taken from now on."""
        with self.lock:
            self.most = most
            self.shrink()

    def shrink(self) -> None:
        """Keep within what may be taken: what is larger by itself is not kept at all. Locked."""
        while self._left:
            self.taken -= self._left.popleft()
        while self.taken > self.most:
            largest = max(self._shares, key=_taken)
            largest.take(-largest.drop_oldest())


class BudgetShare(ABC):
    """The share of one cache in a budget."""

    def __init__(self, budget: SharedBudget) -> None:
        self.budget = budget
        self.taken = 0
        budget.admit(self)

    def __del__(self) -> None:
        self.budget.leave(self.taken)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def drop_oldest(self) -> int:
        """Give up what was used longest ago; how much that took."""

    def take(self, amount: int) -> None:
        """Count what is taken from now on, or given back. Locked."""
        self.taken += amount
        self.budget.taken += amount
        if amount > 0:
            self.budget.shrink()


def _taken(share: BudgetShare) -> int:
    return share.taken
