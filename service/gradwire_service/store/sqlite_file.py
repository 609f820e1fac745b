"""One SQLite file: transactions, how it may fail, and full disks."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from gradwire_service.store.interface import NotOpened, Unavailable
from gradwire_service.store.reserve import Reserve

logger = logging.getLogger("gradwire")

#: Time to wait for another process that writes; shorter than a request's time limit.
BUSY_SECONDS = 5.0
#: With less free space than this, a record is written only if it certainly fits.
_SCARCE_BYTES = 16 << 20
#: Bytes of a record on the disk beyond its own: pages of tables and indices.
_OVERHEAD_BYTES = 1 << 16

Result = TypeVar("Result")


class Failure(NamedTuple):
    """A failure of the file: the detail for clients, and a hint for operators."""

    detail: str
    hint: str


BUSY = Failure("the store is busy", "another process holds its lock")
FULL = Failure(
    "the disk of the store is full",
    "free some space, or delete programs, tensors and tapes, which works on a full disk",
)
DAMAGED = Failure(
    "the file of the store is damaged",
    "move it away with its -wal and -shm files, and a new one is created without a restart; or "
    "restore a backup in its place; `sqlite3 FILE .recover` prints what can still be read",
)
_OPENING = Failure(
    "the store cannot be opened", "its folder must exist, and this user must be able to write both"
)
_FAILING = Failure("the disk of the store fails", "see the system log for errors of the disk")
_READ_ONLY = Failure(
    "the store cannot be written to", "this user must be able to write the file and its folder"
)
#: By SQLite's primary result code. Our statements break no constraint of an undamaged file.
_FAILURES = {
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
#: Beginnings of messages of SQLite and Python about an unreadable file.
_UNREADABLE = "no such table", "no such column", "Could not decode to UTF-8"


class Damaged(sqlite3.DatabaseError):
    """The file does not contain what was written."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class FileUnavailable(Unavailable):
    """The file fails now, and may work later."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.detail)
        self.failure = failure

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.failure,)


class SqliteFile:
    """One connection to a file; opened again after damage was found, as the file may be replaced.

    ``create`` creates the tables where they are missing.
    Raises: ``NotOpened``; but not for a damaged file, where each transaction fails.
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
        except FileUnavailable as error:
            if error.failure is not DAMAGED:
                raise NotOpened(
                    f"the store sqlite:{path} cannot be opened: {error.__cause__ or error}; it "
                    "must be an SQLite file or not exist yet, in a folder that exists, and this "
                    "user must be able to write both"
                ) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of the current transaction."""
        assert self._connection is not None
        return self._connection

    @property
    def version(self) -> int:
        """A number that changes with each commit of another connection, and with none of this one.

        Source: SQLite's documentation, PRAGMA data_version.
        """
        return self._pragma("data_version")

    @contextmanager
    def transaction(self, *, writes: bool = True, durable: bool = False) -> Iterator[None]:
        """One transaction; if it is ``durable``, its commit waits for the disk.

        Raises: ``FileUnavailable``.
        """
        with self._lock, self._failures():
            connection = self._open()
            try:
                if writes:
                    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                connection.execute(f"BEGIN {'IMMEDIATE' if writes else 'DEFERRED'}")
                yield
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:  # some errors end it
                    with suppress(sqlite3.Error):  # the first error is raised
                        connection.execute("ROLLBACK")

    def with_reserve(self, work: Callable[[], Result]) -> Result:
        """Do work that frees space; on a full disk, with the space in reserve."""
        try:
            return work()
        except FileUnavailable as error:
            if error.failure is not FULL:
                raise
        with self._reserve.released():
            secure = self._pragma("secure_delete")
            self._pragma("secure_delete = 0")  # which writes as much as it deletes
            try:
                return work()
            finally:
                self._pragma(f"secure_delete = {secure}")
                self._checkpoint()

    def require_space(self, nbytes: int, free: Callable[[], object]) -> None:
        """Refuse a record that does not fit on the disk twice, in the log and in the file.

        Otherwise the log could not be checkpointed, and the disk would stay full. On a nearly full
        disk, ``free`` first deletes what it can, and the log is emptied.

        Raises: ``FileUnavailable``.
        """
        if self._path == ":memory:" or self._reserve.free_bytes > 2 * nbytes + _SCARCE_BYTES:
            return
        self.with_reserve(free)
        self._checkpoint()
        self._reserve.allocate()
        unused = self._pragma("freelist_count") * self._pragma("page_size")
        needed = nbytes + _OVERHEAD_BYTES
        if self._reserve.free_bytes < needed + max(0, needed - unused):
            self._log(FULL, f"no room for {nbytes} bytes")
            raise FileUnavailable(FULL)

    def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _open_first(self) -> None:
        """Open the file; on a full disk, with the reserve for its -wal and -shm files."""
        try:
            self._pragma("user_version")
        except FileUnavailable as error:
            if error.failure not in (FULL, _FAILING):
                raise
            with self._reserve.released():
                self._pragma("user_version")

    def _open(self) -> sqlite3.Connection:
        """The connection, opened if there is none."""
        if self._connection is None:
            _create_private(self._path)
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
                self._reserve.allocate()
            self._connection = connection
        return self._connection

    def _checkpoint(self) -> None:
        """Write the log to the file, and truncate it."""
        with suppress(FileUnavailable):  # nothing is lost: it stays in the log
            self._pragma("wal_checkpoint(TRUNCATE)")

    def _pragma(self, pragma: str) -> int:
        with self._lock, self._failures():
            row = self._open().execute(f"PRAGMA {pragma}").fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Raise ``FileUnavailable`` for errors that may end. A damaged file is closed."""
        try:
            yield
        except sqlite3.Error as error:
            failure = _failure_of(error)
            if failure is None:
                raise
            if failure is DAMAGED:
                self.close()
            self._log(failure, error)
            raise FileUnavailable(failure) from error

    def _log(self, failure: Failure, detail: object) -> None:
        logger.error("%s (sqlite:%s): %s; %s", failure.detail, self._path, detail, failure.hint)


def _failure_of(error: sqlite3.Error) -> Failure | None:
    """The failure of the file; None if the error is a bug of ours."""
    failure = _FAILURES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if failure is None and str(error).startswith(_UNREADABLE):
        return DAMAGED
    return failure


def _create_private(path: str) -> None:
    """Create a missing file readable by this user only; its -wal and -shm files follow."""
    if path != ":memory:":
        with suppress(OSError):  # SQLite reports it
            Path(path).touch(mode=0o600)
