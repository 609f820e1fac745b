"""What is kept between requests: recordings, by what they were made for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from gradwire_engine.answer import Limits, Poll
from gradwire_engine.backends.base import Backend
from gradwire_engine.compile import Compiled
from gradwire_engine.locks import locked
from gradwire_engine.queries.residents import ResidentHistory
from gradwire_engine.shared_budget import BudgetShare, SharedBudget

#: Recordings kept of one program and query, one for each path that values take through it.
_PATHS = 16
#: What an entry of the cache takes before anything is compiled, beside its key.
_ENTRY_BYTES = 2048


class Entry:
    """The recordings of one key, the one used last first, and what is kept for residents."""

    def __init__(self, key_bytes: int) -> None:
        self.paths: tuple[Compiled, ...] = ()
        self.residents = ResidentHistory()
        self._own_bytes = _ENTRY_BYTES + key_bytes
        #: What the cache counts it for.
        self.counted_bytes = self._own_bytes
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """Approximate memory that it takes."""
        return self._own_bytes + sum([path.nbytes for path in self.paths]) + self.residents.nbytes

    def locked(self, poll: Poll) -> AbstractContextManager[None]:
        """Compile alone."""
        return locked(self._lock, poll)

    def prefer(self, compiled: Compiled) -> None:
        """Try this recording first next time."""
        if self.paths[0] is not compiled:
            self.paths = (compiled, *[p for p in self.paths if p is not compiled])

    def add(self, compiled: Compiled, most_bytes: int) -> None:
        """Keep a recording in front, of the others as many as go into ``most_bytes`` with it."""
        paths, nbytes = [compiled], self._own_bytes + compiled.nbytes
        for path in self.paths[: _PATHS - 1]:
            nbytes += path.nbytes
            if nbytes > most_bytes:
                break
            paths.append(path)
        self.paths = tuple(paths)


class Cache(BudgetShare):
    """Entries by key, in a shared budget of bytes."""

    def __init__(self, budget: SharedBudget) -> None:
        super().__init__(budget)
        self._entries: OrderedDict[Any, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def drop_oldest(self) -> int:
        """What the oldest entry keeps for residents, or else itself: compiling takes longer."""
        key, oldest = next(iter(self._entries.items()))
        before = oldest.counted_bytes
        oldest.residents.drop()
        oldest.counted_bytes = min(before, oldest.nbytes)
        if oldest.counted_bytes < before:
            return before - oldest.counted_bytes
        del self._entries[key]
        return before

    def find(self, key: Any, key_bytes: int = 0) -> Entry:
        """The entry of ``key``, which takes so much itself, made where there is none."""
        with self.budget.lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = Entry(key_bytes)
                self.take(entry.counted_bytes)
            else:
                self._entries.move_to_end(key)
            return entry

    def add(self, key: Any, entry: Entry, compiled: Compiled) -> None:
        """Add a recording to its entry."""
        with self.budget.lock:
            entry.add(compiled, self.budget.most // 2)
        self.count(key, entry)

    def count(self, key: Any, entry: Entry) -> None:
        """Take what an entry takes by now, which may have been dropped meanwhile."""
        with self.budget.lock:
            grown = entry.nbytes - entry.counted_bytes
            if grown and self._entries.get(key) is entry:
                entry.counted_bytes += grown
                self.take(grown)


class Context(NamedTuple):
    """What the calls of an engine share."""

    cache: Cache
    limits: Limits
    backend: Backend
