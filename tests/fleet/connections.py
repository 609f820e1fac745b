"""Connections on which any bytes can be sent, and the responses on them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_READ_BYTES = 1 << 18
#: The number of bytes kept from the beginning of a response, and from its end.
_KEPT_BYTES = 1 << 20
_END_BYTES = 1 << 12


@dataclass
class Answer:
    """The response on a connection: its length, its beginning and its end."""

    received: bytearray = field(default_factory=bytearray)
    end: bytes = b""
    length: int = 0
    #: The time from the first byte sent to the last received, or until the end of waiting.
    seconds: float = 0.0

    def take(self, piece: bytes) -> None:
        """Add received bytes."""
        self.length += len(piece)
        self.received += piece[: max(_KEPT_BYTES - len(self.received), 0)]
        self.end = (self.end + piece[-_END_BYTES:])[-_END_BYTES:]

    @property
    def number(self) -> int:
        """The number of responses."""
        return self.received.count(b"HTTP/1.1 ")

    @property
    def status(self) -> int:
        """The status of the first response; 0 if there is none."""
        return int(self.received.split(b" ", 2)[1]) if self.received else 0

    @property
    def headers(self) -> dict[str, str]:
        head = self.received.partition(b"\r\n\r\n")[0].decode("latin-1")
        return dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:])

    @property
    def body_bytes(self) -> int:
        """The length of the body."""
        return self.length - len(self.received.partition(b"\r\n\r\n")[0]) - 4

    @property
    def document(self) -> Any:
        return json.loads(self.received.partition(b"\r\n\r\n")[2])

    def member(self, name: str) -> str:
        """The string with this name near the beginning or end of the body, or ``"none"``."""
        found = re.search(rb'"%s": ?"([^"]*)"' % name.encode(), self.received + self.end)
        return found[1].decode() if found else "none"


async def answer(
    port: int, sent: bytes | Iterable[bytes], pause: float = 0.0, patience: float | None = None
) -> Answer:
    """Send pieces with pauses between them, and read until the other side closes.

    Sending stops when the other side stops reading; ``patience`` may limit the total time.
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
        if not found.length:  # the event loop's clock is coarse: 0.0 may be a valid time
            found.seconds = clock() - began
    finally:
        sending.cancel()
        writer.transport.abort()
    return found
