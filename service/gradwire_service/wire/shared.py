"""Bodies in memory that processes share: a file without a name, which is on no disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from mmap import mmap
from typing import TypeAlias

#: Bytes as they came, or as they go out.
Body: TypeAlias = bytes | bytearray | memoryview
#: What is longer is no part of a message between processes: these have a few hundred bytes.
LARGE_BYTES = 1 << 16
#: What is longer is in shared memory of its own; to make and clear that takes longer than to copy.
WHOLE_BYTES = 1 << 22
#: What goes out at a time of that.
PIECE_BYTES = 1 << 18
_COPIED_BYTES = 1 << 20


class Shared:
    """Bytes in memory that processes share. It is closed when nobody refers to it any more."""

    def __init__(self, descriptor: int | None = None, length: int = 0) -> None:
        self._descriptor = _anonymous_file() if descriptor is None else descriptor
        self.length = length

    @classmethod
    def of_length(cls, length: int) -> Shared:
        """So many zeros, which take memory when they are written to.

        Raises: ``MemoryError``.
        """
        made = cls()
        try:
            os.ftruncate(made.descriptor, length)
        except OSError as error:
            raise MemoryError("shared memory is used up") from error
        made.length = length
        return made

    def __del__(self) -> None:
        os.close(self._descriptor)

    def __len__(self) -> int:
        return self.length

    @property
    def descriptor(self) -> int:
        """What the system calls it in this process."""
        return self._descriptor

    def append(self, piece: Body) -> None:
        """Write further bytes to its end.

        Raises: ``MemoryError`` where it would be longer than this process may make it.
        """
        rest = memoryview(piece)
        while rest:
            try:
                written = os.pwrite(self._descriptor, rest[:_COPIED_BYTES], self.length)
            except OSError as error:
                raise MemoryError("shared memory is used up") from error
            self.length += written
            rest = rest[written:]

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """So many bytes from ``start``, or all."""
        return os.pread(self._descriptor, self.length if length is None else length, start)

    def mapped(self) -> mmap:
        """All of it, as memory that whoever else has it sees, too. It outlives this object.

        Raises: ``MemoryError``.
        """
        try:
            return mmap(self._descriptor, self.length)
        except OSError as error:
            raise MemoryError("shared memory is used up") from error

    def whole(self) -> bytearray:
        """All of it, in memory of this process's own."""
        whole = bytearray(self.length)
        at, view = 0, memoryview(whole)
        while at < self.length:
            at += os.preadv(self._descriptor, [view[at:]], at)
        return whole

    def pieces(self) -> Iterator[bytes]:
        """All of it, a part at a time."""
        for start in range(0, self.length, PIECE_BYTES):
            yield self.read(start, min(PIECE_BYTES, self.length - start))


class Pieces:
    """Bytes in several places, which need not be joined before they are sent."""

    def __init__(self, pieces: list[Body], length: int) -> None:
        self._pieces = pieces
        self._length = length

    def __len__(self) -> int:
        return self._length

    def pieces(self) -> Iterable[Body]:
        """All of them, in order."""
        return self._pieces

    def whole(self) -> bytes:
        """All in one."""
        return b"".join(self._pieces)


#: A body as it goes from one process to another.
Packed: TypeAlias = bytes | bytearray | Pieces | Shared


def packed(pieces: Iterable[Body]) -> bytes | Pieces | Shared:
    """Pieces of a body as they are sent to another process."""
    pieces = list(pieces)
    length = sum(map(len, pieces))
    if length <= LARGE_BYTES:
        return b"".join(pieces)
    if length <= WHOLE_BYTES:
        return Pieces(pieces, length)
    shared = Shared()
    for piece in pieces:
        shared.append(piece)
    return shared


def unpacked(sent: Packed) -> bytes | bytearray:
    """What was ``packed``, in memory of this process's own."""
    return sent.whole() if isinstance(sent, Pieces | Shared) else sent


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gradwire", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
