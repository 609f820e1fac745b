"""Machine code in a folder that survives restarts and that replicas may share.

A file is only used if its first bytes are the keyed digest of the rest, its name and its tenant:
what is damaged or foreign is deleted and never executed. Names are digests, too.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

logger = logging.getLogger("gradwire")

_DIGEST_BYTES = 32
#: Larger files are foreign.
_MOST_BYTES = 16 << 20
#: The part of the folder's bytes that may be written before files are counted again.
_UNCOUNTED_PART = 16
#: Age from which on a file that is being written has been left behind.
_STALE_SECONDS = 3600
_KEY_FILE = "key"


class _File(NamedTuple):
    """A file of a tenant, and when it was last used."""

    used: float
    nbytes: int
    path: Path


class CodeFiles:
    """Files of up to ``most_bytes`` in ``folder``: those least recently used are deleted.

    They are one tenant's who has most. ``secret`` is the key of the digests; without one, it is
    made beside the files, readable by this user only: then nobody else may write there. No error
    leaves this class: code that cannot be read or written is compiled again. The first error is
    logged.
    """

    def __init__(self, folder: Path, most_bytes: int, secret: str | None = None) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._has_failed = False
        #: Bytes that were written since files were counted.
        self._uncounted = most_bytes
        self._key = b""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._key = _digest(secret.encode()) if secret else _own_key(folder)
        except OSError as error:
            self._failed(error)

    def get(self, tenant: str, key: bytes) -> bytes | None:
        """The code of a tenant under a key."""
        if not self._key:
            return None
        path = self._path(tenant, key)
        try:
            with path.open("rb") as file:
                whole = file.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._failed(error)
            return None
        code = whole[_DIGEST_BYTES:]
        if not secrets.compare_digest(whole[:_DIGEST_BYTES], self._digest(path, code)):
            self._delete(path)
            return None
        with suppress(OSError):  # the folder is read-only
            os.utime(path)
        return code

    def put(self, tenant: str, key: bytes, code: bytes) -> None:
        """Write the code of a tenant."""
        if not self._key:
            return
        path = self._path(tenant, key)
        whole = self._digest(path, code) + code
        if len(whole) > min(self._most_bytes, _MOST_BYTES):
            return
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            _write(path, whole)
            self._uncounted += len(whole)
            if self._uncounted > self._most_bytes // _UNCOUNTED_PART:
                self._shrink()
        except OSError as error:
            self._failed(error)

    def _shrink(self) -> None:
        """Delete what is too much: of the tenant with most, what was used longest ago."""
        tenants = {each: sorted(_files(each)) for each in self._folder.iterdir() if each.is_dir()}
        taken = {each: sum(file.nbytes for file in files) for each, files in tenants.items()}
        while sum(taken.values()) > self._most_bytes - self._most_bytes // _UNCOUNTED_PART:
            largest = max(taken, key=taken.__getitem__)
            oldest = tenants[largest].pop(0)
            taken[largest] -= oldest.nbytes
            oldest.path.unlink(missing_ok=True)
        self._uncounted = 0

    def _delete(self, path: Path) -> None:
        """Delete what is not what was written under this name."""
        logger.warning("a file of machine code was damaged or foreign and is deleted")
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        if not self._has_failed:
            self._has_failed = True
            logger.warning(
                "machine code cannot be kept in the folder: %s; it is compiled after each restart",
                error.strerror,
            )

    def _path(self, tenant: str, key: bytes) -> Path:
        folder = _digest(tenant.encode(), self._key, size=16).hex()
        return self._folder / folder / _digest(key, self._key, size=20).hex()

    def _digest(self, path: Path, code: bytes) -> bytes:
        return _digest(f"{path.parent.name}/{path.name}\n".encode() + code, self._key)


def _digest(given: bytes, key: bytes = b"", size: int = _DIGEST_BYTES) -> bytes:
    return hashlib.blake2b(given, key=key, digest_size=size).digest()


def _files(tenant: Path) -> Iterator[_File]:
    """The files of a tenant; those left behind by writing are deleted."""
    for entry in os.scandir(tenant):
        with suppress(FileNotFoundError):  # another replica was first
            found = entry.stat(follow_symlinks=False)
            if entry.name.endswith(".new"):
                if time.time() - found.st_mtime > _STALE_SECONDS:
                    Path(entry.path).unlink()
            else:
                yield _File(found.st_mtime, found.st_size, Path(entry.path))


def _write(path: Path, whole: bytes) -> None:
    """Write a file that others see whole, or not at all."""
    new = path.with_name(f"{secrets.token_hex(8)}.new")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(whole)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def _own_key(folder: Path) -> bytes:
    """The key in a folder, made by the first who needs it."""
    found = folder.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        why = "other users can write there, and no GRADWIRE_CODE_CACHE_KEY tells their files apart"
        raise PermissionError(errno.EPERM, why)
    path = folder / _KEY_FILE
    key = _read(path)
    if len(key) == _DIGEST_BYTES:
        return key
    locked = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # unlocked where it is closed
    try:
        fcntl.flock(locked, fcntl.LOCK_EX)
        key = _read(path)
        if len(key) != _DIGEST_BYTES:
            key = secrets.token_bytes(_DIGEST_BYTES)
            _write(path, key)
        return key
    finally:
        os.close(locked)


def _read(path: Path) -> bytes:
    """The bytes of a file; none if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
