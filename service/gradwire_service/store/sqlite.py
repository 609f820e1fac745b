"""Records in an SQLite file, shared by all processes of one machine."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any
from zlib import crc32

from gradwire_service.store.interface import Unavailable
from gradwire_service.store.quotas import Amount, Policy
from gradwire_service.store.records import (
    Change,
    Key,
    Kind,
    ListedRecord,
    Notice,
    Record,
    StoredRecord,
)
from gradwire_service.store.sqlite_file import (
    BUSY_SECONDS,
    Damaged,
    Failure,
    FileUnavailable,
    SqliteFile,
)
from gradwire_service.store.transactional import TransactionalStore
from gradwire_service.wire.shared import to_bytes

#: The version of the schema.
_VERSION = 5
#: Bodies have a table of their own, since a new expiry rewrites its row. Checksums find changed
#: bytes, which SQLite does not.
_SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    head TEXT NOT NULL,
    nbytes INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    checksum INTEGER,
    UNIQUE (kind, owner, id)
)""",
    "CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body BLOB NOT NULL,"
    " checksum INTEGER)",
    "CREATE INDEX IF NOT EXISTS records_expiry ON records (expires_at)",
    "DROP INDEX IF EXISTS records_amounts",
    "CREATE INDEX IF NOT EXISTS records_ages ON records (kind, owner, expires_at, nbytes)",
    "CREATE TRIGGER IF NOT EXISTS bodies_with_records AFTER DELETE ON records"
    " BEGIN DELETE FROM bodies WHERE number = old.number; END",
)
_AMOUNT = "SELECT count(nbytes), coalesce(sum(nbytes), 0) FROM records"
_EXPIRED = "DELETE FROM records WHERE expires_at <= ?"
_OF_KEY = " WHERE kind = ?", " AND owner = ?", " AND id = ?"


class SqliteStore(TransactionalStore):
    """Records that survive a restart. One connection, one transaction per call.

    With the write-ahead log, readers and one writer work at once, and a killed process loses
    nothing that was committed. A power failure may lose the last commits, except those of kinds
    that never expire: these wait for the disk. Source: SQLite's documentation, Write-Ahead Logging
    and PRAGMA synchronous.
    """

    #: Less than the time in which a job stops that is cancelled.
    look_seconds = 0.05

    def __init__(
        self,
        path: str,
        policies: Mapping[Kind, Policy],
        now: Callable[[], float] = time.time,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        super().__init__(policies, now)
        self._file = SqliteFile(path, _create, busy_seconds)
        self._version = 0

    def put(self, key: Key, record: Record) -> float:
        self._file.require_space(record.nbytes, self._drop_expired)
        return super().put(key, record)

    def commit(
        self,
        changes: Sequence[Change],
        notice: Notice | None = None,
        *,
        admitted: bool = False,
    ) -> int | None:
        commit = partial(super().commit, changes, notice, admitted=admitted)
        nbytes = sum(len(each.body) for each in changes if each.body is not None)
        if nbytes or any(each.head is not None for each in changes):
            self._file.require_space(nbytes, self._drop_expired)
            return commit()
        return self._file.with_reserve(commit)

    def may_have_changed(self) -> bool:
        before, self._version = self._version, self._file.version
        return before != self._version

    def consume(self, key: Key, by: str = "") -> bool:
        return self._file.with_reserve(partial(super().consume, key, by))

    def remove(self, key: Key) -> bool:
        return self._file.with_reserve(partial(super().remove, key))

    def find(self, key: Key, *, body: bool = True) -> StoredRecord | None:
        with self._transaction(writes=False) as now:
            row, used = self._row(key, now), False
            if row is None:
                row, used = self._row(key.used, now), True
            if row is None:
                return None
            number, head, expires_at = row
            found = self._body(number) if body else None
        if used:
            return StoredRecord.consumed(head, found, expires_at)
        if self.policies[key.kind].moves_on(expires_at, now):
            expires_at = self._touch(number, key.kind, expires_at)
        return StoredRecord(head, found, expires_at)

    def list_records(
        self, kind: Kind, owner: str, after: str, limit: int
    ) -> Sequence[ListedRecord]:
        with self._transaction(writes=False) as now:
            rows = self._execute(
                "SELECT id, head, expires_at, nbytes, checksum FROM records WHERE kind = ?"
                " AND owner = ? AND id > ? AND expires_at > ? ORDER BY id LIMIT ?",
                (kind, owner, after, now, limit),
            )
            return [
                ListedRecord(id, _checked(Key(kind, owner, id), head, checksum), end, nbytes)
                for id, head, end, nbytes, checksum in rows
            ]

    def usage(self, kind: Kind, owner: str | None = None) -> Amount:
        given = [kind] if owner is None else [kind, owner]
        query = _AMOUNT + "".join(_OF_KEY[: len(given)]) + " AND expires_at > ?"
        with self._transaction(writes=False) as now:
            return Amount(*self._one(query, (*given, now)))

    def close(self) -> None:
        self._file.close()

    def _execute(self, statement: str, given: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._file.connection.execute(statement, given)

    def _one(self, statement: str, given: Sequence[Any]) -> Any:
        """The first row; an undamaged file has one."""
        row = self._execute(statement, given).fetchone()
        if row is None:
            raise Damaged("a row is missing")
        return row

    def _row(self, key: Key, now: float) -> tuple[int, str, float] | None:
        """Number, head and expiry of the record of ``key``."""
        found = self._execute(
            "SELECT number, head, expires_at, checksum FROM records"
            " WHERE kind = ? AND owner = ? AND id = ? AND expires_at > ?",
            (*key, now),
        ).fetchone()
        if found is None:
            return None
        number, head, expires_at, checksum = found
        return number, _checked(key, head, checksum), expires_at

    def _body(self, number: int) -> bytes:
        body, checksum = self._one("SELECT body, checksum FROM bodies WHERE number = ?", (number,))
        if type(body) is not bytes or checksum not in (None, crc32(body, number)):
            raise Damaged("the checksum of a body does not match")
        return body

    def _touch(self, number: int, kind: Kind, expires_at: float) -> float:
        """Move the expiry of a record on; as it was if the file cannot be written to."""
        try:
            with self._transaction() as now:
                moved_on = self._expiry(kind, now)
                update = "UPDATE records SET expires_at = ? WHERE number = ? AND kind = ?"
                self._execute(update, (moved_on, number, kind))
        except Unavailable:
            return expires_at
        return moved_on

    def _held(self, key: Key) -> tuple[Record, float] | None:
        row = self._row(key, -math.inf)
        return None if row is None else (Record(row[1], self._body(row[0])), row[2])

    def _head(self, key: Key) -> str | None:
        row = self._row(key, -math.inf)
        return None if row is None else row[1]

    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        head, body = record.head, to_bytes(record.body)
        row = (*key, head, record.nbytes, expires_at, _checksum(key, head))
        insert = "INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
        number = self._execute(insert, row).lastrowid
        assert number is not None
        # Not as a parameter: a cached statement keeps its last parameters in memory.
        insert = "INSERT INTO bodies VALUES (?, zeroblob(?), ?)"
        self._execute(insert, (number, len(body), crc32(body, number)))
        with self._file.connection.blobopen("bodies", "body", number) as blob:
            blob.write(body)

    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        self._execute(
            "UPDATE records SET kind = ?, owner = ?, id = ?, head = ?, expires_at = ?,"
            " nbytes = nbytes - length(CAST(head AS BLOB)) + ?, checksum = ?"
            " WHERE kind = ? AND owner = ? AND id = ?",
            (*to, head, expires_at, len(head.encode()), _checksum(to, head), *key),
        )

    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        given = [text for text in (kind, owner, id) if text is not None]
        return Amount(*self._one(_AMOUNT + "".join(_OF_KEY[: len(given)]), given))

    def _drop(self, key: Key) -> None:
        self._execute("DELETE FROM records WHERE kind = ? AND owner = ? AND id = ?", key)

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        (nbytes,) = self._one(
            "DELETE FROM records WHERE number = (SELECT number FROM records WHERE kind = ?"
            " AND owner = ? ORDER BY expires_at, number LIMIT 1) RETURNING nbytes",
            (kind, owner),
        )
        return Amount(1, nbytes)

    def _reading(self, kind: Kind) -> AbstractContextManager[float]:
        return self._transaction(writes=False)

    @contextmanager
    def _exclusive(self, kind: Kind) -> Iterator[float]:
        durable = self.policies[kind].ttl_seconds == math.inf
        with self._transaction(durable=durable) as now:
            self._execute(_EXPIRED, (now,))
            yield now

    def _drop_expired(self) -> None:
        with self._transaction() as now:
            self._execute(_EXPIRED, (now,))

    @contextmanager
    def _transaction(self, *, writes: bool = True, durable: bool = False) -> Iterator[float]:
        """One transaction of the file; yields the time."""
        with self._file.transaction(writes=writes, durable=durable):
            yield self._now()


def _create(connection: sqlite3.Connection) -> None:
    """Create or migrate the tables. Versions before 3 had only tapes, which expire soon anyway."""
    if _version(connection) == _VERSION:
        return
    execute = connection.execute
    with connection:  # commits
        execute("BEGIN IMMEDIATE")
        version = _version(connection)  # another process may have been first
        if 3 <= version < _VERSION:
            execute("DELETE FROM records WHERE nbytes IS NULL")  # consumed, in version 3
            for table in "records", "bodies":
                execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
        execute("DROP TABLE IF EXISTS tapes")
        for statement in _SCHEMA:
            execute(statement)
        execute(f"PRAGMA user_version = {_VERSION}")


def _version(connection: sqlite3.Connection) -> int:
    """The version of the schema in the file.

    Raises: ``FileUnavailable`` if it is later than ours.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        newer = f"the store has schema version {version}, newer than {_VERSION}"
        raise FileUnavailable(Failure(newer, "run the version of the service that created it"))
    return int(version)


def _checksum(key: Key, head: str) -> int:
    return crc32("\0".join((*key, head)).encode())


def _checked(key: Key, head: Any, checksum: int | None) -> str:
    """A head whose checksum matches; rows of older versions have none."""
    if type(head) is not str or checksum not in (None, _checksum(key, head)):
        raise Damaged("the checksum of a head does not match")
    return head
