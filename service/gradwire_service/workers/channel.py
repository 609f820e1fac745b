"""Messages between the service and a worker process, with long bytes in shared memory.

Messages are pickled: both ends belong to this service. Long bytes are left in memory that both ends
map; for shared memory, only the descriptor is sent.
"""

from __future__ import annotations

import array
import mmap as mmap_module
import os
import pickle
import select
import socket
import struct
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from mmap import mmap
from typing import Any

from gradwire_service.wire.shared import (
    MAX_COPIED_BYTES,
    MAX_INLINE_BYTES,
    Body,
    Chunks,
    SharedMemory,
)

#: Length of the pickled payload, number of descriptors, and whether the first one is an arena.
_HEAD = struct.Struct("<IB?")
#: Most shared memory in one message: a body, an arena, and the records of a store's exchange.
_MOST_SHARED = 128
_SHARED_BYTES = socket.CMSG_LEN(_MOST_SHARED * array.array("i").itemsize)
_READ_BYTES = 1 << 17
#: The types of what may be left out of a message.
_APART = frozenset({bytes, bytearray, Chunks, SharedMemory})
#: Releases pages of shared memory, if the system supports it.
_REMOVE: int | None = getattr(mmap_module, "MADV_REMOVE", None)


class ChannelClosed(Exception):
    """The other end has closed."""


class Channel:
    """One end of a bidirectional connection for messages.

    Each end writes long bytes into an *arena*, which the other end maps too: it is created once, so
    the system need not allocate and clear memory for each message. Its contents have been read once
    the other end sends a message; until then, long bytes get separate memory.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = bytearray()
        self._descriptors = deque[int]()
        #: The arena that this end writes into, and the other one.
        self._out_arena: mmap | None = None
        self._in_arena: mmap | None = None
        #: Whether the other end may not have read it yet.
        self._unread = False

    def fileno(self) -> int:
        """The socket, for an event loop to watch."""
        return self._connection.fileno()

    def send(self, message: Any) -> None:
        """Raises: ``ChannelClosed``."""
        written = BytesIO()
        pickler = _Pickler(
            written, self._out_arena, capacity=0 if self._unread else MAX_COPIED_BYTES
        )
        pickler.dump(message)
        payload, shared = written.getbuffer(), pickler.shared
        if len(payload) > MAX_INLINE_BYTES:
            rest = SharedMemory()
            rest.append(payload)
            payload, shared = memoryview(b""), [*shared, rest]
        self._out_arena = pickler.out_arena
        self._unread |= pickler.used > 0
        if pickler.arena is not None:
            shared = [pickler.arena, *shared]
        head = _HEAD.pack(len(payload), len(shared), pickler.arena is not None)
        descriptors = [one.descriptor for one in shared]
        lengths = b"".join(len(one).to_bytes(8, "little") for one in shared)
        whole = b"".join((head, lengths, payload))
        try:
            if descriptors:
                whole = whole[socket.send_fds(self._connection, [whole], descriptors) :]
            if whole:
                self._connection.sendall(whole)
        except OSError as error:
            raise ChannelClosed from error

    def receive(self) -> Any:
        """Wait for the next message.

        Raises: ``ChannelClosed``.
        """
        while True:
            for message in self._messages():
                return message
            self._read()

    def is_idle(self, seconds: float) -> bool:
        """Wait for a message; whether none arrives within ``seconds``."""
        return not self._received and not select.select([self], [], [], seconds)[0]

    def receive_available(self) -> Iterator[Any]:
        """The complete messages, once the socket is readable: all that have arrived.

        An end that was closed with unread messages is an error of the socket. uvloop reports that
        once and then watches the socket no more, so nothing may be left for another time.
        Raises: ``ChannelClosed``, after the last message.
        """
        closed = False
        while not closed:
            try:
                self._read(socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except ChannelClosed:
                closed = True
        yield from self._messages()
        if closed:
            raise ChannelClosed

    def release(self) -> None:
        """Release the memory of messages that have been read, if possible."""
        if self._in_arena is not None and _REMOVE is not None:
            with suppress(OSError):  # a file system without holes
                self._in_arena.madvise(_REMOVE)

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
        for arena in (self._out_arena, self._in_arena):
            if arena is not None:
                arena.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def _read(self, flags: int = 0) -> None:
        """Read once.

        Raises: ``ChannelClosed``; ``BlockingIOError`` if nothing is there and ``flags`` say so.
        """
        try:  # socket.recv_fds() ignores its flags
            read, ancillary, _, _ = self._connection.recvmsg(_READ_BYTES, _SHARED_BYTES, flags)
        except BlockingIOError:
            raise
        except OSError as error:
            raise ChannelClosed from error
        for level, kind, sent in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors = array.array("i")
                descriptors.frombytes(sent[: len(sent) - len(sent) % descriptors.itemsize])
                self._descriptors += descriptors
        if not read:
            raise ChannelClosed
        self._received += read

    def _messages(self) -> Iterator[Any]:
        """The messages that are complete."""
        received = self._received
        while len(received) >= _HEAD.size:
            length, count, has_arena = _HEAD.unpack_from(received)
            start = _HEAD.size + 8 * count
            if len(received) < start + length:
                return
            lengths = array.array("Q", bytes(received[_HEAD.size : start]))
            if sys.byteorder == "big":
                lengths.byteswap()
            shared = [SharedMemory(self._descriptors.popleft(), size) for size in lengths]
            if has_arena:
                self._in_arena = shared.pop(0).mapped()
            payload: Any = (
                bytes(received[start : start + length]) if length else shared.pop().to_bytes()
            )
            del received[: start + length]
            self._unread = False
            yield _Unpickler(BytesIO(payload), shared, self._in_arena).load()


class _Pickler(pickle.Pickler):
    """Replaces shared memory by its index, and moves long bytes to shared memory."""

    def __init__(self, file: BytesIO, out_arena: mmap | None, *, capacity: int) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.shared: list[SharedMemory] = []
        self.out_arena = out_arena
        #: The memory of a new arena, and the used bytes of its ``capacity``.
        self.arena: SharedMemory | None = None
        self.used = 0
        self._capacity = capacity

    def persistent_id(self, value: Any) -> Any:
        kind = type(value)
        if kind not in _APART:
            return None
        if kind is SharedMemory:
            self.shared.append(value)
            return len(self.shared) - 1
        if kind is not Chunks and len(value) <= MAX_INLINE_BYTES:
            return None
        pieces: Iterable[Body] = value.chunks() if kind is Chunks else (value,)
        start = self.used
        if start + len(value) > self._capacity:
            whole = SharedMemory()
            for piece in pieces:
                whole.append(piece)
            return self.persistent_id(whole), None
        if self.out_arena is None:
            self.arena = SharedMemory.of_length(MAX_COPIED_BYTES)
            self.out_arena = self.arena.mapped()
        for piece in pieces:
            stop = self.used + len(piece)
            self.out_arena[self.used : stop] = piece
            self.used = stop
        return start, self.used


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, shared: list[SharedMemory], in_arena: mmap | None) -> None:
        super().__init__(file)
        self._shared = shared
        self._in_arena = in_arena

    def persistent_load(self, name: Any) -> Any:
        if isinstance(name, int):
            return self._shared[name]
        start, stop = name
        if stop is None:
            return self._shared[start].to_bytes()
        assert self._in_arena is not None
        with memoryview(self._in_arena) as view:
            return bytearray(view[start:stop])  # writable, so arrays in it can be aligned
