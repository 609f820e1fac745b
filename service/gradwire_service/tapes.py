"""Tapes: recipes in a store that processes may share, and the recordings that this one holds."""

from __future__ import annotations

import json
import secrets
from typing import NamedTuple

from gradwire_engine import Recording

from gradwire_service.engines import Engines
from gradwire_service.problems import Refusal
from gradwire_service.references import ReferenceResolver
from gradwire_service.stock import Stock
from gradwire_service.store import Held, Key, Record, Store
from gradwire_service.wire.codec import DOCUMENTS
from gradwire_service.wire.envelope import TapeEnvelope, read_tape

_TOKEN_BYTES = 24


class Recipe(NamedTuple):
    """The request that made a tape, from which any process can make it again.

    Tensors and programs are referred to as the request does, but for a name: what it stood for
    then is the ``program``.
    """

    media_type: str
    body: bytes
    persistent: bool
    program: str

    def record(self) -> Record:
        """The recipe as it is stored."""
        head = self._asdict()
        body = head.pop("body")
        return Record(json.dumps(head), body)

    @classmethod
    def of(cls, held: Held) -> Recipe:
        """The recipe that is stored."""
        assert held.body is not None
        return cls(body=held.body, **json.loads(held.head))


class Tape(NamedTuple):
    """A tape that is held; ``kept`` says that its values have been computed before."""

    key: Key
    recipe: Recipe
    expires_at: float
    recording: Recording
    kept: bool


class Tapes:
    """Makes tapes and finds them again, with their values where this process still has them."""

    def __init__(
        self, engines: Engines, store: Store, resolver: ReferenceResolver, values_bytes: int
    ) -> None:
        self._engines = engines
        self._store = store
        self._resolver = resolver
        self._recordings = Stock[Recording](values_bytes, apart=engines.isolated)

    def recording(self, owner: str, asked: TapeEnvelope) -> Recording:
        """What a request asks for, neither recorded nor run yet."""
        engine = self._engines.of(owner)
        return engine.recording(
            engine.parse(asked.program),
            asked.variables,
            watch=asked.watch,
            watch_accessed=asked.watch_accessed,
            promotion=asked.promotion,
            exact=asked.exact,
        )

    def add(self, owner: str, recipe: Recipe, recording: Recording) -> tuple[Key, float]:
        """Keep a new tape under an unguessable token; gives its key and when it expires."""
        key = Key("tapes", owner, secrets.token_urlsafe(_TOKEN_BYTES))
        expires_at = self._store.put(key, recipe.record())
        self.keep(key, recipe, recording)
        return key, expires_at

    def find(self, key: Key, by: str = "") -> Tape:
        """The tape of a key, to be run again where this process has its values no longer.

        One that was used ``by`` the same request before is found again.

        Raises: ``Refusal`` (unknown_tape, tape_consumed, and unknown_ref where what its recipe
        refers to has gone).
        """
        held = self._store.find(key)
        if held is None:
            raise _unknown()
        if held.used_by is not None and (not by or held.used_by != by):
            raise _consumed()
        recipe = Recipe.of(held)
        found = self._recordings.use(key)
        if found is not None:
            return Tape(key, recipe, held.expires_at, found, kept=True)
        document = DOCUMENTS.reads[recipe.media_type].read(recipe.body)
        program = document["program"]
        if type(program) is dict and "name" in program:
            document["program"] = {"ref": recipe.program}
        recording = self.recording(key.owner, read_tape(document, self._resolver.references(key)))
        return Tape(key, recipe, held.expires_at, recording, kept=False)

    def keep(self, key: Key, recipe: Recipe, recording: Recording) -> None:
        """Hold on to the values of a tape, in place of others where there is no room.

        Values that came in MessagePack are views of the body, so all of it is held with them.
        """
        self._recordings.keep(key, recording, len(recipe.body) + recording.nbytes)

    def use(self, tape: Tape, by: str = "") -> None:
        """Note that a tape has answered: unless it is persistent, it does so to one request only.

        If it is, its answer may have made it larger.

        Raises: ``Refusal`` (tape_consumed), where another answer was faster.
        """
        if tape.recipe.persistent:
            self.keep(tape.key, tape.recipe, tape.recording)
            return
        self._recordings.drop(tape.key)
        if not self._store.consume(tape.key, by):
            raise _consumed()

    def remove(self, key: Key) -> None:
        """Forget a tape.

        Raises: ``Refusal`` (unknown_tape).
        """
        self._recordings.drop(key)
        if not self._store.remove(key):
            raise _unknown()


def _unknown() -> Refusal:
    return Refusal(
        "unknown_tape", "there is no tape of this id, or it has expired", hint="make it again"
    )


def _consumed() -> Refusal:
    return Refusal(
        "tape_consumed",
        "A non-persistent GradientTape can only be used to compute one set of gradients "
        "(or jacobians)",
        hint='make it with "persistent": true',
    )
