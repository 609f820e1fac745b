"""Disk space in reserve, so that records can be deleted when the disk is full."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: More than a few deletions write.
RESERVE_BYTES = 1 << 20


class Reserve:
    """A file of random bytes beside another one, truncated while the disk is full.

    Random, since some file systems do not allocate zeros.
    """

    def __init__(self, beside: str) -> None:
        self._path = Path(f"{beside}-reserve")

    @property
    def free_bytes(self) -> int:
        """Free space of the disk without the reserve, whether that is allocated or not."""
        with suppress(OSError):  # SQLite reports it
            missing = RESERVE_BYTES - self._allocated_bytes
            return shutil.disk_usage(self._path.parent).free - missing
        return sys.maxsize

    def allocate(self) -> None:
        """Allocate the space, or none of it if there is too little."""
        with suppress(OSError):
            if self._allocated_bytes < RESERVE_BYTES:
                self._write()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Free the space for the time of the context; afterwards allocate it again if possible."""
        with suppress(OSError):
            os.truncate(self._path, 0)
        yield
        self.allocate()

    @property
    def _allocated_bytes(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def _write(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            try:
                file.write(os.urandom(RESERVE_BYTES))
                file.flush()
            except OSError:
                os.truncate(self._path, 0)
                raise
