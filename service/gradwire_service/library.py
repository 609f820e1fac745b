"""What requests refer to, found where their owners have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.engines import Engines
from gradwire_service.local_cache import CachedRepository, LocalCache
from gradwire_service.programs import Programs
from gradwire_service.store import Store
from gradwire_service.tensors import Tensors
from gradwire_service.wire.references import Find, Owned, References, ShelfName


class NotNear(Exception):
    """Something that a request refers to is not at hand: the store must be asked, in a thread."""

    def __init__(self, shelf: ShelfName, owner: str, reference: str) -> None:
        super().__init__(shelf, owner, reference)
        self.shelf: ShelfName = shelf
        self.owner = owner
        self.reference = reference


class Library:
    """The programs and tensors that are held, and the references to them. Thread-safe."""

    def __init__(
        self,
        engines: Engines,
        store: Store,
        near_bytes: int,
        most_brought_bytes: float = math.inf,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._most_brought_bytes = most_brought_bytes
        cache = LocalCache(near_bytes, clock, per_owner=engines.apart)
        self.tensors = Tensors(store, cache)
        self.programs = Programs(engines, store, cache)
        self._shelves: dict[ShelfName, CachedRepository] = {
            "tensors": self.tensors,
            "programs": self.programs,
            "names": self.programs.names,
        }

    def references(self, request: Owned, *, waits: bool = True) -> References:
        """What a request refers to.

        One that ``waits`` has the store asked for what is not at hand; from another such a
        reference raises ``NotNear``.
        """
        return References(self.finding(request, waits=waits), request)

    def finding(self, request: Owned, *, waits: bool = True) -> Find:
        """How what a request refers to is found, one after the other."""

        def found(shelf: ShelfName, reference: str) -> Any:
            value = self._value(shelf, request.owner, reference, waits=waits)
            if value is None or shelf != "names":
                return value
            return self._value("programs", request.owner, value, waits=waits)

        return found

    def bring(self, missing: NotNear) -> bool:
        """Have at hand what was not, if it is short; whether that is so. May wait.

        What is not held either is looked for elsewhere, which says so.
        """
        there = self._shelves[missing.shelf]
        found = there.load(missing.owner, missing.reference, self._most_brought_bytes)
        return found is not None

    def _value(self, shelf: ShelfName, owner: str, reference: str, *, waits: bool) -> Any:
        there = self._shelves[shelf]
        value = there.get_fresh(owner, reference)
        if value is None:
            if not waits:
                raise NotNear(shelf, owner, reference)
            value = there.load(owner, reference)
        return value
