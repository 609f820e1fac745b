"""Connections on which the head of a response goes out with the first piece of its body.

ASGI gives a server the head before there is a body, and uvicorn writes it at once: two system
calls for a small response, and for its client often two awakenings.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gradwire_service.wire.body import Body

_CONTINUE = b"HTTP/1.1 100"
#: Smaller pieces are copied behind their head, which takes less than to write two.
_LARGE_BYTES = 1 << 14


class JoiningTransport:
    """A transport that holds a head back until something follows it, or the response ends."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head: Body | None = None
        self._begun = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, piece: Body) -> None:
        """Write the next piece of a response; the first is its head."""
        if self._head is not None:
            head, self._head = self._head, None
            if len(piece) < _LARGE_BYTES:
                self._transport.write(b"".join((head, piece)))
            else:
                self._transport.writelines((head, piece))
        elif self._begun or piece[: len(_CONTINUE)] == _CONTINUE:
            self._transport.write(piece)
        else:
            self._head = piece
            self._begun = True

    def end(self) -> None:
        """End a response, also one of a head alone; what is written next is a head again."""
        if self._head is not None:
            self._transport.write(self._head)
            self._head = None
        self._begun = False

    def close(self) -> None:
        """Close the connection when all is written."""
        self.end()
        self._transport.close()


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, but for what it writes to."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin; all that is written goes through a ``JoiningTransport``."""
        super().connection_made(JoiningTransport(transport))  # type: ignore[arg-type]

    def on_response_complete(self) -> None:
        """Go on to the next request when the response to this one is out."""
        self.transport.end()  # type: ignore[attr-defined]
        super().on_response_complete()
