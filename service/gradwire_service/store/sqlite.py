"""Records in a file of SQLite's, shared by all processes of one machine."""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gradwire_service.store.records import (
    Amount,
    Held,
    Key,
    Kind,
    Listed,
    NotOpened,
    Policy,
    Record,
    Unavailable,
)
from gradwire_service.store.room import OrderedStore

logger = logging.getLogger("gradwire")

#: How long to wait for another process that writes: less than what a request has.
_BUSY_SECONDS = 5.0
#: What a client may wait for to end, by SQLite's primary result code.
_TROUBLES = {
    sqlite3.SQLITE_BUSY: "the store is busy",
    sqlite3.SQLITE_CANTOPEN: "the store cannot be opened",
    sqlite3.SQLITE_FULL: "the disk of the store is full",
    sqlite3.SQLITE_IOERR: "the disk of the store fails",
    sqlite3.SQLITE_READONLY: "the store cannot be written to",
}

#: Of the tables; one more with each change of them.
_VERSION = 4
#: Heads and bodies apart: what moves an expiry on would write all of its row anew.
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
    UNIQUE (kind, owner, id)
)""",
    "CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS records_expiry ON records (expires_at)",
    "DROP INDEX IF EXISTS records_amounts",
    "CREATE INDEX IF NOT EXISTS records_ages ON records (kind, owner, expires_at, nbytes)",
    "CREATE TRIGGER IF NOT EXISTS bodies_with_records AFTER DELETE ON records"
    " BEGIN DELETE FROM bodies WHERE number = old.number; END",
)
_AMOUNT = "SELECT count(nbytes), coalesce(sum(nbytes), 0) FROM records"
_OF_KEY = " WHERE kind = ?", " AND owner = ?", " AND id = ?"


class SqliteStore(OrderedStore):
    """Records that outlive a restart. One connection, one transaction for each call.

    The write-ahead log lets readers and one writer work at once, and a lost process loses nothing
    that was committed. A lost machine may lose the last commits, but for those of what never
    expires: these wait for the disk. Source: SQLite's documentation, Write-Ahead Logging and
    PRAGMA synchronous.
    """

    def __init__(
        self,
        path: str,
        policies: Mapping[Kind, Policy],
        clock: Callable[[], float] = time.time,
        busy_seconds: float = _BUSY_SECONDS,
    ) -> None:
        super().__init__(policies, clock)
        self._lock = threading.Lock()
        _keep_to_ourselves(path)
        try:
            self._connection = sqlite3.connect(
                path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._create()
        except (sqlite3.Error, Unavailable) as error:
            raise NotOpened(
                f"the store sqlite:{path} cannot be opened: {error}; it has to be such a file, or "
                "none yet, in a folder that is there, and this user has to be able to write both"
            ) from error

    def _create(self) -> None:
        """Make the tables. Those of versions before 3 held tapes alone, which end soon anyway."""
        execute = self._connection.execute
        with self._transaction(writes=False):
            (version,) = execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise NotOpened(f"the store is of version {version}, newer than {_VERSION}")
        if version == _VERSION:
            return
        with self._transaction():
            execute("DROP TABLE IF EXISTS tapes")
            for statement in _SCHEMA:
                execute(statement)
            execute("DELETE FROM records WHERE nbytes IS NULL")  # what version 3 calls used up
            execute(f"PRAGMA user_version = {_VERSION}")

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        with self._transaction(writes=False) as now:
            row = self._row(key, now)
            of = key.kind if row is not None else key.used.kind
            row = self._row(key.used, now) if row is None else row
            if row is None:
                return None
            number, head, expires_at = row
            found = None
            if body:
                rows = self._connection.execute(
                    "SELECT body FROM bodies WHERE number = ?", (number,)
                )
                (found,) = rows.fetchone()
        if of == "used":
            by, _, head = head.partition(" ")
            return Held(head, found, expires_at, by)
        if expires_at != math.inf:
            expires_at = self._moved_on(number, key.kind, expires_at)
        return Held(head, found, expires_at)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        with self._transaction(writes=False) as now:
            rows = self._connection.execute(
                "SELECT id, head, expires_at FROM records WHERE kind = ? AND owner = ? AND id > ?"
                " AND expires_at > ? ORDER BY id LIMIT ?",
                (kind, owner, after, now, most),
            )
            return [Listed(*row) for row in rows]

    def amounts(self, kind: Kind, owner: str | None = None) -> Amount:
        given = [kind] if owner is None else [kind, owner]
        query = _AMOUNT + "".join(_OF_KEY[: len(given)]) + " AND expires_at > ?"
        with self._transaction(writes=False) as now:
            return Amount(*self._connection.execute(query, (*given, now)).fetchone())

    def close(self) -> None:
        self._connection.close()

    def _row(self, key: Key, now: float) -> tuple[int, str, float] | None:
        """Number, head and end of what is held under ``key``."""
        found: tuple[int, str, float] | None = self._connection.execute(
            "SELECT number, head, expires_at FROM records"
            " WHERE kind = ? AND owner = ? AND id = ? AND expires_at > ?",
            (*key, now),
        ).fetchone()
        return found

    def _moved_on(self, number: int, kind: Kind, expires_at: float) -> float:
        """When a record ends that was used now: as before, where nothing can be written."""
        try:
            with self._transaction() as now:
                end = self._expiry(kind, now)
                moved = "UPDATE records SET expires_at = ? WHERE number = ? AND kind = ?"
                self._connection.execute(moved, (end, number, kind))
        except Unavailable:
            return expires_at
        return end

    def _head(self, key: Key) -> str | None:
        row = self._row(key, -math.inf)
        return None if row is None else row[1]

    def _insert(self, key: Key, record: Record, expires_at: float) -> None:
        row = (*key, record.head, record.nbytes, expires_at)
        insert = "INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?, ?)"
        number = self._connection.execute(insert, row).lastrowid
        self._connection.execute("INSERT INTO bodies VALUES (?, ?)", (number, record.body))

    def _move(self, key: Key, to: Key, head: str, expires_at: float) -> None:
        self._connection.execute(
            "UPDATE records SET kind = ?, owner = ?, id = ?, head = ?, expires_at = ?,"
            " nbytes = nbytes - length(CAST(head AS BLOB)) + ?"
            " WHERE kind = ? AND owner = ? AND id = ?",
            (*to, head, expires_at, len(head.encode()), *key),
        )

    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        given = [text for text in (kind, owner, id) if text is not None]
        rows = self._connection.execute(_AMOUNT + "".join(_OF_KEY[: len(given)]), given)
        return Amount(*rows.fetchone())

    def _amounts_of_owners(self, kind: Kind) -> dict[str, Amount]:
        rows = self._connection.execute(
            "SELECT owner, count(nbytes), coalesce(sum(nbytes), 0) FROM records"
            " WHERE kind = ? GROUP BY owner",
            (kind,),
        )
        return {owner: Amount(records, nbytes) for owner, records, nbytes in rows}

    def _drop(self, key: Key) -> None:
        self._connection.execute("DELETE FROM records WHERE kind = ? AND owner = ? AND id = ?", key)

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        (nbytes,) = self._connection.execute(
            "DELETE FROM records WHERE number = (SELECT number FROM records WHERE kind = ?"
            " AND owner = ? ORDER BY expires_at, number LIMIT 1) RETURNING nbytes",
            (kind, owner),
        ).fetchone()
        return Amount(1, nbytes)

    @contextmanager
    def _alone(self, kind: Kind) -> Iterator[float]:
        durable = self.policies[kind].ttl_seconds == math.inf
        with self._transaction(durable=durable) as now:
            self._connection.execute("DELETE FROM records WHERE expires_at <= ?", (now,))
            yield now

    @contextmanager
    def _transaction(self, *, writes: bool = True, durable: bool = False) -> Iterator[float]:
        """One transaction, which ends on the disk if it is ``durable``; gives the time.

        Raises: ``Unavailable`` where it failed for what may end.
        """
        execute = self._connection.execute
        with self._lock:
            try:
                if writes:
                    execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                execute(f"BEGIN {'IMMEDIATE' if writes else 'DEFERRED'}")
                yield self._clock()
                execute("COMMIT")
            except sqlite3.OperationalError as error:
                trouble = _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
                if trouble is None:
                    raise
                logger.error("%s: %s", trouble, error)
                raise Unavailable(trouble) from error
            finally:
                if self._connection.in_transaction:  # some failures have ended it
                    execute("ROLLBACK")


def _keep_to_ourselves(path: str) -> None:
    """Make the file, where there is none, one that no other user reads; those beside it follow."""
    if path != ":memory:":
        with suppress(OSError):  # of which SQLite tells
            Path(path).touch(mode=0o600)
