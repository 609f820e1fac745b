"""What requests refer to, found where their owners have it."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.engines import Engines
from gradwire_service.near import Near, Shelf
from gradwire_service.programs import Programs
from gradwire_service.store import Store
from gradwire_service.tensors import Tensors
from gradwire_service.wire.references import Find, HasOwner, ReferenceKind, References


class WouldBlock(Exception):
    """Something that a request refers to is not at hand: the store must be asked, in a thread."""

    def __init__(self, kind: ReferenceKind, owner: str, reference: str) -> None:
        super().__init__(kind, owner, reference)
        self.kind: ReferenceKind = kind
        self.owner = owner
        self.reference = reference


class ReferenceResolver:
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
        near = Near(near_bytes, clock, apart=engines.isolated)
        self.tensors = Tensors(store, near)
        self.programs = Programs(engines, store, near)
        self._shelves: dict[ReferenceKind, Shelf] = {
            "tensors": self.tensors,
            "programs": self.programs,
            "names": self.programs.names,
        }

    def references(self, request: HasOwner, *, waits: bool = True) -> References:
        """What a request refers to.

        One that ``waits`` has the store asked for what is not at hand; from another such a
        reference raises ``WouldBlock``.
        """
        return References(self.finding(request, waits=waits), request)

    def finding(self, request: HasOwner, *, waits: bool = True) -> Find:
        """How what a request refers to is found, one after the other."""

        def found(kind: ReferenceKind, reference: str) -> Any:
            value = self._value(kind, request.owner, reference, waits=waits)
            if value is None or kind != "names":
                return value
            return self._value("programs", request.owner, value, waits=waits)

        return found

    def bring(self, missing: WouldBlock) -> bool:
        """Have at hand what was not, if it is short; whether that is so. May wait.

        What is not held either is looked for elsewhere, which says so.
        """
        there = self._shelves[missing.kind]
        found = there.value(missing.owner, missing.reference, self._most_brought_bytes)
        return found is not None

    def _value(self, kind: ReferenceKind, owner: str, reference: str, *, waits: bool) -> Any:
        there = self._shelves[kind]
        value = there.at_hand(owner, reference)
        if value is None:
            if not waits:
                raise WouldBlock(kind, owner, reference)
            value = there.value(owner, reference)
        return value
