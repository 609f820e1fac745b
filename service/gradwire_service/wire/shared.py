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
MAX_INLINE_BYTES = 1 << 16
#: Longer bodies get shared memory of their own; creating it takes longer than a short copy.
MAX_COPIED_BYTES = 1 << 22
#: Size of the chunks in which shared memory is sent.
CHUNK_BYTES = 1 << 18
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

    def to_bytes(self) -> bytearray:
        """A private copy of all of it."""
        whole = bytearray(self.length)
        at, view = 0, memoryview(whole)
        while at < self.length:
            at += os.preadv(self.descriptor, [view[at:]], at)
        return whole

    def chunks(self) -> Iterator[bytes]:
        """All of it, in chunks."""
        for start in range(0, self.length, CHUNK_BYTES):
            yield self.read(start, min(CHUNK_BYTES, self.length - start))


class Chunks:
    """A body in chunks, which are sent without being joined."""

    def __init__(self, pieces: list[Body], length: int) -> None:
        self._chunks = pieces
        self._length = length

    def __len__(self) -> int:
        return self._length

    def chunks(self) -> Iterable[Body]:
        """The chunks, in order."""
        return self._chunks

    def to_bytes(self) -> bytes:
        """The chunks, joined."""
        return b"".join(self._chunks)


#: A body in the form that is sent to another process.
SharedBody: TypeAlias = bytes | bytearray | Chunks | SharedMemory


def to_shared(pieces: Iterable[Body]) -> bytes | Chunks | SharedMemory:
    """Join pieces of a body in the form that is sent to another process."""
    pieces = list(pieces)
    length = sum(map(len, pieces))
    if length <= MAX_INLINE_BYTES:
        return b"".join(pieces)
    if length <= MAX_COPIED_BYTES:
        return Chunks(pieces, length)
    shared = SharedMemory()
    for piece in pieces:
        shared.append(piece)
    return shared


def to_bytes(sent: SharedBody | memoryview) -> bytes | bytearray:
    """A body from another process, in this process's own memory."""
    if isinstance(sent, memoryview):
        return bytes(sent)
    return sent.to_bytes() if isinstance(sent, Chunks | SharedMemory) else sent


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("gradwire", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
