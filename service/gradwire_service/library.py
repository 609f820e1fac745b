"""What requests refer to, found where their owners have it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.engines import Engines
from gradwire_service.near import Near, Shelf
from gradwire_service.programs import Programs
from gradwire_service.store import Store
from gradwire_service.tensors import Tensors
from gradwire_service.wire.references import Find, Owned, References, ShelfName


class NotNear(Exception):
    """Something that a request refers to is not at hand: the store must be asked, in a thread."""


class Library:
    """The programs and tensors that are held, and the references to them. Thread-safe."""

    def __init__(
        self,
        engines: Engines,
        store: Store,
        near_bytes: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        near = Near(near_bytes, clock, apart=engines.apart)
        self.tensors = Tensors(store, near)
        self.programs = Programs(engines, store, near)
        self._shelves: dict[ShelfName, Shelf] = {
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

    def _value(self, shelf: ShelfName, owner: str, reference: str, *, waits: bool) -> Any:
        there = self._shelves[shelf]
        value = there.at_hand(owner, reference)
        if value is None:
            if not waits:
                raise NotNear
            value = there.value(owner, reference)
        return value
