"""Records in a file of SQLite's, shared by all processes of one machine."""

from __future__ import annotations

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from gradwire_service.problems import Refusal
from gradwire_service.store.records import (
    CONSUMED_SECONDS,
    Amount,
    Held,
    Key,
    Kind,
    Listed,
    Policy,
    Record,
    Store,
)

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
_VERSION = 3
#: Heads and bodies apart: what moves an expiry on would write all of its row anew.
_SCHEMA = (
    """
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    head TEXT NOT NULL,
    nbytes INTEGER,  -- NULL once it is used up
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


class Transaction(NamedTuple):
    """What to execute with, and the time."""

    execute: Callable[..., sqlite3.Cursor]
    now: float


class SqliteStore(Store):
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
        self._connection = sqlite3.connect(
            path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._create()

    def _create(self) -> None:
        """Make the tables. Those of versions before 3 held tapes alone, which end soon anyway."""
        with self._transaction() as (execute, _):
            (version,) = execute("PRAGMA user_version").fetchone()
            if version > _VERSION:
                raise ValueError(f"the store is of version {version}, newer than {_VERSION}")
            execute("DROP TABLE IF EXISTS tapes")
            for statement in _SCHEMA:
                execute(statement)
            execute(f"PRAGMA user_version = {_VERSION}")

    def put(self, key: Key, record: Record) -> float:
        with self._transaction(key.kind) as (execute, now):
            execute("DELETE FROM records WHERE expires_at <= ?", (now,))
            self._make_room(key, record)
            expires_at = self._expiry(key.kind, now)
            row = (*key, record.head, record.nbytes, expires_at)
            number = execute("INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?, ?)", row).lastrowid
            execute("INSERT INTO bodies VALUES (?, ?)", (number, record.body))
        return expires_at

    def find(self, key: Key, *, body: bool = True) -> Held | None:
        with self._transaction() as (execute, now):
            row = execute(
                "SELECT number, head, nbytes, expires_at FROM records"
                " WHERE kind = ? AND owner = ? AND id = ? AND expires_at > ?",
                (*key, now),
            ).fetchone()
            if row is None:
                return None
            number, head, nbytes, expires_at = row
            if nbytes is None:
                return Held("", None, expires_at, consumed=True)
            if expires_at != math.inf:
                expires_at = self._expiry(key.kind, now)
                moved = "UPDATE records SET expires_at = ? WHERE number = ?"
                execute(moved, (expires_at, number))
            if not body:
                return Held(head, None, expires_at)
            (found,) = execute("SELECT body FROM bodies WHERE number = ?", (number,)).fetchone()
        return Held(head, found, expires_at)

    def listed(self, kind: Kind, owner: str, after: str, most: int) -> Sequence[Listed]:
        with self._transaction() as (execute, now):
            rows = execute(
                "SELECT id, head, expires_at FROM records WHERE kind = ? AND owner = ? AND id > ?"
                " AND expires_at > ? AND nbytes IS NOT NULL ORDER BY id LIMIT ?",
                (kind, owner, after, now, most),
            )
            return [Listed(*row) for row in rows]

    def consume(self, key: Key) -> bool:
        with self._transaction(key.kind) as (execute, now):
            row = execute(
                "UPDATE records SET nbytes = NULL, expires_at = ?"
                " WHERE kind = ? AND owner = ? AND id = ? AND expires_at > ?"
                " AND nbytes IS NOT NULL RETURNING number",
                (now + CONSUMED_SECONDS, *key, now),
            ).fetchone()
            if row is not None:
                execute("DELETE FROM bodies WHERE number = ?", row)
            return row is not None

    def remove(self, key: Key) -> bool:
        with self._transaction(key.kind) as (execute, now):
            gone = execute(
                "DELETE FROM records WHERE kind = ? AND owner = ? AND id = ? AND expires_at > ?",
                (*key, now),
            )
            return gone.rowcount > 0

    def amounts(self, kind: Kind) -> Amount:
        with self._transaction() as (execute, now):
            rows = execute(f"{_AMOUNT} WHERE kind = ? AND expires_at > ?", (kind, now))
            return Amount(*rows.fetchone())

    def close(self) -> None:
        self._connection.close()

    def _amount(self, kind: Kind, owner: str | None = None, id: str | None = None) -> Amount:
        given = [text for text in (kind, owner, id) if text is not None]
        rows = self._connection.execute(_AMOUNT + "".join(_OF_KEY[: len(given)]), given)
        return Amount(*rows.fetchone())

    def _amounts_of_owners(self, kind: Kind) -> dict[str, Amount]:
        rows = self._connection.execute(
            "SELECT owner, count(nbytes), coalesce(sum(nbytes), 0) FROM records"
            " WHERE kind = ? GROUP BY owner HAVING count(nbytes) > 0",
            (kind,),
        )
        return {owner: Amount(records, nbytes) for owner, records, nbytes in rows}

    def _drop(self, key: Key) -> None:
        self._connection.execute("DELETE FROM records WHERE kind = ? AND owner = ? AND id = ?", key)

    def _drop_oldest(self, kind: Kind, owner: str) -> Amount:
        (nbytes,) = self._connection.execute(
            "DELETE FROM records WHERE number = (SELECT number FROM records WHERE kind = ?"
            " AND owner = ? AND nbytes IS NOT NULL ORDER BY expires_at, number LIMIT 1)"
            " RETURNING nbytes",
            (kind, owner),
        ).fetchone()
        return Amount(1, nbytes)

    @contextmanager
    def _transaction(self, kind: Kind | None = None) -> Iterator[Transaction]:
        """One write transaction; of a kind that never expires, it ends on the disk.

        Raises: ``Refusal`` (overloaded) where it failed for what may end.
        """
        durable = kind is not None and self.policies[kind].ttl_seconds == math.inf
        execute = self._connection.execute
        with self._lock:
            try:
                execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                execute("BEGIN IMMEDIATE")
                yield Transaction(execute, self._clock())
                execute("COMMIT")
            except sqlite3.OperationalError as error:
                trouble = _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
                if trouble is None:
                    raise
                logger.error("%s: %s", trouble, error)
                hint = "repeat after the time given in Retry-After"
                raise Refusal("overloaded", trouble, hint=hint, retry_after_seconds=1) from error
            finally:
                if self._connection.in_transaction:  # some failures have ended it
                    execute("ROLLBACK")
