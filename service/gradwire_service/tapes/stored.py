"""Tapes: recipes in the store, and the recordings cached by this process."""

from __future__ import annotations

import json
import secrets
from typing import NamedTuple

from gradwire_engine import Recording

from gradwire_service.engines import Engines
from gradwire_service.lru import ByteBoundedLRU
from gradwire_service.problems import RequestError
from gradwire_service.references import ReferenceResolver
from gradwire_service.store import Key, Record, Store, StoredRecord
from gradwire_service.store.records import known_fields
from gradwire_service.wire.codec import DOCUMENTS
from gradwire_service.wire.envelope import TapeEnvelope, read_tape

_TOKEN_BYTES = 24


class Recipe(NamedTuple):
    """The request that recorded a tape, from which any process can record it again.

    It keeps the request's references, except for a program's name: ``program`` is its id at the
    time.
    """

    media_type: str = "application/json"
    body: bytes = b""
    persistent: bool = False
    program: str = ""

    def record(self) -> Record:
        """The record of the recipe."""
        head = self._asdict()
        body = head.pop("body")
        return Record(json.dumps(head), body)

    @classmethod
    def of(cls, held: StoredRecord) -> Recipe:
        """The recipe in a record."""
        found = known_fields(held.head, ("media_type", "persistent", "program"))
        del found["others"]
        return cls(body=bytes(held.content), **found)


class Tape(NamedTuple):
    """A stored tape; ``kept`` means that its values are cached."""

    key: Key
    recipe: Recipe
    expires_at: float
    recording: Recording
    kept: bool


class Tapes:
    """Stores tapes and finds them again, with their values if this process has cached them."""

    def __init__(
        self, engines: Engines, store: Store, resolver: ReferenceResolver, values_bytes: int
    ) -> None:
        self._engines = engines
        self._store = store
        self._resolver = resolver
        self._recordings = ByteBoundedLRU[Recording](values_bytes, per_owner=engines.isolated)

    def recording(self, owner: str, envelope: TapeEnvelope) -> Recording:
        """The recording for a request, neither compiled nor run yet."""
        engine = self._engines.of(owner)
        return engine.recording(
            engine.parse(envelope.program),
            envelope.variables,
            watch=envelope.watch,
            watch_accessed=envelope.watch_accessed,
            promotion=envelope.promotion,
            exact=envelope.exact,
        )

    def add(self, owner: str, recipe: Recipe, recording: Recording) -> tuple[Key, float]:
        """Store a new tape under an unguessable token; returns its key and its expiry."""
        key = Key("tapes", owner, secrets.token_urlsafe(_TOKEN_BYTES))
        expires_at = self._store.put(key, recipe.record())
        self.keep(key, recipe, recording)
        return key, expires_at

    def find(self, key: Key, by: str = "") -> Tape:
        """Find a tape; it must run again if this process has not cached its values.

        A tape that the same request, ``by``, has used is found again.

        Raises: ``RequestError`` (unknown_tape, tape_consumed, and unknown_ref if references of its
        recipe are missing).
        """
        held = self._store.find(key)
        if held is None:
            raise _unknown()
        if held.used_by is not None and (not by or held.used_by != by):
            raise _consumed()
        recipe = Recipe.of(held)
        found = self._recordings.get(key)
        if found is not None:
            return Tape(key, recipe, held.expires_at, found, kept=True)
        document = DOCUMENTS.reads[recipe.media_type].read(recipe.body)
        program = document["program"]
        if type(program) is dict and "name" in program:
            document["program"] = {"ref": recipe.program}
        recording = self.recording(key.owner, read_tape(document, self._resolver.references(key)))
        return Tape(key, recipe, held.expires_at, recording, kept=False)

    def keep(self, key: Key, recipe: Recipe, recording: Recording) -> None:
        """Cache the values of a tape, and evict others if necessary.

        Values from MessagePack are views of the body, so the whole body counts.
        """
        self._recordings.put(key, recording, len(recipe.body) + recording.nbytes)

    def use(self, tape: Tape, by: str = "") -> None:
        """Mark a tape as used: a non-persistent tape answers one request only.

        An answer may have enlarged a persistent tape.

        Raises: ``RequestError`` (tape_consumed) if another request was faster.
        """
        if tape.recipe.persistent:
            self.keep(tape.key, tape.recipe, tape.recording)
            return
        self._recordings.discard(tape.key)
        if not self._store.consume(tape.key, by):
            raise _consumed()

    def remove(self, key: Key) -> None:
        """Delete a tape.

        Raises: ``RequestError`` (unknown_tape).
        """
        self._recordings.discard(key)
        if not self._store.remove(key):
            raise _unknown()


def _unknown() -> RequestError:
    return RequestError(
        "unknown_tape", "there is no tape with this id, or it has expired", hint="record it again"
    )


def _consumed() -> RequestError:
    return RequestError(
        "tape_consumed",
        "A non-persistent GradientTape can only be used to compute one set of gradients "
        "(or jacobians)",
        hint='record it with "persistent": true',
    )
