"""A cache bounded by bytes that evicts what was used least recently."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Generic, TypeAlias, TypeVar

from gradwire_engine.shared_budget import BudgetShare, SharedBudget

Value = TypeVar("Value")
#: The kind of a value, its owner, and its name.
_Key: TypeAlias = tuple[str, str, Any]


class ByteBoundedLRU(Generic[Value]):
    """Values by the keys of their records. Thread-safe.

    They take up to ``most`` bytes, or what a budget shared with others allows. The least recently
    used are evicted: of all owners or, if ``per_owner``, of the owner with the most bytes. Each
    owner then costs a little memory for ever.
    """

    def __init__(self, most: int | SharedBudget, *, per_owner: bool = False) -> None:
        self._budget = SharedBudget(most) if isinstance(most, int) else most
        self._per_owner = per_owner
        self._partitions: dict[str, _Partition[Value]] = {}

    def peek(self, key: _Key) -> Value | None:
        """The cached value of ``key``, without counting as a use."""
        partition = self._partitions.get(key[1] if self._per_owner else "")
        found = None if partition is None else partition.values.get(key)
        return None if found is None else found[0]

    def get(self, key: _Key) -> Value | None:
        """The cached value of ``key``, which becomes the most recently used."""
        partition = self._partition(key)
        with self._budget.lock:
            found = partition.values.get(key)
            if found is None:
                return None
            partition.values.move_to_end(key)
            return found[0]

    def put(self, key: _Key, value: Value, nbytes: int) -> None:
        """Cache ``value`` in place of any other under ``key``, unless it alone is too large."""
        partition = self._partition(key)
        with self._budget.lock:
            partition.discard(key)
            if nbytes <= self._budget.most:
                partition.values[key] = value, nbytes
                partition.take(nbytes)

    def discard(self, key: _Key) -> None:
        """Remove ``key`` from the cache."""
        partition = self._partition(key)
        with self._budget.lock:
            partition.discard(key)

    def _partition(self, key: _Key) -> _Partition[Value]:
        owner = key[1] if self._per_owner else ""
        partition = self._partitions.get(owner)
        if partition is None:
            partition = self._partitions.setdefault(owner, _Partition(self._budget))
        return partition


class _Partition(BudgetShare, Generic[Value]):
    """The values of one owner, or of all, with their sizes."""

    def __init__(self, budget: SharedBudget) -> None:
        super().__init__(budget)
        self.values: OrderedDict[_Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.values)

    def drop_oldest(self) -> int:
        return self.values.popitem(last=False)[1][1]

    def discard(self, key: _Key) -> None:
        """Remove one value. The caller holds the lock."""
        found = self.values.pop(key, None)
        if found is not None:
            self.take(-found[1])
