"""Tapes in a file of SQLite's, shared by all processes of one machine."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gradwire_service.store.tapes import (
    CONSUMED_SECONDS,
    Amount,
    Held,
    Key,
    Quota,
    Recipe,
    TapeStore,
)

#: How long to wait for another process that writes.
_BUSY_SECONDS = 10.0

#: Of the tables; one more with each change of them.
_VERSION = 2
_SCHEMA = """
CREATE TABLE IF NOT EXISTS tapes (
    owner TEXT NOT NULL,
    token TEXT NOT NULL,
    media_type TEXT NOT NULL,
    body BLOB,  -- NULL once the tape is used up
    persistent INTEGER NOT NULL,
    expires_at REAL NOT NULL,
    PRIMARY KEY (owner, token)
);
CREATE INDEX IF NOT EXISTS tapes_expiry ON tapes (expires_at);
"""


class SqliteStore(TapeStore):
    """Tapes that outlive a restart. One connection, one transaction for each call.

    The write-ahead log lets readers and one writer work at once; a lost machine may lose the last
    tapes, a lost process none. Source: SQLite's documentation, Write-Ahead Logging.
    """

    def __init__(self, path: str, quota: Quota, clock: Callable[[], float] = time.time) -> None:
        super().__init__(quota, clock)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._create()

    def _create(self) -> None:
        """Make the tables, in place of another version's: tapes end soon in any case."""
        execute = self._connection.execute
        with self._transaction():
            (version,) = execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                execute("DROP TABLE IF EXISTS tapes")
            for statement in filter(str.strip, _SCHEMA.split(";")):
                execute(statement)
            execute(f"PRAGMA user_version = {_VERSION}")

    def add(self, owner: str, recipe: Recipe) -> tuple[Key, float]:
        key = self._key(owner)
        with self._transaction() as (execute, now):
            execute("DELETE FROM tapes WHERE expires_at <= ?", (now,))
            amount = "SELECT count(body), coalesce(sum(length(body)), 0) FROM tapes"
            owned = Amount(*execute(amount + " WHERE owner = ?", (owner,)).fetchone())
            self._check_quota(owned, Amount(*execute(amount).fetchone()), recipe)
            expires_at = now + self._quota.ttl_seconds
            row = (*key, recipe.media_type, recipe.body, recipe.persistent, expires_at)
            execute("INSERT INTO tapes VALUES (?, ?, ?, ?, ?, ?)", row)
        return key, expires_at

    def find(self, key: Key) -> Held | None:
        with self._transaction() as (execute, now):
            row = execute(
                "UPDATE tapes SET expires_at = iif(body IS NULL, expires_at, ?)"
                " WHERE owner = ? AND token = ? AND expires_at > ?"
                " RETURNING media_type, body, persistent, expires_at",
                (now + self._quota.ttl_seconds, *key, now),
            ).fetchone()
        if row is None:
            return None
        media_type, body, persistent, expires_at = row
        recipe = None if body is None else Recipe(media_type, body, bool(persistent))
        return Held(recipe, expires_at)

    def consume(self, key: Key) -> bool:
        with self._transaction() as (execute, now):
            changed = execute(
                "UPDATE tapes SET body = NULL, expires_at = ?"
                " WHERE owner = ? AND token = ? AND expires_at > ? AND body IS NOT NULL",
                (now + CONSUMED_SECONDS, *key, now),
            )
            return changed.rowcount > 0

    def remove(self, key: Key) -> bool:
        with self._transaction() as (execute, now):
            gone = "DELETE FROM tapes WHERE owner = ? AND token = ? AND expires_at > ?"
            return execute(gone, (*key, now)).rowcount > 0

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[tuple[Callable[..., sqlite3.Cursor], float]]:
        """One write transaction: what to execute with, and the time."""
        with self._lock:
            execute = self._connection.execute
            execute("BEGIN IMMEDIATE")
            try:
                yield execute, self._clock()
            except BaseException:
                execute("ROLLBACK")
                raise
            execute("COMMIT")
