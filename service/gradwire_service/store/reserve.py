"""Room on a disk that is kept for what makes room when the disk is full."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: What a few deletions write, and more.
RESERVE_BYTES = 1 << 20


class Reserve:
    """A file of noise beside another one, given up while the disk is full.

    Noise, since some file systems take no room for zeros.
    """

    def __init__(self, beside: str) -> None:
        self._path = Path(f"{beside}-reserve")

    @property
    def free_bytes(self) -> int:
        """What the disk has free beside the reserve, whether that is taken or not."""
        with suppress(OSError):  # of which SQLite tells
            missing = RESERVE_BYTES - self._taken_bytes
            return shutil.disk_usage(self._path.parent).free - missing
        return sys.maxsize

    def keep(self) -> None:
        """Take the room, or none of it where there is too little."""
        with suppress(OSError):
            if self._taken_bytes < RESERVE_BYTES:
                self._write()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """The room is free within, and is taken again where that is possible."""
        with suppress(OSError):
            os.truncate(self._path, 0)
        yield
        self.keep()

    @property
    def _taken_bytes(self) -> int:
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
