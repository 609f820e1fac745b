"""Stored programs: sources under the ids of their programs, and names for these ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gradwire_engine import Program
from gradwire_engine.free_variables import free_variables
from gradwire_engine.frontends.printed import printed
from gradwire_engine.program import RESULT, Output

from gradwire_service.engines import Engines
from gradwire_service.local_cache import CachedRepository, LocalCache
from gradwire_service.problems import RequestError
from gradwire_service.store import Key, Record, Store, StoredRecord
from gradwire_service.wire.references import is_digest, unknown_refs
from gradwire_service.wire.sources import Source

#: Memory of a parsed program per byte of its source.
_BYTES_PER_SOURCE_BYTE = 70


class StoredProgram(NamedTuple):
    """A stored program: its names, its head, and its text if that was requested.

    A graph is printed as text.
    """

    id: str
    names: Sequence[str]
    head: dict[str, Any]
    text: str | None = None


class Names(CachedRepository):
    """Owners' names of programs: a record is a name, with the program's id as its head."""

    kind = "names"
    immutable = False

    def _decode(self, owner: str, stored: StoredRecord) -> tuple[Any, int]:
        return stored.head, len(stored.head)

    def put(self, owner: str, name: str, id: str) -> None:
        """Assign ``name`` to a program, replacing its previous meaning.

        Raises: ``RequestError`` (over_budget).
        """
        key = Key(self.kind, owner, name)
        self._store.put(key, Record(id, b""))
        self._cache.invalidate(key)

    def all(self, owner: str) -> Iterator[tuple[str, str]]:
        """An owner's names in order, with the ids of their programs."""
        most = self._store.policies[self.kind].per_owner.records
        for name, id, *_ in self._store.list_records(self.kind, owner, "", most):
            yield name, id


class Programs(CachedRepository):
    """Programs by id."""

    kind = "programs"

    def __init__(self, engines: Engines, store: Store, cache: LocalCache) -> None:
        super().__init__(store, cache)
        self._engines = engines
        self.names = Names(store, cache)

    def _decode(self, owner: str, stored: StoredRecord) -> tuple[Any, int]:
        source = _source(stored)
        program = self._engines.of(owner).parse(json.loads(source))
        return program, _BYTES_PER_SOURCE_BYTE * len(source)

    def put(
        self, owner: str, source: Source, name: str | None = None, ref: str | None = None
    ) -> tuple[StoredProgram, bool]:
        """Store a program and assign ``name`` to it; also returns whether it is new.

        Raises: ``EngineError`` for an invalid program; ``RequestError`` (over_budget;
        invalid_request if ``ref`` is not its id; unknown_ref if ``source`` was a reference
        that has expired meanwhile).
        """
        program = self._engines.of(owner).parse(source)
        if ref is not None and ref != program.id:
            detail = f"the id of the program is {program.id}, not this ref"
            raise RequestError("invalid_request", detail, pointer="/ref")
        key = Key(self.kind, owner, program.id)
        new = self._store.find(key, body=False) is None
        if new:
            if source is program:
                raise unknown_refs([program.id])
            self._store.put(key, Record(json.dumps(_head(program)), _body(source)))
        if name is not None:
            try:
                self.names.put(owner, name, program.id)
            except RequestError:
                if new:
                    self.delete(owner, program.id)
                raise
        return self.find(owner, program.id), new

    def find(self, owner: str, reference: str) -> StoredProgram:
        """Find a program by its id or one of its names.

        Raises: ``RequestError`` (unknown_ref).
        """
        id = self._id(owner, reference)
        held = None if id is None else self._store.find(Key(self.kind, owner, id))
        if id is None or held is None:
            raise unknown_refs([reference])
        names = [name for name, of in self.names.all(owner) if of == id]
        return StoredProgram(id, names, _description(held.head), self._text(owner, held))

    def listed(self, owner: str, after: str, most: int) -> Sequence[StoredProgram]:
        """The first ``most`` programs with ids greater than ``after``, without their sources."""
        names: dict[str, list[str]] = {}
        for name, id in self.names.all(owner):
            names.setdefault(id, []).append(name)
        return [
            StoredProgram(id, names.get(id, []), _description(head))
            for id, head, *_ in self._store.list_records(self.kind, owner, after, most)
        ]

    def remove(self, owner: str, reference: str) -> None:
        """Delete a program and its names.

        Raises: ``RequestError`` (unknown_ref).
        """
        id = self._id(owner, reference)
        if id is None or not self.delete(owner, id):
            raise unknown_refs([reference])
        for name, of in self.names.all(owner):
            if of == id:
                self.names.delete(owner, name)

    def _text(self, owner: str, held: StoredRecord) -> str | None:
        source = json.loads(_source(held))
        if type(source) is str:
            return source
        return printed(self._engines.of(owner).parse(source))

    def _id(self, owner: str, reference: str) -> str | None:
        if is_digest(reference):
            return reference
        return self.names.load(owner, reference)  # type: ignore[no-any-return]


def _head(program: Program) -> dict[str, Any]:
    """The head of a record: a description of the program."""
    return {
        "variables": free_variables(program),
        "outputs": _named(program.output),
        "nodes": len(program.positions),
    }


def _description(head: str) -> dict[str, Any]:
    """The description in a head, whichever version of the service has written it."""
    defaults: dict[str, Any] = {"variables": [], "outputs": None, "nodes": 0}
    found = json.loads(head)
    return {name: found.get(name, default) for name, default in defaults.items()}


def _named(output: Output) -> Output:
    """The names of the outputs; null for unnamed ones."""
    if isinstance(output, dict):
        return {key: _named(item) for key, item in output.items()}
    if isinstance(output, list):
        return [_named(item) for item in output]
    return None if output == RESULT else output


def _body(source: Any) -> bytes:
    try:
        return json.dumps(source, ensure_ascii=False, separators=(",", ":")).encode()
    except TypeError:
        detail = "a graph contains only numbers, booleans, strings, lists and objects"
        raise RequestError("invalid_program", detail, pointer="/program") from None


def _source(held: StoredRecord) -> bytes:
    return bytes(held.content)
