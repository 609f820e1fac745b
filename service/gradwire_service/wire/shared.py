"""Bodies in memory that processes share: an anonymous file, not on any disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from mmap import mmap
from typing import TypeAlias

#: The bytes of a body, or a piece of it.
Body: TypeAlias = bytes | bytearray | memoryview
#: Longer bodies are not part of messages between processes, which have a few hundred bytes.
LARGE_BYTES = 1 << 16
#: Longer bodies get shared memory of their own; creating it takes longer than a short copy.
WHOLE_BYTES = 1 << 22
#: Size of the pieces in which shared memory is sent.
PIECE_BYTES = 1 << 18
_COPIED_BYTES = 1 << 20


class SharedMemory:
    """Bytes in memory that processes share; closed with the last reference to it."""

    def __init__(self, descriptor: int | None = None, length: int = 0) -> None:
        #: The file descriptor in this process.
        self.descriptor = _anonymous_file() if descriptor is None else descriptor
        self.length = length

    @classmethod
    def of_length(cls, length: int) -> SharedMemory:
        """``length`` zeros, which take memory once they are written to.

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
        os.close(self.descriptor)

    def __len__(self) -> int:
        return self.length

    def append(self, piece: Body) -> None:
        """Append bytes.

        Raises: ``MemoryError`` beyond this process's limit.
        """
        rest = memoryview(piece)
        while rest:
            try:
                written = os.pwrite(self.descriptor, rest[:_COPIED_BYTES], self.length)
            except OSError as error:
                raise MemoryError("shared memory is used up") from error
            self.length += written
            rest = rest[written:]

    def rewrite(self, body: Body) -> None:
        """Replace all of it by as many other bytes: faster than new memory, which is cleared."""
        self.length = 0
        self.append(body)

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """``length`` bytes from ``start``, or all."""
        return os.pread(self.descriptor, self.length if length is None else length, start)

    def mapped(self) -> mmap:
        """All of it, mapped into this process; the mapping outlives this object.

        Raises: ``MemoryError``.
        """
        try:
            return mmap(self.descriptor, self.length)
        except OSError as error:
            raise MemoryError("shared memory is used up") from error

    def whole(self) -> bytearray:
        """A private copy of all of it."""
        whole = bytearray(self.length)
        at, view = 0, memoryview(whole)
        while at < self.length:
            at += os.preadv(self.descriptor, [view[at:]], at)
        return whole

    def pieces(self) -> Iterator[bytes]:
        """All of it, in pieces."""
        for start in range(0, self.length, PIECE_BYTES):
            yield self.read(start, min(PIECE_BYTES, self.length - start))


class Pieces:
    """A body in pieces, which are sent without being joined."""

    def __init__(self, pieces: list[Body], length: int) -> None:
        self._pieces = pieces
        self._length = length

    def __len__(self) -> int:
        return self._length

    def pieces(self) -> Iterable[Body]:
        """The pieces, in order."""
        return self._pieces

    def whole(self) -> bytes:
        """The pieces, joined."""
        return b"".join(self._pieces)


#: A body in the form that is sent to another process.
Packed: TypeAlias = bytes | bytearray | Pieces | SharedMemory


def packed(pieces: Iterable[Body]) -> bytes | Pieces | SharedMemory:
    """Join pieces of a body in the form that is sent to another process."""
    pieces = list(pieces)
    length = sum(map(len, pieces))
    if length <= LARGE_BYTES:
        return b"".join(pieces)
    if length <= WHOLE_BYTES:
        return Pieces(pieces, length)
    shared = SharedMemory()
    for piece in pieces:
        shared.append(piece)
    return shared


def unpacked(sent: Packed | memoryview) -> bytes | bytearray:
    """A body from another process, in this process's own memory."""
    if isinstance(sent, memoryview):
        return bytes(sent)
    return sent.whole() if isinstance(sent, Pieces | SharedMemory) else sent


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gradwire", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
