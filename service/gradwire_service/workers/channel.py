"""Messages between the service and a process that computes, and what is too large for one.

A message is pickled; both ends are this service's own. Of what is shared memory only the descriptor
is sent along.
"""

from __future__ import annotations

import array
import os
import pickle
import select
import socket
import struct
import sys
from collections import deque
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from gradwire_service.wire.shared import LARGE_BYTES, Shared

_HEAD = struct.Struct("<IB")
_MOST_SHARED = 4
_READ_BYTES = 1 << 17


class Closed(Exception):
    """The other end is there no longer."""


class Channel:
    """One end of a socket that messages go through in both directions."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received = bytearray()
        self._descriptors = deque[int]()

    def fileno(self) -> int:
        """What an event loop watches."""
        return self._connection.fileno()

    def send(self, message: Any) -> None:
        """Raises: ``Closed``."""
        written = BytesIO()
        pickler = _Pickler(written)
        pickler.dump(message)
        payload, shared = written.getbuffer(), pickler.shared
        if len(payload) > LARGE_BYTES:
            rest = Shared()
            rest.append(payload)
            payload, shared = memoryview(b""), [*shared, rest]
        head = _HEAD.pack(len(payload), len(shared))
        descriptors = [one.descriptor for one in shared]
        lengths = b"".join(len(one).to_bytes(8, "little") for one in shared)
        whole = b"".join((head, lengths, payload))
        try:
            sent = socket.send_fds(self._connection, [whole], descriptors) if descriptors else 0
            self._connection.sendall(whole[sent:])
        except OSError as error:
            raise Closed from error

    def receive(self) -> Any:
        """The next message; waits for it.

        Raises: ``Closed``.
        """
        while True:
            for message in self._messages():
                return message
            self._read()

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long."""
        return not self._received and not select.select([self], [], [], seconds)[0]

    def arrived(self) -> Iterator[Any]:
        """The messages that are there, once the socket may be read.

        Raises: ``Closed``.
        """
        self._read()
        yield from self._messages()

    def close(self) -> None:
        """Close this end."""
        self._connection.close()
        while self._descriptors:
            os.close(self._descriptors.popleft())

    def _read(self) -> None:
        try:
            read, descriptors, _, _ = socket.recv_fds(self._connection, _READ_BYTES, _MOST_SHARED)
        except OSError as error:
            raise Closed from error
        self._descriptors += descriptors
        if not read:
            raise Closed
        self._received += read

    def _messages(self) -> Iterator[Any]:
        """Those that are there as a whole."""
        received = self._received
        while len(received) >= _HEAD.size:
            length, count = _HEAD.unpack_from(received)
            start = _HEAD.size + 8 * count
            if len(received) < start + length:
                return
            lengths = array.array("Q", bytes(received[_HEAD.size : start]))
            if sys.byteorder == "big":
                lengths.byteswap()
            shared = [Shared(self._descriptors.popleft(), size) for size in lengths]
            payload: Any = (
                bytes(received[start : start + length]) if length else shared.pop().whole()
            )
            del received[: start + length]
            yield _Unpickler(BytesIO(payload), shared).load()


class _Pickler(pickle.Pickler):
    """Leaves out what is shared, and says which it is of all that are."""

    def __init__(self, file: BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.shared: list[Shared] = []

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not Shared:
            return None
        self.shared.append(value)
        return len(self.shared) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, shared: list[Shared]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: int) -> Shared:
        return self._shared[number]
