"""Connections on which any bytes are sent, and what comes back on them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_READ_BYTES = 1 << 18
#: As much of an answer is kept: of its beginning, and of its end.
_KEPT_BYTES = 1 << 20
_END_BYTES = 1 << 12


@dataclass
class Answer:
    """What came back on a connection: how much, its beginning and its end."""

    received: bytearray = field(default_factory=bytearray)
    end: bytes = b""
    length: int = 0
    #: How long it took from the first byte sent to the last received, or until none was to come.
    seconds: float = 0.0

    def take(self, piece: bytes) -> None:
        """Have more of it."""
        self.length += len(piece)
        self.received += piece[: max(_KEPT_BYTES - len(self.received), 0)]
        self.end = (self.end + piece[-_END_BYTES:])[-_END_BYTES:]

    @property
    def number(self) -> int:
        """How many responses it is."""
        return self.received.count(b"HTTP/1.1 ")

    @property
    def status(self) -> int:
        """That of the first response; 0 of none."""
        return int(self.received.split(b" ", 2)[1]) if self.received else 0

    @property
    def headers(self) -> dict[str, str]:
        head = self.received.partition(b"\r\n\r\n")[0].decode("latin-1")
        return dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])

    @property
    def body_bytes(self) -> int:
        """How long it is behind its head."""
        return self.length - len(self.received.partition(b"\r\n\r\n")[0]) - 4

    @property
    def document(self) -> Any:
        return json.loads(self.received.partition(b"\r\n\r\n")[2])

    def member(self, name: str) -> str:
        """A text of this name near the beginning of the body or near its end; else none."""
        found = re.search(rb'"%s": ?"([^"]*)"' % name.encode(), self.received + self.end)
        return found[1].decode() if found else "none"


async def answer(
    port: int, sent: bytes | Iterable[bytes], pause: float = 0.0, patience: float = 10.0
) -> Answer:
    """Send, piece by piece with pauses between, and read until the other side closes.

    Pieces that nobody takes any more are kept; ``patience`` is how long is waited in all.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4 * _READ_BYTES)
    clock = asyncio.get_running_loop().time

    async def send() -> None:
        with suppress(ConnectionError):
            for piece in [sent] if isinstance(sent, bytes) else sent:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)

    found = Answer()
    began = clock()
    sending = asyncio.create_task(send())
    try:
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(patience):
                while piece := await reader.read(_READ_BYTES):
                    found.take(piece)
                    found.seconds = clock() - began
        if not found.length:  # the clock of a loop is coarse: 0.0 may be a time
            found.seconds = clock() - began
    finally:
        sending.cancel()
        writer.transport.abort()
    return found
