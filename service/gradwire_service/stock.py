"""Values that a process has at hand, within so many bytes, and who gives way to whom."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from gradwire_engine.room import Room, Share

from gradwire_service.store import Key, Kind

Value = TypeVar("Value")


class Stock(Generic[Value]):
    """Values by the keys of their records. Thread-safe.

    Where there is no room for one more, what was kept or used longest ago is dropped: of all, or,
    with owners ``apart``, of whoever has most. Each owner ever seen is then remembered.
    """

    def __init__(self, most_bytes: int, *, apart: bool = False) -> None:
        self._room = Room(most_bytes)
        self._apart = apart
        self._shares: dict[str, _Owned[Value]] = {}

    def get(self, key: tuple[Kind, str, str]) -> Value | None:
        """The value of ``key``, if it is at hand."""
        share = self._shares.get(key[1] if self._apart else "")
        found = None if share is None else share.values.get(key)
        return None if found is None else found[0]

    def use(self, key: Key) -> Value | None:
        """As ``get``, and others are dropped before it."""
        share = self._share(key)
        with self._room.lock:
            found = share.values.get(key)
            if found is None:
                return None
            share.values.move_to_end(key)
            return found[0]

    def keep(self, key: Key, value: Value, nbytes: int) -> None:
        """Have ``value`` at hand in place of what ``key`` had, unless it alone is too large."""
        share = self._share(key)
        with self._room.lock:
            share.discard(key)
            if nbytes <= self._room.most:
                share.values[key] = value, nbytes
                share.take(nbytes)

    def drop(self, key: Key) -> None:
        """Have ``key`` at hand no longer."""
        share = self._share(key)
        with self._room.lock:
            share.discard(key)

    def _share(self, key: Key) -> _Owned[Value]:
        whose = key.owner if self._apart else ""
        share = self._shares.get(whose)
        if share is None:
            share = self._shares.setdefault(whose, _Owned(self._room))
        return share


class _Owned(Share, Generic[Value]):
    """One owner's values with their bytes, or all owners' together."""

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.values: OrderedDict[tuple[Kind, str, str], tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self.values)

    def drop_oldest(self) -> int:
        return self.values.popitem(last=False)[1][1]

    def discard(self, key: Key) -> None:
        """Drop one. Locked."""
        found = self.values.pop(key, None)
        if found is not None:
            self.take(-found[1])
