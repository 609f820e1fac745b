"""Resolves the references of requests to stored programs and tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic
from typing import Any

from gradwire_service.engines import Engines
from gradwire_service.local_cache import CachedRepository, LocalCache
from gradwire_service.programs.stored import Programs
from gradwire_service.store import Store
from gradwire_service.tensors.stored import Results, Tensors
from gradwire_service.wire.references import HasOwner, ReferenceKind, References, is_result


class WouldBlock(Exception):
    """A reference is not cached: it must be read from the store, in a thread."""

    def __init__(self, kind: ReferenceKind, owner: str, reference: str) -> None:
        super().__init__(kind, owner, reference)
        self.kind: ReferenceKind = kind
        self.owner = owner
        self.reference = reference


class ReferenceResolver:
    """The stored programs and tensors, and references to them. Thread-safe."""

    def __init__(
        self,
        engines: Engines,
        store: Store,
        local_cache_bytes: int,
        max_loaded_bytes: float = math.inf,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.store = store
        self._max_loaded_bytes = max_loaded_bytes
        cache = LocalCache(local_cache_bytes, clock, per_owner=engines.isolated)
        self.tensors = Tensors(store, cache)
        self.results = Results(store, cache)
        self.programs = Programs(engines, store, cache)
        self._repositories: dict[ReferenceKind, CachedRepository] = {
            "tensors": self.tensors,
            "programs": self.programs,
            "names": self.programs.names,
        }

    def references(self, request: HasOwner, *, blocking: bool = True) -> References:
        """The references of a request.

        References that are not cached are read from the store if ``blocking``, else they raise
        ``WouldBlock``.
        """

        def find(kind: ReferenceKind, reference: str) -> Any:
            value = self._value(kind, request.owner, reference, blocking=blocking)
            if value is None or kind != "names":
                return value
            return self._value("programs", request.owner, value, blocking=blocking)

        return References(find, request)

    def load(self, missing: WouldBlock) -> bool:
        """Load a reference into the cache if it is short; returns whether it is there. May block.

        An executor reports references that are missing in the store too.
        """
        repository = self._repository(missing.kind, missing.reference)
        found = repository.load(missing.owner, missing.reference, self._max_loaded_bytes)
        return found is not None

    def _repository(self, kind: ReferenceKind, reference: str) -> CachedRepository:
        return self.results if is_result(reference) else self._repositories[kind]

    def _value(self, kind: ReferenceKind, owner: str, reference: str, *, blocking: bool) -> Any:
        repository = self._repository(kind, reference)
        value = repository.get_fresh(owner, reference)
        if value is None:
            if not blocking:
                raise WouldBlock(kind, owner, reference)
            value = repository.load(owner, reference)
        return value
