"""A file of SQLite's: transactions, the troubles that it may have, and a disk that is full."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from gradwire_service.store.records import NotOpened, Unavailable
from gradwire_service.store.reserve import Reserve

logger = logging.getLogger("gradwire")

#: How long to wait for another process that writes: less than what a request has.
BUSY_SECONDS = 5.0
#: Where the disk has less free than this, no record is written before there is surely room.
_SCARCE_BYTES = 16 << 20
#: What a record takes on the disk beside its bytes: pages of tables and indices.
_BESIDE_BYTES = 1 << 16

Result = TypeVar("Result")


class Trouble(NamedTuple):
    """What is wrong with a file, as clients and as operators are told."""

    detail: str
    hint: str


BUSY = Trouble("the store is busy", "another process has written to it for long")
FULL = Trouble(
    "the disk of the store is full",
    "free some of it, or delete programs, tensors and tapes, which a full disk allows",
)
DAMAGED = Trouble(
    "the file of the store is damaged",
    "move it away with those beside it (-wal, -shm), and a new one is made without a restart; "
    "or put a sound copy in its place; `sqlite3 FILE .recover` prints what can still be read",
)
_OPENING = Trouble(
    "the store cannot be opened", "its folder has to be there, and this user has to write both"
)
_FAILING = Trouble("the disk of the store fails", "look what the system's log says of the disk")
_READ_ONLY = Trouble("the store cannot be written to", "this user has to write file and folder")
#: By SQLite's primary result code. Our statements break no constraint of a file that is sound.
_TROUBLES = {
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_CANTOPEN: _OPENING,
    sqlite3.SQLITE_CONSTRAINT: DAMAGED,
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_IOERR: _FAILING,
    sqlite3.SQLITE_NOTADB: DAMAGED,
    sqlite3.SQLITE_PERM: _OPENING,
    sqlite3.SQLITE_PROTOCOL: BUSY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
}
#: How SQLite and Python begin to say that of what it read nothing can be made.
_UNREADABLE = "no such table", "no such column", "Could not decode to UTF-8"


class Damaged(sqlite3.DatabaseError):
    """What was read is not what was written."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Failed(Unavailable):
    """The file cannot do now what it may do later, for that ``trouble``."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.detail)
        self.trouble = trouble

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.trouble,)


class SqliteFile:
    """One connection to a file, made anew after the file was found damaged: it may be another then.

    ``create`` makes the tables, as far as they are not there.
    Raises: ``NotOpened``; but not for a damaged file, which is told at each transaction.
    """

    def __init__(
        self, path: str, create: Callable[[sqlite3.Connection], None], busy_seconds: float
    ) -> None:
        self._path = path
        self._create = create
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._reserve = Reserve(path)
        try:
            self._open_first()
        except Failed as error:
            if error.trouble is not DAMAGED:
                raise NotOpened(
                    f"the store sqlite:{path} cannot be opened: {error.__cause__ or error}; it has "
                    "to be such a file, or none yet, in a folder that is there, and this user has "
                    "to be able to write both"
                ) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """Within a transaction."""
        assert self._connection is not None
        return self._connection

    @contextmanager
    def transaction(self, *, writes: bool = True, durable: bool = False) -> Iterator[None]:
        """One transaction, which ends on the disk if it is ``durable``.

        Raises: ``Failed`` where it failed for what may end.
        """
        with self._lock, self._troubles():
            connection = self._opened()
            try:
                if writes:
                    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                connection.execute(f"BEGIN {'IMMEDIATE' if writes else 'DEFERRED'}")
                yield
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:  # some failures have ended it
                    with suppress(sqlite3.Error):  # which is told by the first one
                        connection.execute("ROLLBACK")

    def freeing(self, work: Callable[[], Result]) -> Result:
        """Do what makes room, on a full disk too: by what is kept in reserve for that."""
        try:
            return work()
        except Failed as error:
            if error.trouble is not FULL:
                raise
        with self._reserve.given_up():
            wipes = self._pragma("secure_delete")
            self._pragma("secure_delete = 0")  # else as much is written as is deleted
            try:
                return work()
            finally:
                self._pragma(f"secure_delete = {wipes}")
                self._checkpoint()

    def make_room(self, nbytes: int, free: Callable[[], object]) -> None:
        """Refuse so much that the disk could not take it twice, in the log and in the file.

        Else what is in the log could never leave it, and the disk would stay full. Where it is
        nearly full, ``free`` drops what need not be kept, and the log is emptied.

        Raises: ``Failed``.
        """
        if self._path == ":memory:" or self._reserve.free_bytes > 2 * nbytes + _SCARCE_BYTES:
            return
        self.freeing(free)
        self._checkpoint()
        self._reserve.keep()
        unused = self._pragma("freelist_count") * self._pragma("page_size")
        needed = nbytes + _BESIDE_BYTES
        if self._reserve.free_bytes < needed + max(0, needed - unused):
            self._tell(FULL, f"{nbytes} bytes are to be written")
            raise Failed(FULL)

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _open_first(self) -> None:
        """Open the file; on a full disk too, where those beside it take a few pages."""
        try:
            self._pragma("user_version")
        except Failed as error:
            if error.trouble not in (FULL, _FAILING):
                raise
            with self._reserve.given_up():
                self._pragma("user_version")

    def _opened(self) -> sqlite3.Connection:
        """The connection, made where there is none."""
        if self._connection is None:
            _keep_to_ourselves(self._path)
            connection = sqlite3.connect(
                self._path,
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                self._create(connection)
            except BaseException:
                connection.close()
                raise
            if self._path != ":memory:":
                self._reserve.keep()
            self._connection = connection
        return self._connection

    def _checkpoint(self) -> None:
        """Have what is in the log in the file, and give back what the log takes."""
        with suppress(Failed):  # what is left in it is there nevertheless
            self._pragma("wal_checkpoint(TRUNCATE)")

    def _pragma(self, pragma: str) -> int:
        with self._lock, self._troubles():
            row = self._opened().execute(f"PRAGMA {pragma}").fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _troubles(self) -> Iterator[None]:
        """Raise ``Failed`` for what may end. A damaged file is left."""
        try:
            yield
        except sqlite3.Error as error:
            trouble = _trouble_of(error)
            if trouble is None:
                raise
            if trouble is DAMAGED:
                self.close()
            self._tell(trouble, error)
            raise Failed(trouble) from error

    def _tell(self, trouble: Trouble, detail: object) -> None:
        logger.error("%s (sqlite:%s): %s; %s", trouble.detail, self._path, detail, trouble.hint)


def _trouble_of(error: sqlite3.Error) -> Trouble | None:
    """What ails the file; None where the mistake is ours."""
    trouble = _TROUBLES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if trouble is None and str(error).startswith(_UNREADABLE):
        return DAMAGED
    return trouble


def _keep_to_ourselves(path: str) -> None:
    """Make the file, where there is none, one that no other user reads; those beside it follow."""
    if path != ":memory:":
        with suppress(OSError):  # of which SQLite tells
            Path(path).touch(mode=0o600)
