"""The cache between requests: recordings, by what they were made for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import AbstractContextManager

from gradwire_engine.answer import Poll
from gradwire_engine.compile import Compiled
from gradwire_engine.locks import locked
from gradwire_engine.queries.residents import ResidentHistory
from gradwire_engine.shared_budget import BudgetShare, SharedBudget

#: Recordings kept of one program and query, one for each path that values take through it.
_PATHS = 16
#: Bytes of an entry of the cache before anything is compiled, beside its key.
_ENTRY_BYTES = 2048


class Entry:
    """The recordings of one key, the one used last first, and what is kept for residents."""

    def __init__(self, key: Hashable, key_bytes: int) -> None:
        self.key = key
        self.paths: tuple[Compiled, ...] = ()
        self.residents = ResidentHistory()
        #: Whether its paths cannot go into one recording.
        self.unmergeable = False
        self._own_bytes = _ENTRY_BYTES + key_bytes
        #: The bytes that the cache counts for it.
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
        self._entries: dict[Hashable, Entry] = {}
        #: Those used last come last.
        self._by_use: OrderedDict[Entry, None] = OrderedDict()
        self._used_last: Entry | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def drop_oldest(self) -> int:
        """Drop what the oldest entry has specialised, or else itself: compiling takes longer."""
        oldest = next(iter(self._by_use))
        before = oldest.counted_bytes
        oldest.residents.drop()
        oldest.counted_bytes = min(before, oldest.nbytes)
        if oldest.counted_bytes < before:
            return before - oldest.counted_bytes
        del self._by_use[oldest], self._entries[oldest.key]
        if self._used_last is oldest:
            self._used_last = None
        return before

    def find(self, key: Hashable) -> Entry | None:
        """The entry of ``key``, if there is one."""
        entry = self._entries.get(key)
        if entry is not self._used_last and entry is not None:
            with self.budget.lock:
                if entry in self._by_use:  # others may have dropped it meanwhile
                    self._by_use.move_to_end(entry)
                    self._used_last = entry
        return entry

    def make(self, key: Hashable, key_bytes: int) -> Entry:
        """The entry of a ``key`` that had none, which takes so much itself."""
        with self.budget.lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = self._used_last = Entry(key, key_bytes)
                self._by_use[entry] = None
                self.take(entry.counted_bytes)
            return entry

    def add(self, entry: Entry, compiled: Compiled) -> None:
        """Add a recording to its entry."""
        with self.budget.lock:
            entry.add(compiled, self.budget.most // 2)
        self.count(entry)

    def count(self, entry: Entry) -> None:
        """Take what an entry takes by now, which may have been dropped meanwhile."""
        with self.budget.lock:
            grown = entry.nbytes - entry.counted_bytes
            if grown and entry in self._by_use:
                entry.counted_bytes += grown
                self.take(grown)
